"""The doctor tests each feature: it reports working features, and finds removed ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.commands import doctor
from fitgym.commands.doctor import Finding, as_json, as_text, examine
from fitgym.errors import ExecutionError
from fitgym.execution.executor import Executor
from fitgym.sandbox import layers
from fitgym.sandbox.layers import LAYERS, tried
from fitgym.sandbox.sandbox import Guard

FINDINGS = [
    Finding("versions", "fitgym", "ok", "0.1"),
    Finding("safety", "Landlock", "weak", "absent", "get a kernel"),
    Finding("safety", "audit hook", "ok", "works"),
]
BROKEN = Finding("self-test", "a small suite", "broken", "nothing came out")


@pytest.fixture(scope="module")
def findings() -> list[Finding]:
    return examine()


def test_this_machine_is_healthy(findings: list[Finding]) -> None:
    assert [finding for finding in findings if finding.state == "broken"] == []
    assert list(dict.fromkeys(finding.topic for finding in findings)) == [
        "versions",
        "probes",
        "safety",
        "sandbox",
        "worker",
        "self-test",
    ]


def test_every_layer_is_looked_at(findings: list[Finding]) -> None:
    assert [finding.name for finding in findings if finding.topic == "safety"] == list(LAYERS)


@pytest.mark.parametrize(
    ("printed", "states", "words"),
    [
        ('{"level": 3, "escapes": []}', ["ok", "ok"], "3 of 3"),
        ('{"level": 2, "escapes": ["change times of a file"]}', ["weak", "weak"], "can change times of a file"),
        ('{"level": 1, "escapes": []}', ["weak", "ok"], "1 of 3"),
        ("", ["weak"], "cannot be tried"),
        ('{"level": 7, "escapes": []}', ["weak"], "cannot be tried"),
    ],
)
def test_the_level_of_the_sandbox_is_told_and_what_gets_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, printed: str, states: list[str], words: str
) -> None:
    monkeypatch.setattr(doctor, "_tried", lambda module, folder: json.loads(printed))
    found = doctor._escapes(tmp_path)
    assert [finding.state for finding in found] == states
    assert words in " ".join(finding.value for finding in found)
    assert all(bool(finding.advice) == (finding.state != "ok") for finding in found)


def test_whoever_is_not_well_is_told_what_to_do(findings: list[Finding]) -> None:
    assert all(bool(finding.advice) == (finding.state != "ok") for finding in findings)
    assert set(doctor.ADVICE) | set(doctor.NEEDED) == set(LAYERS)


def test_it_is_one_screen_with_the_advice_at_the_end() -> None:
    assert as_text(FINDINGS).splitlines() == [
        "versions   ok      fitgym: 0.1",
        "safety     weak    Landlock: absent",
        "           ok      audit hook: works",
        "",
        "Landlock: get a kernel",
        "",
        "fitgym works here",
    ]
    assert as_text([*FINDINGS, BROKEN]).splitlines()[-1] == "fitgym does not work here"


def test_machines_get_the_same() -> None:
    report = json.loads(as_json([*FINDINGS, BROKEN]))
    assert report["ok"] is False and json.loads(as_json(FINDINGS))["ok"] is True
    assert report["findings"][1] == {
        "topic": "safety",
        "name": "Landlock",
        "state": "weak",
        "value": "absent",
        "advice": "get a kernel",
    }


@pytest.mark.parametrize(("finding", "code"), [(FINDINGS[1], 0), (BROKEN, 1)], ids=["weak", "broken"])
def test_the_exit_code_says_whether_something_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], finding: Finding, code: int
) -> None:
    from fitgym.cli import main

    monkeypatch.setattr(doctor, "examine", lambda: [finding])
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--json"])
    assert ended.value.code == code
    assert json.loads(capsys.readouterr().out)["ok"] is (code == 0)


def test_a_package_that_is_missing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name in ("rapidfuzz", "ray", "scipy", "pandas"):
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(metadata, "version", version)
    found = {finding.name: finding for finding in doctor._versions()}
    assert (found["rapidfuzz"].state, found["rapidfuzz"].advice) == ("broken", "pip install rapidfuzz")
    missed = {name: finding.value.partition(" (")[0] for name, finding in found.items() if name.startswith("extra ")}
    assert missed == {"extra ray": "not installed: ray", "extra study": "not installed: scipy, pandas"}


def test_every_extra_that_a_user_installs_is_looked_for() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    for extra, names in doctor.EXTRAS.items():
        asked = " ".join(project["optional-dependencies"][extra])
        assert [name for name in names if name not in asked and name not in ("torch", "matplotlib")] == []


def test_addresses_that_differ_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "same_layout", nullcontext)
    finding = doctor._addresses()
    assert (finding.state, "personality(2)" in finding.advice) == ("weak", True)


@pytest.mark.parametrize(("wanted", "state"), [("python", "weak"), ("fortran", "broken")])
def test_probes_that_were_asked_for_are_named(monkeypatch: pytest.MonkeyPatch, wanted: str, state: str) -> None:
    monkeypatch.setenv("FITGYM_SITES", wanted)
    finding = doctor._probes()
    assert (finding.state, "FITGYM_SITES" in finding.value) == (state, True)


def test_a_worker_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def dead(self: Executor) -> None:
        raise ExecutionError("it does not start")

    monkeypatch.setattr(Executor, "subject", property(dead))
    (finding,) = doctor._run(tmp_path)
    assert (finding.topic, finding.state, finding.value) == ("worker", "broken", "it does not start")


@nightly
def test_a_decision_within_a_statement_is_no_branch_of_the_suite(tmp_path: Path) -> None:
    subject = tmp_path / "grades.py"
    subject.write_text("def f(x: int) -> bool:\n    return bool(x) if x * x != 2 else False\n")
    finding = doctor._self_test(subject, tmp_path / "suite")
    assert (finding.state, "branches stay uncovered" in finding.value) == ("ok", False)  # no statement decides there


def test_a_suite_that_covers_too_little_is_told(tmp_path: Path) -> None:
    subject = tmp_path / "grades.py"
    subject.write_text("def f(x: int) -> int:\n    if x * x == 2:\n        return 1\n    return 2\n")
    finding = doctor._self_test(subject, tmp_path / "other")
    assert (finding.state, "branches stay uncovered" in finding.value) == ("broken", True)


def test_layers_are_tried_in_a_process_of_their_own(tmp_path: Path) -> None:
    def leaves(folder: str) -> str:
        os._exit(3)

    def raises(folder: str) -> str:
        raise OSError("not here")

    before = os.getcwd()
    assert tried(lambda folder: os.chdir(folder) or "", str(tmp_path)) == ""
    assert tried(leaves, str(tmp_path)) == "the process that tried it ended with status 3"
    assert tried(raises, str(tmp_path)) == "OSError: not here"
    assert os.getcwd() == before


def nothing(*_: object, **__: object) -> None:
    """Stands in for what sets up a layer."""


@pytest.mark.parametrize(
    ("name", "removed"),
    [
        ("limit on memory", "restrict"),
        ("limit on files", "restrict"),
        ("Landlock", "confine"),
        ("signals stay inside", "isolate_signals"),
        ("orphans are found", "adopt_orphans"),
    ],
)
def test_a_layer_that_was_taken_away_is_missed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, removed: str
) -> None:
    monkeypatch.setattr(layers, removed, nothing)
    assert tried(LAYERS[name], str(tmp_path)) != ""


def test_an_audit_hook_that_was_taken_away_is_missed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Guard, "install", nothing)
    assert tried(LAYERS["audit hook"], str(tmp_path)) == "the audit hook refuses nothing"


def test_the_command_works_from_anywhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fitgym.sandbox.layers", str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert list(json.loads(done.stdout)) == list(LAYERS)
