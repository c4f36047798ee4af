"""Stand-ins for the module `cython` where it is not installed: types and decorators that do nothing."""

from __future__ import annotations

import math
from typing import Any

compiled = False


class _Type:
    """Placeholder for any C type; a call returns the value unchanged."""

    def __getitem__(self, item: Any) -> _Type:
        return self

    def __call__(self, value: Any) -> Any:
        return value


class _Nothing:
    """`with nogil:` and `@nogil`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, function: Any) -> Any:
        return function


def _same(function: Any) -> Any:
    return function


def _option(*_: Any, **__: Any) -> Any:
    return _same


def typedef(kind: Any) -> Any:
    """Stand for cython.typedef."""
    return kind


def declare(kind: Any = None, value: Any = None, **_: Any) -> Any:
    """Stand for cython.declare: the initial value of a global."""
    return value


def cast(kind: Any, value: Any) -> Any:
    """Stand for cython.cast; whole numbers are rounded down, as where the kernels use it."""
    return math.floor(value) if kind is Py_ssize_t else value


cfunc = ccall = inline = _same
exceptval = overflowcheck = _option
nogil = _Nothing()
bint, const, double, void = _Type(), _Type(), _Type(), _Type()
schar, uchar, uint, longlong, ulonglong, Py_ssize_t = _Type(), _Type(), _Type(), _Type(), _Type(), _Type()
short = _Type()
globals()["int"] = _Type()
