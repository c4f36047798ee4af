"""Working memory of kernels, and the wrapper that calls them where they are not compiled.

Arrays reach compiled kernels as typed memory views. Uncompiled they are Python memory views, which return Python
numbers: integers cannot overflow and bytes do not wrap around, as in the compiled code.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np


def empty(shape: int | tuple[int, ...], kind: str) -> memoryview:
    """Return an array without values, as a memory view."""
    return memoryview(np.empty(shape, kind))


def zeros(shape: int | tuple[int, ...], kind: str) -> memoryview:
    """Return an array of zeros, as a memory view."""
    return memoryview(np.zeros(shape, kind))


def full(shape: int | tuple[int, ...], value: float, kind: str) -> memoryview:
    """Return an array of one value, as a memory view."""
    return memoryview(np.full(shape, value, kind))


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that the package calls: the compiled one, or the plain one with memory views for arrays."""
    if not isinstance(function, types.FunctionType):
        return function
    _say_slow()

    @functools.wraps(function)
    def plainly(*args: Any) -> Any:
        return function(*map(_viewed, args))

    return plainly


def _viewed(argument: Any) -> Any:
    """Return arrays, also those in tuples, as memory views."""
    if isinstance(argument, tuple):
        return tuple(map(_viewed, argument))
    return memoryview(argument) if isinstance(argument, np.ndarray) else argument


@functools.cache
def _say_slow() -> None:
    if os.environ.get("NLGAUGE_KERNELS") != "plain":
        print(
            "nlgauge: the kernels are not compiled: the results are the same and take tens to hundreds of times as "
            "long; nlgauge list environment says how to compile them.",
            file=sys.stderr,
        )


def two_ways(*shape: int) -> tuple[memoryview, memoryview]:
    """Return an array of floats, viewed as bits and as floats."""
    bits = np.empty(shape, np.uint64)
    return memoryview(bits), memoryview(bits.view(np.float64))


def array(room: Any) -> Any:
    """Return a memory view (compiled or of Python) as a NumPy array; 64-bit integers become NumPy's own int64."""
    found = np.asarray(room)
    return found.view(np.int64) if found.dtype.char == "q" else found
