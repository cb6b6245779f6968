"""The seal: refused and allowed operations, and no removal by Python code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import gc, os, pathlib, socket, sys, types
from fitgym.sandbox.seal import seal
folder, outside = sys.argv[1:]
seal(folder)
hook = lambda: next(f for f in gc.get_objects() if isinstance(f, types.FunctionType) and f.__name__ == "refuse")
{action}
print("done")
"""


def said(tmp_path: Path, action: str) -> str:
    """The last line of a process with a seal around `tmp_path/inside`."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "own").write_text("mine")
    (outside / "file").write_text("precious")
    os.utime(outside / "file", (1, 2))
    (outside / "file").chmod(0o640)
    command = [sys.executable, "-c", SCRIPT.format(action=action), str(inside.resolve()), str(outside.resolve())]
    done = subprocess.run(command, cwd=inside, capture_output=True, text=True, timeout=60)
    status = (outside / "file").stat()
    assert (status.st_mode & 0o777, status.st_mtime) == (0o640, 2.0)
    return (done.stdout.strip() or done.stderr.strip()).rpartition("\n")[2]


@pytest.mark.parametrize(
    "action",
    [
        "os.chmod(outside + '/file', 0o600)",
        "os.chmod('../outside/file', 0o600)",
        "os.chmod(os.fsencode(outside + '/file'), 0o600)",
        "os.chmod(pathlib.Path(outside, 'file'), 0o600)",
        "os.chmod('file', 0o600, dir_fd=os.open(outside, os.O_RDONLY))",
        "os.chmod(os.open(outside + '/file', os.O_RDONLY), 0o600)",
        "os.fchmod(os.open(outside + '/file', os.O_RDONLY), 0o600)",
        "os.symlink(outside, 'way'); os.chmod('way/file', 0o600)",
        "os.utime(outside + '/file')",
        "os.utime('file', dir_fd=os.open(outside, os.O_RDONLY))",
        "os.chown(outside + '/file', os.getuid(), os.getgid())",
        "os.setxattr(outside + '/file', 'user.x', b'x')",
        "os.removexattr(outside + '/file', 'user.x')",
        "socket.socket(type=socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_UNIX).connect(outside + '/file')",
        # Ways to take it away
        "hook().__code__ = (lambda *args: None).__code__",
        "hook().__defaults__ = ()",
        "del hook().__defaults__",
        "os.open = os.readlink = None; os.path = None; os.chmod(outside + '/file', 0o600)",
        "import builtins; builtins.type = builtins.len = None; os.chmod(outside + '/file', 0o600)",
        "hook().__globals__.clear(); os.chmod(outside + '/file', 0o600)",
        "hook().__name__ = 'other'; os.chmod(outside + '/file', 0o600)",
        "sys.modules.clear(); os.chmod(outside + '/file', 0o600)",
    ],
)
def test_what_reaches_outside_is_refused(tmp_path: Path, action: str) -> None:
    assert said(tmp_path, action).startswith("PermissionError")


@pytest.mark.parametrize(
    "action",
    [
        "os.chmod('own', 0o600); os.chmod(folder + '/own', 0o600); os.chmod(folder, 0o700)",
        "os.utime('own'); pathlib.Path('own').touch()",
        "file = open('own', 'r+'); os.utime(file.fileno()); os.fchmod(file.fileno(), 0o600)",
        "os.chmod('own', 0o600, dir_fd=os.open(folder, os.O_RDONLY))",
        "import shutil; shutil.copy2('own', 'copy'); shutil.copytree('.', 'tree')",
        "socket.socket(); socket.socketpair()",
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)",
        "socket.socket(fileno=socket.socketpair()[0].detach())",
        "exec('def f(): pass'); f.__code__ = (lambda: 1).__code__; f.__defaults__ = (1,); del f.__defaults__",
    ],
)
def test_what_stays_inside_is_let_through(tmp_path: Path, action: str) -> None:
    assert said(tmp_path, action) == "done"


def test_a_file_that_does_not_exist_is_told_by_the_call_itself(tmp_path: Path) -> None:
    assert said(tmp_path, "os.chmod(outside + '/none', 0o600)").startswith("FileNotFoundError")
