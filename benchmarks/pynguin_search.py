"""Counts the executed test cases of a Pynguin search and their processor time.

    PYNGUIN_DANGER_AWARE=1 python benchmarks/pynguin_search.py MODULE FOLDER ALGORITHM SECONDS SEED PROGRESS

Only the search counts, not start-up, analysis of the module or assertions, which are off. After each execution the
count and the time are written to the file PROGRESS. So a search that hangs and has to be killed leaves its results so
far. Pynguin runs test cases in threads of its own process, and C code that does not return stops it forever.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pynguin.configuration as config
from pynguin import generator
from pynguin.testcase.execution import TestCaseExecutor

FORM = struct.Struct("qdq")
"""Executions, processor seconds since the search began, and whether it ended by itself."""


def main() -> int:
    """Run one search."""
    module, folder, algorithm, seconds, seed, progress = sys.argv[1:]
    output = tempfile.mkdtemp()
    logging.disable(logging.CRITICAL)
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    settings = config.Configuration(
        project_path=folder,
        module_name=module,
        test_case_output=config.TestCaseOutputConfiguration(
            output_path=output, assertion_generation=config.AssertionGenerator.NONE
        ),
        algorithm=config.Algorithm[algorithm],
        statistics_output=config.StatisticsOutputConfiguration(
            report_dir=output, statistics_backend=config.StatisticsBackend.NONE
        ),
        stopping=config.StoppingConfiguration(maximum_search_time=int(seconds)),
        seeding=config.SeedingConfiguration(seed=int(seed)),
    )
    generator.set_configuration(settings)
    generator._verify_config()
    prepared = generator._setup_and_check()
    if prepared is None:
        sys.stderr.write(f"Pynguin cannot set up {module}\n")
        return 1
    executor, cluster, constants = prepared
    algorithm_ = generator._instantiate_test_generation_strategy(executor, cluster, constants)
    with open(progress, "r+b") as file:
        cells = mmap.mmap(file.fileno(), FORM.size)
    executions = 0
    execute = TestCaseExecutor.execute

    def counted(self: Any, test_case: Any) -> Any:
        nonlocal executions
        try:
            return execute(self, test_case)
        finally:
            executions += 1
            FORM.pack_into(cells, 0, executions, time.process_time() - started, 0)

    TestCaseExecutor.execute = counted
    started = time.process_time()
    with contextlib.suppress(KeyboardInterrupt):
        algorithm_.generate_tests()
    FORM.pack_into(cells, 0, executions, time.process_time() - started, 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
