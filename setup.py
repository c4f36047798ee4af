"""Compiles the kernels; everything else about the package stands in pyproject.toml.

Without a C compiler the package is built all the same and its kernels run uncompiled.
NLGAUGE_BUILD=checked compiles them with checks of bounds and overflow, NLGAUGE_BUILD=sanitize with those of the compiler
(AddressSanitizer, UBSan); `make test` and `make sanitize` put such builds into folders of their own.
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
PLAIN = {"__init__", "_plain", "_room", "shared"}  # never compiled
# Wide vectors pay where many draws are handled at once.
WIDE = {"finish", "ordered", "panel", "pool", "swap", "system", "weight"}

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
# Nothing here changes a result: sums keep their order, a product is rounded before it is added (fp-contract), on every CPU.
FLAGS = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fno-strict-aliasing"]
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
        compiler_directives={"language_level": 3, "infer_types": True, **(CHECKED if KIND == "checked" else QUICK)},
        quiet=True,
    )
    unix = os.name != "nt"
    flags = ([] if not unix else SANITIZE if KIND == "sanitize" else FLAGS[1:] + ["-O1"] if KIND == "checked" else FLAGS)
    if unix and sys.platform == "linux" and not KIND:
        flags = [*flags, "--param=vect-max-version-for-alias-checks=64"]  # GCC: rows of one block may follow each other
    link = ["-fsanitize=address,undefined"] if KIND == "sanitize" else []
    found = []
    for module in made:
        name, (source,) = module.name.rpartition(".")[2], module.sources
        found.append(_extension("base", name, source, flags, link))
        if name in WIDE and unix and not KIND and platform.machine() in ("x86_64", "AMD64"):
            copy = BUILD / "avx2" / Path(source).name  # objects of two builds must not have one name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists() or copy.stat().st_mtime < Path(source).stat().st_mtime:
                shutil.copy2(source, copy)
            found.append(_extension("avx2", name, str(copy), [*flags, "-mavx2", "-mpopcnt"], link))
    return found


def _extension(folder: str, name: str, source: str, flags: list[str], link: list[str]) -> Extension:
    (KERNELS / folder).mkdir(exist_ok=True)
    return Extension(
        f"nlgauge.kernels.{folder}.{name}",
        [source],
        extra_compile_args=flags,
        extra_link_args=link,
        optional=True,
    )


setup(ext_modules=extensions(), options={"build_ext": {"parallel": os.cpu_count() or 1}})
