"""The command line: bad input gives one sentence and exit code 2; an interruption gives the results so far."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.commands.listing import KINDS, explain

PROGRAMS = Path(__file__).parents[1] / "programs"
TRIANGLE = str(PROGRAMS / "triangle.py")


def fitgym(*arguments, cwd, **options):
    command = [sys.executable, "-m", "fitgym", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, **options)


def inside(capsys, *arguments):
    """The command in this process, which costs no start: its exit code, standard output and standard error."""
    from fitgym.cli import main

    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code, *capsys.readouterr()


def write(folder, name, text):
    file = folder / name
    file.write_text(text)
    return file


BAD = {
    "missing module": (["no_such_module_anywhere"], "no_such_module_anywhere"),
    "missing file": (["no/such/file.py"], "no/such/file.py"),
    "missing class": ([TRIANGLE + ":Circle"], "Circle"),
    "syntax error": (["broken.py"], "broken.py"),
    "import error": (["imports.py"], "imports"),
    "import that exits": (["exits.py"], "exits"),
    "nothing to test": (["empty.py"], "empty"),
    "compiled module": (["_json"], "_json"),
    "unknown goal": ([TRIANGLE, "--goal", "coverag"], "did you mean 'coverage'"),
    "unknown agent": ([TRIANGLE, "--agent", "ubc"], "did you mean 'ucb'"),
    "unknown search": ([TRIANGLE, "--search", "wholesuite"], "did you mean 'whole_suite'"),
    "unreadable budget": ([TRIANGLE, "--budget", "5 minutes"], "5 minutes"),
    "unknown option": ([TRIANGLE, "--bugdet", "5g"], "--bugdet"),
    "seed that is no number": ([TRIANGLE, "--seed", "x"], "seed"),
    "negative seed": ([TRIANGLE, "--seed", "-1"], "seed is -1"),
    "no population": ([TRIANGLE, "--population", "0"], "population 0"),
    "option instead of a file": ([TRIANGLE, "--json", "-q"], "--json is followed by '-q'"),
}


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "broken.py", "def f(:\n    pass\n")
    write(tmp_path, "imports.py", "import a_module_that_is_not_there\n\ndef f(): pass\n")
    write(tmp_path, "exits.py", "import sys\nsys.exit(3)\n\ndef f(): pass\n")
    write(tmp_path, "empty.py", "X = 1\n")
    return tmp_path


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_exit_code_2_and_nothing_written(folder, case, monkeypatch, capsys):
    arguments, expected = BAD[case]
    before = sorted(folder.iterdir())
    monkeypatch.chdir(folder)
    code, out, err = inside(capsys, "generate", *arguments)
    assert code == 2, err
    last = err.strip().splitlines()[-1]
    assert last.startswith("fitgym: ")
    assert expected.lower() in last.lower()
    assert out == ""
    assert sorted(folder.iterdir()) == before


def test_an_import_error_shows_the_subjects_own_traceback_only(folder):
    result = fitgym("generate", "imports.py", cwd=folder)
    assert 'imports.py", line 1' in result.stderr
    assert "a_module_that_is_not_there" in result.stderr
    assert "fitgym/" not in result.stderr


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.isdir("/proc/1"), reason="needs a folder nobody can write")
def test_an_output_that_cannot_be_written_is_refused(folder):
    result = fitgym("generate", TRIANGLE, "--output", "/proc/1/suite", "--budget", "2g", cwd=folder)
    assert result.returncode == 2
    assert "/proc/1/suite" in result.stderr


def test_the_summary_goes_to_stdout_and_progress_to_stderr(tmp_path):
    result = fitgym("generate", TRIANGLE, "--goal", "coverage", "--budget", "4g", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "tests" in result.stdout and "branches" in result.stdout
    assert "generation" in result.stderr
    assert (tmp_path / "generated_tests").is_dir()


def test_json_to_stdout_is_for_machines(tmp_path):
    import json

    result = fitgym(
        "generate", TRIANGLE, "--goal", "coverage", "--budget", "2g", "--json", "-", "--quiet", cwd=tmp_path
    )
    assert json.loads(result.stdout)["options"]["goal"] == "coverage"
    assert result.stderr == ""


def test_ctrl_c_writes_what_has_been_found_and_exits_with_130(tmp_path):
    command = [sys.executable, "-m", "fitgym", "generate", TRIANGLE, "--goal", "exceptions", "--budget", "600s"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    assert running.stderr is not None
    line = running.stderr.readline()  # progress: the search is on its way
    assert "search" in line
    time.sleep(1.0)
    os.killpg(running.pid, signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    files = list((tmp_path / "generated_tests").glob("test_*.py"))
    assert len(files) == 1
    assert "def test_" in files[0].read_text()
    assert "Traceback" not in stderr


def test_ctrl_c_while_the_command_is_still_loading_is_quiet(tmp_path):
    write(tmp_path, "cyclopts.py", "raise KeyboardInterrupt\n")
    result = subprocess.run(
        [sys.executable, "-m", "fitgym", "list", "goals"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (result.returncode, result.stderr) == (130, "fitgym: interrupted, nothing was written\n")


def test_ctrl_c_before_there_is_anything_to_finish_is_quiet(tmp_path):
    file = write(tmp_path, "slow.py", "open('started', 'w').close()\nfor n in range(10**12): pass\n\ndef f(): pass\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "fitgym", "generate", str(file)],
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not any("started" in files for _, _, files in os.walk(temporary)):
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert (running.returncode, stderr) == (130, "fitgym: interrupted, nothing was written\n")
    assert not list(temporary.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["slow.py", "temporary"]


def test_a_request_to_end_leaves_no_process_and_no_folder(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "fitgym", "generate", TRIANGLE, "--goal", "exceptions", "--budget", "600s"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stderr is not None
    assert "search" in running.stderr.readline()
    while not any(temporary.glob("*/home")):
        time.sleep(0.05)
    running.terminate()
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in stderr
    assert not list(temporary.iterdir())
    assert not (tmp_path / "generated_tests").exists()


def test_a_suite_without_tests_is_said_to_be_none(tmp_path):
    file = write(tmp_path, "harmless.py", "def same(x: int) -> int:\n    return x\n")
    result = fitgym("generate", file, "--goal", "exceptions", "--budget", "1g", "--quiet", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == (
        "fitgym: nothing was exported: in 1g the search found no test that goal 'exceptions' keeps; "
        "--goal coverage keeps a test for every line and branch reached\n"
    )
    assert not (tmp_path / "generated_tests").exists()


@pytest.mark.parametrize("what", [*KINDS])
def test_list_names_every_extension_with_a_line_about_it(capsys, what):
    code, out, err = inside(capsys, "list", what)
    assert code == 0, err
    rows = out.splitlines()
    assert rows
    assert all(len(row.split(maxsplit=1)) == 2 for row in rows)
    width = len(max((row.split()[0] for row in rows), key=len))
    assert all(row[width : width + 2] == "  " and row[width + 2] != " " for row in rows)  # in columns


def commands() -> list[tuple[str, ...]]:
    """Every command of the command line, those of `study` and `course` included."""
    from fitgym.cli import app
    from fitgym.commands.course import course
    from fitgym.commands.studies import study

    found = [(name,) for name in app if not name.startswith("-")]
    below = [(group.name[0], name) for group in (study, course) for name in group if not name.startswith("-")]
    return sorted(found) + sorted(below)


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_help_text_ends_with_examples_one_to_a_line(command, capsys, monkeypatch):
    from fitgym.cli import main

    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--help"])
    _, _, examples = capsys.readouterr().out.partition("Examples:\n")
    lines = examples.rstrip().splitlines()
    assert lines and any(f"fitgym {' '.join(command)}" in line for line in lines)


def test_the_help_is_as_wide_as_the_screen(tmp_path):
    result = fitgym("generate", "--help", cwd=tmp_path, env={**os.environ, "COLUMNS": "80"})
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to complete in")
def test_the_tab_key_completes_commands_and_what_they_take(tmp_path):
    env = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    result = fitgym("--install-completion", cwd=tmp_path, env=env)
    assert result.returncode == 0, result.stderr
    (script,) = (tmp_path / ".local").rglob("fitgym")

    def completed(*words: str) -> set[str]:
        line = " ".join(words)
        text = (
            f'source "{script}"; COMP_WORDS=({" ".join(word or chr(34) * 2 for word in words)}); '
            f'COMP_CWORD={len(words) - 1}; COMP_LINE="{line}"; COMP_POINT={len(line)}; '
            "$(complete -p fitgym | sed 's/.*-F \\([^ ]*\\).*/\\1/') fitgym; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, env=env)
        return {word.strip() for word in done.stdout.split()}

    assert {"generate", "study", "doctor"} <= completed("fitgym", "")
    assert "--budget" in completed("fitgym", "generate", "--b")
    assert "agents" in completed("fitgym", "list", "ag")


@pytest.mark.parametrize("what", [*KINDS])
def test_list_tells_all_about_every_one(what):
    for name in KINDS[what].lines():
        text = explain(what, name)
        assert name in text.splitlines()[0] and len(text.splitlines()) > 2, name


def test_list_without_more_is_the_way_to_everything(tmp_path):
    result = fitgym("list", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for what, kind in KINDS.items():
        assert f"{what} ({kind.use})" in result.stdout
    assert "dsg_sarsa" in result.stdout and "Toy-v0" in result.stdout and "stdlib-v1" in result.stdout
    assert "fitgym list agents ucb" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("search", "beginning"),
    [
        ("mio", "mio:population=50,random_rate=0.5,"),
        pytest.param("mosa", "mosa:population=50,crossover=0.75,", marks=nightly),
    ],
)
@nightly
def test_list_shows_options_with_their_defaults_as_they_are_typed(tmp_path, capsys, search, beginning):
    _, out, _ = inside(capsys, "list", "search", search)
    assert out.startswith(beginning)
    first = out.splitlines()[0]
    made = fitgym("generate", "colorsys", "--search", first, "--budget", "2g", "--quiet", cwd=tmp_path)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("agents", "ubc"), "no agent named 'ubc'; did you mean 'ucb'?"),
        (("envs", "Toy"), "no environment named 'Toy'; did you mean"),
        (("agnts",), 'Did you mean "agents"?'),
    ],
)
def test_list_says_what_was_probably_meant(capsys, arguments, message):
    code, out, err = inside(capsys, "list", *arguments)
    assert code == 2 and message in err and out == ""


def test_the_package_itself_can_be_run(tmp_path):
    result = subprocess.run([sys.executable, "-m", "fitgym", "--version"], capture_output=True, text=True, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_help_imports_none_of_the_heavy_packages(tmp_path):
    script = (
        "import sys\n"
        "from fitgym.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'gymnasium', 'torch', 'ray', 'pandas') if m in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert result.stdout.splitlines()[-1] == "[]"
    assert "generate" in result.stdout
