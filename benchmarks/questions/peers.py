"""Other tools, each in its own virtual environment, so that packages of different tools do not mix."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Container
from pathlib import Path

__all__ = ["install_peers", "install_subjects", "versions"]

HERE = Path(__file__).resolve().parent.parent


def install_subjects(folder: Path) -> None:
    """Install the pinned subjects to a folder, unless they are there."""
    pins = HERE / "requirements_speed.txt"
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text("utf-8") == pins.read_text("utf-8"):
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
    subprocess.run([*command, "-r", str(pins)], check=True)
    stamp.write_text(pins.read_text("utf-8"), "utf-8")


def pinned() -> dict[str, str]:
    """Return the requirements of the peers for pip, by name."""
    lines = (HERE / "requirements_peers.txt").read_text("utf-8").splitlines()
    requirements = [line for line in lines if line and not line.startswith("#")]
    return {requirement.partition("==")[0]: requirement for requirement in requirements}


def install_peers(folder: Path, only: Container[str] | None = None) -> tuple[dict[str, str], dict[str, str]]:
    """Install every peer that can be installed.

    Args:
        folder: for their virtual environments.
        only: the names of the requested peers, None for all.

    Returns:
        The Python of each installed peer, and the reason for each missing one.
    """
    present, absent = {}, {}
    for name, requirement in pinned().items():
        if only is not None and name not in only:
            continue
        home = folder / name
        python = home / "bin" / "python"
        stamp = home / ".installed"
        if not (stamp.exists() and stamp.read_text("utf-8") == requirement):
            try:
                for command in (
                    [sys.executable, "-m", "venv", "--clear", str(home)],
                    [str(python), "-m", "pip", "install", "--quiet", requirement],
                ):
                    subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
            except subprocess.CalledProcessError as failed:
                lines = [line for line in failed.stderr.splitlines() if line.startswith("ERROR")] or [str(failed)]
                absent[name] = f"{requirement} cannot be installed: {lines[-1].removeprefix('ERROR: ')}"
                continue
            except (OSError, subprocess.TimeoutExpired) as failed:
                absent[name] = f"{requirement} cannot be installed: {failed}"
                continue
            stamp.write_text(requirement, "utf-8")
        present[name] = str(python)
    return present, absent


def versions(python: str) -> list[str]:
    """Return all packages installed beside a Python, as pip lists them."""
    command = [python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()
