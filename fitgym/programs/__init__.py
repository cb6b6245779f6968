"""Generated programs: a number determines a small Python module with known obstacles, which the real engine can test.

from fitgym.programs import HARD, generate
program = generate(1000, HARD)
print(program.source)
"""

from fitgym.programs.knobs import EASY as EASY
from fitgym.programs.knobs import HARD as HARD
from fitgym.programs.knobs import Knobs as Knobs
from fitgym.programs.program import Place as Place
from fitgym.programs.program import Program as Program
from fitgym.programs.program import generate as generate
