"""The overlay: files that a subject writes beside itself stay private and can be read back."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.execution.executor import Executor
from fitgym.run.generation import generate
from fitgym.sandbox.overlay import NAME
from fitgym.subject.source import locate
from fitgym.suite.runs.rerun import Rerun
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable

PRELUDE = """
import io, json, os, pathlib, shutil, sqlite3, sys, tempfile
from fitgym.sandbox.overlay import Overlay
home, root = sys.argv[1:]
overlay = Overlay(home, (root,))
overlay.install()
os.chdir(root)
here = pathlib.Path(root)
"""


def run(tmp_path: Path, action: str) -> str:
    """What a fresh process prints whose folder `tmp_path/root` has an overlay; the folder must stay as it is."""
    home, root = tmp_path / "home", tmp_path / "root"
    home.mkdir(exist_ok=True)
    (root / "data").mkdir(parents=True, exist_ok=True)
    (root / "old.txt").write_text("old")
    (root / "data" / "one.txt").write_text("1")
    before = _content(root)
    source = PRELUDE + textwrap.dedent(action)
    done = subprocess.run(
        [sys.executable, "-c", source, str(home), str(root)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert _content(root) == before
    return done.stdout.strip()


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


@pytest.mark.parametrize(
    ("action", "printed"),
    [
        ("open('new.txt', 'w').write('x'); print(open('new.txt').read(), os.path.exists('new.txt'))", "x True"),
        ("open('old.txt', 'a').write('er'); print((here / 'old.txt').read_text())", "older"),
        ("print((here / 'old.txt').read_text())", "old"),
        ("(here / 'a' / 'b').mkdir(parents=True); (here / 'a' / 'b' / 'c').touch(); print(os.listdir('a/b'))", "['c']"),
        ("os.makedirs('data', exist_ok=True); print(sorted(os.listdir('data')))", "['one.txt']"),
        ("try: os.mkdir('data')\nexcept FileExistsError: print('exists')", "exists"),
        ("try: open('missing/x', 'w')\nexcept FileNotFoundError: print('missing')", "missing"),
        ("try: open('old.txt', 'x')\nexcept FileExistsError: print('exists')", "exists"),
        ("open('data/two.txt', 'w').close(); print(sorted(p.name for p in (here / 'data').iterdir()))",
         "['one.txt', 'two.txt']"),
        ("open('data/two.txt', 'w').close(); print(sorted(p.name for p in (here / 'data').glob('*.txt')))",
         "['one.txt', 'two.txt']"),
        ("open('t', 'w').write('new'); os.replace('t', 'old.txt'); print(open('old.txt').read())", "new"),
        ("open('t', 'w').close(); os.remove('t'); print(os.path.exists('t'))", "False"),
        ("os.mkdir('d'); shutil.rmtree('d'); print(os.path.exists('d'))", "False"),
        ("print(os.path.exists(tempfile.mkstemp(dir=root)[1]))", "True"),
        ("shutil.copy2('old.txt', 'copy.txt'); print(open('copy.txt').read())", "old"),
        ("db = sqlite3.connect('x.db'); db.execute('create table t (a)'); db.commit(); print(os.path.exists('x.db'))",
         "True"),
        ("descriptor = os.open('z', os.O_WRONLY | os.O_CREAT); os.write(descriptor, b'z'); print(open('z').read())", "z"),
        ("open(b'bytes.txt', 'w').close(); print(b'bytes.txt' in os.listdir(b'.'))", "True"),
        ("import logging; logging.basicConfig(filename='app.log'); logging.error('bad')\n"
         "print(open('app.log').read())", "ERROR:root:bad"),
        ("import shelve\nwith shelve.open('shelf') as shelf: shelf['a'] = 1\n"
         "with shelve.open('shelf') as shelf: print(shelf['a'])", "1"),
    ],
)  # fmt: skip
def test_what_is_written_beside_the_code_is_found_there_and_is_not_there(tmp_path, action, printed):
    assert run(tmp_path, action) == printed


def test_it_tells_what_was_added_and_what_was_changed(tmp_path):
    action = """
    open('new.txt', 'w').close(); (here / 'a' / 'b').mkdir(parents=True); open('a/b/c', 'w').close()
    open('data/two.txt', 'w').close()
    open('old.txt', 'a').write('er')
    open('data/one.txt', 'r+').close()  # copied, but unchanged
    print(overlay.written())
    """
    assert run(tmp_path, action) == "(('a/', 'data/two.txt', 'new.txt'), ('old.txt',))"


def test_it_goes_back_to_what_it_kept(tmp_path):
    action = """
    open('new.txt', 'w').write('x'); os.mkdir('d'); log = open('log', 'a')
    overlay.keep(); before = overlay.look()
    open('new.txt', 'a').write('y'); open('d/more', 'w').close(); log.write('line'); log.flush()
    print(overlay.look() == before)
    overlay.restore()
    print(open('new.txt').read(), os.listdir('d'), open('log').read() == '', overlay.look() == before)
    log.write('again'); log.flush()
    print(open('log').read())
    """
    assert run(tmp_path, action) == "False\nx [] True True\nagain"


def test_after_the_import_new_files_are_made_only_where_some_were_made(tmp_path):
    action = """
    os.mkdir('cache'); overlay.keep()
    print(NAME in overlay.place('cache/x', writing=True), NAME in overlay.place('data/x', writing=True))
    """.replace("NAME", repr(NAME))
    assert run(tmp_path, action) == "True False"


SUBJECT = """
import json, logging, sqlite3
from pathlib import Path

