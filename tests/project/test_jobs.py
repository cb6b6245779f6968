"""Jobs: every module that was begun gets an answer, even if its process ends at a bad moment."""

from __future__ import annotations

import sys

import pytest

from fitgym.project.jobs import Job, Jobs


def test_a_process_that_ends_while_its_lines_are_read_is_reported_at_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fitgym.project.jobs.COMMAND", [sys.executable, "-c", "import os; os._exit(9)"])
    looks = iter([False, True, True])
    monkeypatch.setattr(Job, "ended", property(lambda job: job._process.wait(timeout=60) == 9 and next(looks)))
    with Jobs(1) as jobs:
        jobs.begin("shop", {})
        assert list(jobs.answers()) == [] and [job.module for job in jobs.busy] == ["shop"]
        assert list(jobs.answers()) == [("shop", {"error": "its process ended with code 9"})]
        assert jobs.busy == [] and jobs.room
