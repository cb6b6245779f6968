"""Private folders are removed by their last user, or by the next new folder if that user was killed."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fitgym.sandbox.folder import Folder, sweep, tidy


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def killed(place: Path) -> Path:
    """The folder of a process that was killed; it holds a file."""
    script = "from fitgym.sandbox.folder import Folder; folder = Folder(); print(folder.path, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env=os.environ | {"TMPDIR": str(place)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        process.send_signal(signal.SIGKILL)
    (folder / "left").write_text("behind")
    return folder


def test_nobody_else_can_enter_it_and_it_goes_with_all_that_is_in_it(place: Path) -> None:
    folder = Folder()
    assert os.listdir(place) == [os.path.basename(folder.path)]
    assert stat.S_IMODE(os.stat(folder.path).st_mode) == 0o700
    inner = Path(folder.path, "inner")
    inner.mkdir()
    (inner / "file").write_text("x")
    inner.chmod(0)
    folder.remove()
    folder.remove()
    assert os.listdir(place) == []


def test_what_a_link_in_it_leads_to_is_left_as_it_is(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").write_text("x")
    elsewhere.chmod(0o755)
    folder = Folder()
    Path(folder.path, "link").symlink_to(elsewhere)
    folder.remove()
    assert os.listdir(place) == [] and os.listdir(elsewhere) == ["file"]
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755


def test_tidying_leaves_what_is_kept_and_nothing_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, elsewhere = tmp_path_factory.mktemp("tidied"), tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").write_text("x")
    for name in ("kept", "closed"):
        (folder / name / "inner").mkdir(parents=True)
        (folder / name / "inner" / "file").write_text("x")
    (folder / "closed").chmod(0)
    (folder / "file").write_text("x")
    (folder / "link").symlink_to(elsewhere)
    tidy(str(folder), {"kept"})
    assert os.listdir(folder) == ["kept"] and os.listdir(folder / "kept" / "inner") == ["file"]
    assert os.listdir(elsewhere) == ["file"]


def test_a_folder_that_a_test_case_has_closed_to_itself_goes_too() -> None:
    script = """
    import os, tempfile
    from fitgym.sandbox.folder import tidy
    if os.getuid() == 0:  # who may everything
        os.setuid(65534)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.makedirs(f"{folder}/closed/inner/most")
        for name in ("closed/inner/most", "closed/inner", "closed"):
            os.chmod(f"{folder}/{name}", 0)
        tidy(folder, ())
        assert os.listdir(folder) == [], os.listdir(folder)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_what_a_killed_process_left_goes_when_the_next_one_is_made(place: Path) -> None:
    left = killed(place)
    assert left.exists()
    folder = Folder()
    assert os.listdir(place) == [os.path.basename(folder.path)]
    folder.remove()


def test_a_folder_in_use_stays(place: Path) -> None:
    folder, other = Folder(), Folder()
    sweep()
    assert os.path.isdir(folder.path) and os.path.isdir(other.path)
    folder.forget()
    sweep()
    assert os.listdir(place) == [os.path.basename(other.path)]
    other.remove()


def test_the_last_of_several_users_removes_it(place: Path) -> None:
    folder = Folder()
    Path(folder.path, "file").write_text("x")
    twin, third = copy.deepcopy(folder), Folder(folder.path)
    folder.remove()
    third.remove()
    assert os.listdir(twin.path) == ["file"]
    twin.remove()
    assert os.listdir(place) == []


def test_a_folder_that_is_gone_is_made_again_for_a_copy_that_comes_late(place: Path) -> None:
    folder = Folder()
    sent = pickle.dumps(folder)
    folder.remove()
    with pickle.loads(sent) as path:
        assert path == folder.path and os.listdir(place) == [os.path.basename(path)]
    assert os.listdir(place) == []


def test_a_fork_of_its_user_leaves_it_where_it_is(place: Path) -> None:
    folder = Folder()
    pid = os.fork()
    if pid == 0:
        folder.remove()
        os._exit(0)
    os.waitpid(pid, 0)
    sweep()
    assert os.path.isdir(folder.path)
    folder.remove()
    assert os.listdir(place) == []


def test_it_goes_with_the_object_and_with_the_block() -> None:
    folder = Folder()
    path = folder.path
    del folder
    assert not os.path.exists(path)
    with Folder() as other:
        assert os.path.isdir(other)
    assert not os.path.exists(other)


def test_a_file_in_its_place_is_an_error_and_no_endless_loop(place: Path) -> None:
    (place / "file").write_text("x")
    with pytest.raises(NotADirectoryError):
        Folder(str(place / "file"))


def test_nothing_of_anybody_else_is_touched(place: Path) -> None:
    mine = ["fitgym", "fitgym-private-notes", "fitgym-private-0123456789abcdef0"]
    for name in mine:
        (place / name).mkdir()
    (place / "fitgym-private-0123456789abcdef").write_text("a file")
    (place / "fitgym-private-fedcba9876543210").symlink_to(place / "fitgym")
    before = sorted(os.listdir(place))
    sweep()
    assert sorted(os.listdir(place)) == before


def test_a_folder_in_memory_is_removed_when_there_is_no_room_for_new_ones_any_more(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = place / "memory"
    memory.mkdir()
    left = killed(memory)
    monkeypatch.setattr("fitgym.sandbox.folder._MEMORY", str(memory))
    folder = Folder()
    assert Path(folder.path).parent == place and not left.exists()
    folder.remove()
