"""Compiles the kernels; everything else about the package stands in pyproject.toml.

Without a C compiler the package is built all the same and its kernels run uncompiled.
NLGAUGE_BUILD=checked compiles them with checks of bounds and overflow, NLGAUGE_BUILD=sanitize with those of the
compiler (AddressSanitizer, UBSan); `make test` and `make sanitize` put such builds into folders of their own.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

KIND = os.environ.get("NLGAUGE_BUILD", "")
KERNELS = Path("src/nlgauge/kernels")
BUILD = Path("build") / f"cython{'-' if KIND else ''}{KIND}"
PLAIN = {"__init__", "_plain", "_roles", "_room", "shared"}  # never compiled
BITS = {"ordered", "ties"}  # see floats as their bits
# Wide vectors pay where many draws are handled at once; a count of bits is one instruction there, too.
WIDE = {"ks", "long_sequences", "ordered", "overlaps", "panel", "resample", "resample_data", "sequences", "ter"}

CHECKED = {
    "boundscheck": True,
    "wraparound": False,
    "cdivision": False,
    "overflowcheck": True,
    "initializedcheck": True,
    "nonecheck": True,
}
QUICK = {
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "overflowcheck": False,
    "initializedcheck": False,
}
# Nothing here changes a result: sums keep their order, a product is rounded before it is added (fp-contract), on every
# CPU.
FLAGS = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
SANITIZE = ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def extensions() -> list[Extension]:
    names = sorted(p.stem for p in KERNELS.glob("*.py") if p.stem not in PLAIN)
    utility = "nlgauge.kernels._cyutility"
    made = cythonize(
        [
            *(Extension(f"nlgauge.kernels.{name}", [str(KERNELS / f"{name}.py")]) for name in names),
            Extension(utility, [str(KERNELS / "_cyutility.c")]),
        ],
        build_dir=str(BUILD),
        include_path=["src"],
        shared_utility_qualified_name=utility,
        compiler_directives={
            "language_level": 3,
            "infer_types": True,
            "show_performance_hints": False,
            **(CHECKED if KIND == "checked" else QUICK),
        },
        quiet=True,
    )
    flags, link = options()
    found = []
    for module in made:
        name, (source,) = module.name.rpartition(".")[2], module.sources
        own = [*flags, "-fno-strict-aliasing"] if flags and name in BITS else flags
        found.append(_extension("base", name, source, own, link))
        if name in WIDE and flags and not KIND and platform.machine() in ("x86_64", "AMD64"):
            copy = BUILD / "avx2" / Path(source).name  # objects of two builds must not have one name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists() or copy.stat().st_mtime < Path(source).stat().st_mtime:
                shutil.copy2(source, copy)
            found.append(_extension("avx2", name, str(copy), [*own, "-mavx2", "-mpopcnt"], link))
    return found


def options() -> tuple[list[str], list[str]]:
    """For the compiler and for the linker."""
    if os.name == "nt":
        return [], []
    if KIND == "sanitize":
        return SANITIZE, ["-fsanitize=address,undefined"]
    if KIND == "checked":
        return [*FLAGS, "-O1"], []
    # GCC, not clang: rows of one block may lie behind each other in any order, so there is much to check before a loop.
    return [*FLAGS, *(["--param=vect-max-version-for-alias-checks=64"] if sys.platform == "linux" else [])], []


def _extension(folder: str, name: str, source: str, flags: list[str], link: list[str]) -> Extension:
    (KERNELS / folder).mkdir(exist_ok=True)
    return Extension(
        f"nlgauge.kernels.{folder}.{name}", [source], extra_compile_args=flags, extra_link_args=link, optional=True
    )


def forget_removed() -> None:
    """Files that the source no longer has leave setuptools' copy in build/lib*: else they go into the next wheel."""
    kernels = {"_cyutility", *(path.stem for path in KERNELS.glob("*.py"))}
    for copy in Path("build").glob("lib*/nlgauge/**/*"):
        compiled = copy.suffix in (".so", ".pyd")
        there = copy.name.partition(".")[0] in kernels if compiled else Path("src", *copy.parts[2:]).exists()
        if copy.is_file() and not there:
            copy.unlink()


forget_removed()
setup(ext_modules=extensions(), options={"build_ext": {"parallel": os.cpu_count() or 1}})
