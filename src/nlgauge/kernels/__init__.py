"""The compiled core: loops over arrays. Arrays in, arrays out; independent of metrics and files.

Each file is Python that Cython compiles when the package is built (setup.py). The compiled modules are in the folders
`base` and, for CPUs with AVX2, `avx2`; Python looks there first and then next to this file, so that the same file runs
uncompiled where nothing could be compiled: slowly, with the same results. A compiled kernel releases the GIL and has
its own memory, so several threads can run kernels at once.

NLGAUGE_KERNELS: `plain` runs them uncompiled, `base` without AVX2; a folder is searched first (a build with checks).
"""

from __future__ import annotations

import importlib.machinery
import os
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def _avx2() -> bool:
    from numpy._core._multiarray_umath import __cpu_features__

    return bool(__cpu_features__.get("AVX2"))


def _folders() -> list[Path]:
    asked = os.environ.get("NLGAUGE_KERNELS", "")
    if asked == "plain":
        return []
    if asked not in ("", "base"):
        return [Path(asked)]
    return [HERE / "avx2", HERE / "base"] if not asked and _avx2() else [HERE / "base"]


def found() -> str:
    """Return the folder of the compiled kernels in use, or nothing."""
    for folder in _folders():
        if any((folder / f"panel{suffix}").exists() for suffix in importlib.machinery.EXTENSION_SUFFIXES):
            return str(folder)
    return ""


__path__[:0] = [str(folder) for folder in _folders()]

# glibc gives large arrays fresh pages each time, which costs as much as a short kernel, until one of that size has been
# given back; then it keeps such pages. This block is never written, so it takes no memory.
np.empty(31 << 20, np.uint8)
