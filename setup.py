"""Builds the probes in C where there is a compiler; all else about the package is said in pyproject.toml.

The environment variable FITGYM_SITES has the same values here as when fitgym runs: "c" fails if the probes in C cannot be
built, "python" leaves them out. Without it a failure is a warning, and fitgym uses its probes in Python.
"""

from __future__ import annotations

import os
import sysconfig
import zlib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

FILES = ("fitgym/instrument/_distance.c", "fitgym/instrument/_distance.h", "fitgym/instrument/_sites.c")

WANTED = os.environ.get("FITGYM_SITES", "")
if WANTED not in ("", "c", "python"):
    raise SystemExit(f"FITGYM_SITES is '{WANTED}', expected 'c' or 'python'")

SITES = Extension(
    "fitgym.instrument._sites",
    [name for name in FILES if name.endswith(".c")],
    depends=list(FILES),
    # So that an extension that was built from other sources than those beside it is recognised.
    define_macros=[("SOURCES", f"{zlib.crc32(b''.join(Path(name).read_bytes() for name in FILES))}")],
    # A product and a sum are rounded one after the other, as in Python, on processors too that have both in one step.
    # Debugging symbols would name the folder of the build, so that no two builds were equal.
    extra_compile_args=["-O2", "-g0", "-ffp-contract=off", "-fvisibility=hidden"],
    py_limited_api=True,
    optional=WANTED != "c",
)


def is_built(build: build_ext) -> bool:
    """Whether the command has made an extension."""
    return any(Path(build.get_ext_fullpath(extension.name)).exists() for extension in build.extensions)


class Probes(build_ext):
    """Says what a failure means; setuptools has named the reason in the line before."""

    def run(self) -> None:
        super().run()
        if not is_built(self):
            self.warn(
                "fitgym works without its probes in C, but searches take about twice as long; "
                "install a C compiler (such as gcc) and then fitgym again to get them"
            )


class Wheel(bdist_wheel):
    """One wheel for every Python from 3.11 on; where the probes in C were not built, for every machine as well."""

    def get_tag(self) -> tuple[str, str, str]:
        tag: tuple[str, str, str] = super().get_tag()
        return tag if is_built(self.get_finalized_command("build_ext")) else ("py3", "none", "any")


# The limited API does not exist for interpreters without a global lock.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
if WANTED == "c" and not LIMITED:
    raise SystemExit("FITGYM_SITES is 'c', but the probes in C need a Python with a global lock; expected 'python'")

BUILT = LIMITED and WANTED != "python"

setup(
    ext_modules=[SITES] if BUILT else [],
    cmdclass={"bdist_wheel": Wheel, "build_ext": Probes},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if BUILT else {},
)
