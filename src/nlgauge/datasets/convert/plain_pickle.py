"""Pickles of the origins, read as data: plain values and NumPy's numbers are built here, and nothing is called.

The standard library's unpickler runs what a file names. Here the opcodes are only listed (`pickletools`), and the few
that plain values need are carried out; a file that needs any other is refused.
"""

from __future__ import annotations

import pickletools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from nlgauge.errors import DataError

MARK = object()  # on the stack: here a list, a tuple or a dictionary begins
KIND = re.compile(
    r"[biufcSU?]\d{0,4}|O8?"
)  # of an array: numbers, texts, and objects that are in the pickle themselves
CORES = ("numpy.core.multiarray", "numpy._core.multiarray")
EMPTY = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple, "EMPTY_SET": set}
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES",
    "BINBYTES8", "BYTEARRAY8",
}  # fmt: skip


def _kind(code: str, *_: Any) -> np.dtype[Any]:
    if not isinstance(code, str) or not KIND.fullmatch(code):
        raise DataError(
            f"the pickle has an array of {str(code)[:40]!r}: only numbers, texts and plain values are read."
        )
    return np.dtype(code)


def _scalar(kind: np.dtype[Any], raw: bytes) -> Any:
    return np.frombuffer(raw, kind)[0]


def _encoded(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise DataError(f"the pickle encodes bytes as {encoding[:40]!r}.")
    return text.encode("latin-1")


def _no_bytes() -> bytes:
    """Return empty bytes, which pickles of Python 2 write as a call."""
    return b""


def _no_array(*_: Any) -> None:
    """Stand in for an array whose content is read later."""


def _class(*_: Any) -> None:
    """Raise an error; the name of NumPy's array class occurs in pickles but is never called."""
    raise DataError("the pickle calls numpy.ndarray.")


# The only names that a pickle may contain, and the function that is called instead.
NAMES: dict[tuple[str, str], Callable[..., Any]] = {
    **{(core, "scalar"): _scalar for core in CORES},
    **{(core, "_reconstruct"): _no_array for core in CORES},
    ("numpy", "dtype"): _kind,
    ("numpy", "ndarray"): _class,
    ("_codecs", "encode"): _encoded,
    ("__builtin__", "bytes"): _no_bytes,
}


def pickled(content: bytes) -> Any:
    """Read a pickle of plain values; nothing that it names is imported or called.

    >>> pickled(b"(dp0\\nS'a'\\np1\\n(lp2\\nF1.5\\naI3\\nas.")
    {'a': [1.5, 3]}
    """
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(content):
            machine.step(opcode.name, argument)
        [value] = machine.stack
        if callable(value) or value is MARK:
            raise ValueError("it ends within a value")
    except (ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        raise DataError(f"this is not a pickle of plain values ({type(error).__name__}: {str(error)[:100]}).") from None
    return value


class _Machine:
    """The stack and the memo of a pickle."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        """Carry out one opcode."""
        if name in CONSTANTS:
            self.stack.append(CONSTANTS[name])
        elif name in EMPTY:
            self.stack.append(EMPTY[name]())
        elif name in VALUES:
            self.stack.append(argument)
        elif name in TUPLES:
            self.stack[-TUPLES[name] :] = [tuple(self.stack[-TUPLES[name] :])]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            self.stack.append(self.memo[int(argument)])
        elif name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self.memo[len(self.memo) if argument is None else int(argument)] = self.stack[-1]
        elif name not in ("PROTO", "FRAME", "STOP"):
            method = getattr(self, f"_{name.lower()}", None)
            if method is None:
                raise DataError(f"the pickle uses {name}: only plain values and numbers are read.")
            method(argument)

    def _since_mark(self) -> list[Any]:
        start = next(k for k in range(len(self.stack) - 1, -1, -1) if self.stack[k] is MARK)
        values = self.stack[start + 1 :]
        del self.stack[start:]
        return values

    def _mark(self, _: Any) -> None:
        self.stack.append(MARK)

    def _pop(self, _: Any) -> None:
        self.stack.pop()

    def _pop_mark(self, _: Any) -> None:
        self._since_mark()

    def _dup(self, _: Any) -> None:
        self.stack.append(self.stack[-1])

    def _list(self, _: Any) -> None:
        self.stack.append(self._since_mark())

    def _tuple(self, _: Any) -> None:
        self.stack.append(tuple(self._since_mark()))

    def _dict(self, _: Any) -> None:
        values = self._since_mark()
        self.stack.append(dict(zip(values[::2], values[1::2], strict=True)))

    def _append(self, _: Any) -> None:
        value = self.stack.pop()
        self.stack[-1].append(value)

    def _appends(self, _: Any) -> None:
        values = self._since_mark()
        self.stack[-1].extend(values)

    def _setitem(self, _: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.stack[-1][key] = value

    def _setitems(self, _: Any) -> None:
        values = self._since_mark()
        self.stack[-1].update(zip(values[::2], values[1::2], strict=True))

    def _additems(self, _: Any) -> None:
        values = self._since_mark()
        self.stack[-1].update(values)

    def _global(self, argument: str) -> None:
        self._name(*argument.split(" ", 1))

    def _stack_global(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self._name(module, name)

    def _name(self, module: str, name: str) -> None:
        if (module, name) not in NAMES:
            raise DataError(f"the pickle names {module}.{name}: only plain values and numbers are read.")
        self.stack.append(NAMES[module, name])

    def _reduce(self, _: Any) -> None:
        arguments, made_by = self.stack.pop(), self.stack.pop()
        if not any(made_by is allowed for allowed in NAMES.values()):
            raise DataError("the pickle calls an object that is not a name: only plain values and numbers are read.")
        # An array is represented by the function itself until its content is read.
        self.stack.append(_Array() if made_by is _no_array else made_by(*arguments))

    def _build(self, _: Any) -> None:
        state, empty = self.stack.pop(), self.stack.pop()
        value: Any
        if isinstance(empty, _Array):
            _, shape, kind, by_columns, content = state
            flat = np.array(content, kind) if kind.hasobject else np.frombuffer(content, kind)
            value = flat.reshape(shape, order="F" if by_columns else "C").copy()
        elif isinstance(empty, np.dtype):
            value = empty if state[1] in "|=" else empty.newbyteorder(state[1])
        else:
            raise DataError("the pickle builds an object: only plain values and numbers are read.")
        self.memo.update({place: value for place, known in self.memo.items() if known is empty})
        self.stack.append(value)


class _Array:
    """An array whose content has not come yet."""
