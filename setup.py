"""Builds the probes in C where there is a compiler; all else about the package is said in pyproject.toml."""

from __future__ import annotations

import sysconfig
import zlib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

FILES = ("fitgym/instrument/_distance.c", "fitgym/instrument/_distance.h", "fitgym/instrument/_sites.c")

SITES = Extension(
    "fitgym.instrument._sites",
    [name for name in FILES if name.endswith(".c")],
    depends=list(FILES),
    # So that an extension that was built from other sources than those beside it is recognised.
    define_macros=[("SOURCES", f"{zlib.crc32(b''.join(Path(name).read_bytes() for name in FILES))}")],
    # A product and a sum are rounded one after the other, as in Python, on processors too that have both in one step.
    extra_compile_args=["-O2", "-ffp-contract=off", "-fvisibility=hidden"],
    py_limited_api=True,
    optional=True,
)


class Wheel(bdist_wheel):
    """One wheel for every Python from 3.11 on; where the probes in C were not built, for every machine as well."""

    def get_tag(self) -> tuple[str, str, str]:
        tag: tuple[str, str, str] = super().get_tag()
        build = self.get_finalized_command("build_ext")
        built = any(Path(build.get_ext_fullpath(extension.name)).exists() for extension in build.extensions)
        return tag if built else ("py3", "none", "any")


# The limited API does not exist for interpreters without a global lock.
LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    ext_modules=[SITES] if LIMITED else [],
    cmdclass={"bdist_wheel": Wheel},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {},
)