HERE = Path(__file__).parent
(HERE / "var").mkdir(exist_ok=True)
CONFIG = HERE / "config.json"
config = json.loads(CONFIG.read_text())
config["runs"] += 1
CONFIG.write_text(json.dumps(config))
log = logging.getLogger("store")
log.addHandler(logging.FileHandler(HERE / "var" / "store.log"))
db = sqlite3.connect(HERE / "store.db")
db.execute("create table t (a)")
db.commit()


def runs(extra: int):
    if extra > 10:
        return config["runs"]
    return extra


def note(text: str):
    path = HERE / "var" / "note.txt"
    known = path.exists()
    path.write_text(text)
    db.execute("insert into t values (1)")
    db.commit()
    return known, db.execute("select count(*) from t").fetchone()[0]
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "code" / "store"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "config.json").write_text('{"runs": 1}')
    (folder / "disk.py").write_text(SUBJECT)
    return folder


def test_test_cases_find_what_the_import_wrote_and_nothing_of_each_other(package):
    before = _content(package)
    with Executor(locate("store.disk", package.parent)) as executor:
        subject = executor.subject
        assert subject.added == ("store/store.db", "store/var/")
        assert subject.changed == ("store/config.json",)
        (note,) = (one for one in subject.operations if one.name == "note")
        table = StatementTable()
        tests = [table.testcase([Statement(note.id, args=(Literal(f"'{text}'"),))]) for text in "abc"]
        seen = executor.observe(tests, table)
    assert [one.failure for one in seen] == ["", "", ""]
    values = {str([(fact.path, str(fact.expression)) for fact in one.observations]) for one in seen}
    assert len(values) == 1 and "False" in values.pop()
    assert _content(package) == before


@pytest.mark.parametrize("format", ["pytest", pytest.param("unittest", marks=nightly)])
def test_an_exported_suite_passes_outside_of_the_sandbox_and_leaves_nothing_behind(package, tmp_path, format):
    before = _content(package)
    report = generate("store.disk", path=str(package.parent), budget="300x", goal="coverage", output=tmp_path / "suite",
                      format=format)  # fmt: skip
    assert report is not None
    (suite,) = (tmp_path / "suite").glob("*.py")
    assert "# Importing `store.disk` makes these files." in suite.read_text()
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(2):
        command = [sys.executable, "-m", format, *(["-q", "-p", "no:cacheprovider"] if format == "pytest" else [])]
        done = subprocess.run([*command, suite.name], cwd=suite.parent, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert _content(package) == before and not (package / "var").exists()
    lint = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", str(suite)], capture_output=True, text=True
    )
    assert lint.returncode == 0, lint.stdout
    again = Rerun(suite.read_text(), locate("store.disk", package.parent)).wait()
    again.close()
    assert again.finished and _content(package) == before


def test_a_module_that_goes_without_the_file_has_its_overlay_too(tmp_path):
    (tmp_path / "quiet.py").write_text(
        "import os\nP = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'c')\n"
        "try:\n    open(P, 'w').close()\n    OK = True\nexcept OSError:\n    OK = False\n"
        "def ok():\n    return OK\n"
    )
    with Executor(locate("quiet", tmp_path)) as executor:
        assert executor.subject.added == ("c",)
    assert not (tmp_path / "c").exists()


def test_a_module_that_writes_elsewhere_is_refused_as_before(tmp_path):
    from fitgym.errors import SubjectError

    (tmp_path / "far.py").write_text("open('/etc/fitgym-test', 'w')\ndef f(x):\n    return x\n")
    with Executor(locate("far", tmp_path)) as executor, pytest.raises(SubjectError, match="PermissionError"):
        _ = executor.subject
