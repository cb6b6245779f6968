"""Campaigns: every run exactly once despite killed processes, and the same numbers on every machine."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nightly import nightly

from benchmarks import campaign_check
from fitgym.errors import InputError
from fitgym.study import campaign
from fitgym.study.cell import place
from fitgym.study.plan import Cell, Plan
from fitgym.study.store import Status, Store

DOCUMENT = {
    "name": "small",
    "trial": "artificial",
    "subjects": ["gradient:2", "plateau:1+infeasible:3"],
    "seeds": 3,
    "budget": "30x",
    "arms": [{"name": "MIO"}, {"name": "Random", "search": "random_search"}],
}


@pytest.fixture
def plan() -> Plan:
    return Plan.of(DOCUMENT)


def results(folder: Path) -> list[Any]:
    """What a study gave, without what is allowed to differ: seconds."""
    return [{**record, "seconds": {}} for record in Store.open(folder).records()]


def test_every_run_has_one_record_with_what_it_depends_on(plan: Plan, tmp_path: Path) -> None:
    assert campaign.run(plan, tmp_path, executor="serial") == Status(12, 0, 0)
    found = results(tmp_path)
    assert [record["id"] for record in found] == [cell.id for cell in plan.cells()]
    first = found[0]
    assert (first["arm"], first["subject"], first["seed"], first["budget"]) == ("MIO", "gradient:2", 0, "30x")
    assert 0.0 <= first["measures"]["area"] <= first["measures"]["covered"] <= 1.0
    assert first["settings"]["search"] == "mio:population=1" and first["fitgym_version"]


def test_a_study_that_is_done_is_not_made_again(plan: Plan, tmp_path: Path) -> None:
    campaign.run(plan, tmp_path, executor="serial")
    watched: list[Any] = []
    assert campaign.run(plan, tmp_path, executor="serial", watch=watched.append) == Status(12, 0, 0)
    assert watched == []


def test_with_nothing_to_do_no_cluster_is_started(plan: Plan, tmp_path: Path) -> None:
    campaign.run(plan, tmp_path, executor="serial")
    assert campaign.run(plan, tmp_path, executor="slurm", address="local") == Status(12, 0, 0)
    assert not (tmp_path / "jobs").exists()


@pytest.mark.parametrize(
    ("executor", "library", "extra"),
    [("slurm", "submitit", "slurm"), ("ray", "ray", "ray"), ("local", "joblib", "study")],
)
def test_a_library_that_is_missing_is_named_with_its_extra(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    for name in [name for name in sys.modules if name.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        InputError, match=rf"executor '{executor}' needs the package {library}: pip install 'fitgym\[{extra}\]"
    ):
        campaign.run(plan, tmp_path, executor=executor, address="local" if executor == "slurm" else "")
    assert not list(tmp_path.glob("records/*"))


def test_the_watcher_sees_every_run_and_what_is_left(plan: Plan, tmp_path: Path) -> None:
    seen: list[campaign.Progress] = []
    campaign.run(plan, tmp_path, executor="serial", watch=seen.append)
    assert [progress.status.open for progress in seen] == list(range(11, -1, -1))
    assert (
        seen[-1].left_s == 0.0 and seen[0].left_s > 0.0 and [progress.made for progress in seen] == list(range(1, 13))
    )


def test_a_run_that_fails_is_a_record_with_its_reason_and_can_be_made_again(tmp_path: Path) -> None:
    empty = tmp_path / "subjects"
    empty.mkdir()
    (empty / "subject_with_nothing.py").write_text("X = 1\n", "utf-8")
    plan = Plan.of(
        {
            **{
                "name": "failing",
                "trial": "episode",
                "subjects": ["subject_with_nothing"],
                "seeds": 1,
                "budget": "30x",
            },
            **{"path": str(empty), "arms": [{"name": "UCB", "population": 4}]},
        }
    )
    assert campaign.run(plan, tmp_path / "out", executor="serial") == Status(0, 1, 0)
    (record,) = results(tmp_path / "out")
    assert "nothing to test" in record["error"] and record["measures"] == {}
    (empty / "subject_with_nothing.py").write_text("def f(x: int) -> int:\n    return 1 // x\n", "utf-8")
    assert campaign.run(plan, tmp_path / "out", executor="serial") == Status(0, 1, 0)
    assert campaign.run(plan, tmp_path / "out", executor="serial", again=True) == Status(1, 0, 0)


def test_a_folder_holds_one_study(plan: Plan, tmp_path: Path) -> None:
    campaign.run(plan, tmp_path, executor="serial")
    with pytest.raises(InputError, match=r"contains another study, 'small', which differs in budget"):
        campaign.run(Plan.of({**DOCUMENT, "budget": "31x"}), tmp_path, executor="serial")
    with pytest.raises(InputError, match="contains no readable study"):
        Store.open(tmp_path / "elsewhere")


def test_two_drivers_do_not_make_the_same_runs(plan: Plan, tmp_path: Path) -> None:
    Store.create(tmp_path, plan)
    with open(tmp_path / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is making the runs"):
            campaign.run(plan, tmp_path, executor="serial")
    assert campaign.run(plan, tmp_path, executor="serial").done == 12


def test_workers_are_counted_from_one(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers is 0"):
        campaign.run(plan, tmp_path, workers=0)


# ---------------------------------------------------------------------------------------------- what the power leaves


@pytest.mark.parametrize("text", ["", "{", "null", '{"error": ', "[]"])
def test_a_record_that_cannot_be_read_is_made_again(plan: Plan, tmp_path: Path, text: str) -> None:
    campaign.run(plan, tmp_path, executor="serial")
    before = results(tmp_path)
    place(tmp_path, plan.cells()[4].id).write_text(text, "utf-8")
    assert campaign.run(plan, tmp_path, executor="serial") == Status(12, 0, 0)
    assert results(tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\x00" + b"\xff" * 4000, None])
def test_the_index_is_made_again_from_the_records(plan: Plan, tmp_path: Path, content: bytes | None) -> None:
    campaign.run(plan, tmp_path, executor="serial")
    index = tmp_path / "index.sqlite"
    index.unlink() if content is None else index.write_bytes(content)
    place(tmp_path, plan.cells()[0].id).unlink()
    assert campaign.run(plan, tmp_path, executor="serial") == Status(12, 0, 0)
    with contextlib.closing(sqlite3.connect(index)) as opened:
        rows = opened.execute("select state, count(*) from cells group by state").fetchall()
    assert rows == [("done", 12)]


def test_a_full_disk_ends_the_campaign_and_loses_nothing(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = os.fsync
    left = 8  # until the disk is full: two for the plan, file and folder, and two for each record

    def full(descriptor: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        campaign.run(plan, tmp_path, executor="serial")
    monkeypatch.undo()
    assert Store.open(tmp_path).status() == Status(3, 0, 9)
    assert not [file for file in tmp_path.rglob(".*") if file.is_file()]  # nothing half-written
    assert campaign.run(plan, tmp_path, executor="serial") == Status(12, 0, 0)


# ------------------------------------------------------------------------------------------------------- executors


@pytest.mark.parametrize(
    ("executor", "address"), [("local", ""), ("slurm", "local"), ("slurm", "debug")], ids=["local", "submitit", "debug"]
)
def test_the_numbers_are_the_same_everywhere(plan: Plan, tmp_path: Path, executor: str, address: str) -> None:
    campaign.run(plan, tmp_path / "serial", executor="serial")
    there = campaign.run(plan, tmp_path / "there", executor=executor, address=address, workers=2)
    assert there == Status(12, 0, 0)
    assert results(tmp_path / "there") == results(tmp_path / "serial")


def test_an_address_of_no_cluster_is_refused(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the address is 'slrum'; expected slurm, slurm:PARTITION, local or debug"):
        campaign.run(plan, tmp_path, executor="slurm", address="slrum")


def test_a_run_that_kills_its_process_costs_itself_only(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(cell: Cell, folder: Path) -> str:  # sent to the workers by value
        import os as system
        import signal as signals

        from fitgym.study.cell import run as real

        if cell.arm == "MIO" and cell.seed == 1 and cell.subject == "gradient:2":
            system.kill(system.getpid(), signals.SIGKILL)
        return real(cell, folder)

    monkeypatch.setattr("fitgym.study.executors.local.run", run)
    assert campaign.run(plan, tmp_path, workers=2) == Status(11, 1, 0)
    (record,) = [record for record in results(tmp_path) if record["error"]]
    assert (record["arm"], record["seed"], record["subject"]) == ("MIO", 1, "gradient:2")
    assert "the process that made the run died, twice" in record["error"]


def test_a_run_that_could_not_be_handed_over_any_more_is_made_all_the_same(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = 0

    class Pool:
        """Makes runs at once, and is broken when it is given the third one."""

        def submit(self, function: Any, *arguments: Any) -> Future[Any]:
            nonlocal submitted
            submitted += 1
            if submitted == 3:
                raise BrokenProcessPool
            future: Future[Any] = Future()
            future.set_result(function(*arguments))
            return future

        def shutdown(self, **_: Any) -> None: ...

    monkeypatch.setattr("fitgym.study.executors.local._pool", lambda workers: Pool())
    assert campaign.run(plan, tmp_path, workers=2) == Status(12, 0, 0)


@nightly
def test_workers_that_are_killed_from_outside_cost_nothing(plan: Plan, tmp_path: Path) -> None:
    plan = Plan.of({**DOCUMENT, "seeds": 30})
    killed = 0

    def kill(progress: campaign.Progress) -> None:
        nonlocal killed
        if progress.made in (10, 40, 70):
            for pid in workers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1

    assert campaign.run(plan, tmp_path, workers=2, watch=kill) == Status(120, 0, 0)
    assert killed >= 3
    campaign.run(plan, tmp_path / "serial", executor="serial")
    assert results(tmp_path) == results(tmp_path / "serial")


def workers() -> list[int]:
    """The worker processes of loky that this process has."""
    found = []
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text("utf-8").split():
        with contextlib.suppress(OSError):
            if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


@nightly
def test_a_driver_that_is_killed_ten_times_makes_every_run_exactly_once(tmp_path: Path) -> None:
    command = campaign_check.study(tmp_path, 400)
    kills = campaign_check.killed(command, tmp_path, 10, 30, np.random.default_rng(0))
    assert kills == 10 and 10 <= len(campaign_check.records(tmp_path)) < 400
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "400 done, 0 failed, 0 open" in done.stdout
    found = [json.loads(file.read_text("utf-8")) for file in campaign_check.records(tmp_path)]
    assert len(found) == 400 and len({(one["arm"], one["seed"]) for one in found}) == 400


def test_a_driver_is_read_while_it_runs(tmp_path: Path) -> None:
    readings = list(campaign_check.watched(campaign_check.study(tmp_path, 40), tmp_path))
    assert len(campaign_check.records(tmp_path)) == 40
    assert [one.made for one in readings] == sorted(one.made for one in readings) and readings[-1].made > 0
    assert all(one.memory > 1e6 for one in readings[1:])  # the first may be from before Python is loaded
    assert max(one.memory for one in readings) > 1e7
    assert readings[-1].cpu_s > readings[0].cpu_s


def test_an_interruption_just_after_runs_were_handed_over_breaks_nothing_in_the_pool(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: list[str] = []
    waited = 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal waited
        waited += 1
        if waited == 3:  # the pool's thread has not been told yet what the step before has handed over
            raise KeyboardInterrupt
        return wait(*arguments, **options)

    monkeypatch.setattr("threading.excepthook", lambda died: broken.append(repr(died.exc_value)))
    monkeypatch.setattr("fitgym.study.executors.local.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        campaign.run(plan, tmp_path, executor="local", workers=2)
    assert not broken


def test_ctrl_c_ends_with_the_command_that_goes_on(tmp_path: Path) -> None:
    text = 'name = "long"\ntrial = "artificial"\nsubjects = ["gradient:9"]\nseeds = 3000\nbudget = "999x"\n[[arms]]\nname = "A"\n'
    file, folder = tmp_path / "long.toml", tmp_path / "out"
    file.write_text(text, "utf-8")
    command = [sys.executable, "-m", "fitgym", "study", "run", str(file), "--folder", str(folder), "--workers", "2"]
    driver = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    deadline = time.monotonic() + 60
    while not any(folder.glob("records/*/*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate(timeout=60)
    assert driver.returncode == 130, said
    assert f"fitgym study resume {folder}" in said and "Traceback" not in said
    assert 0 < Store.open(folder).status().done < 3000
