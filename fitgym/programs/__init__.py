"""Generated programs: a number gives a small Python module with known obstacles, which the real engine can test.

from fitgym.programs import HARD, generate
program = generate(1000, HARD)
print(program.source)
"""

from fitgym.programs.knobs import EASY, HARD, Knobs
from fitgym.programs.program import Place, Program, generate

__all__ = ["EASY", "HARD", "Knobs", "Place", "Program", "generate"]
