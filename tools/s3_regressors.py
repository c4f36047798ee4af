"""The published regressors of S3 (pickled scikit-learn models) as a JSON file that nlgauge reads.

    python tools/s3_regressors.py en_pyr.model en_resp.model -o s3.json

Run it on the files of https://github.com/UKPLab/emnlp-ws-2017-s3 (models/en). Nothing is unpickled: the instructions
of a pickle are read one by one (`pickletools`), and where one would call something, what it names and what it would hand
over are written down instead. Arrays are then taken from their bytes, attributes from their tables; a file that names
anything but NumPy and scikit-learn is refused. scikit-learn is not needed, nor the old version of it that the files
were written with.
"""

from __future__ import annotations

import argparse
import json
import pickletools
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FORMAT = "nlgauge-s3-1"
FEATURES = ["JS_eval_1", "JS_eval_2", "ROUGE_1_R", "ROUGE_1_R_WE", "ROUGE_2_R", "ROUGE_2_R_WE"]
PLAIN = ("builtins", "__builtin__", "copyreg", "copy_reg", "_codecs", "collections")
MARK = object()
WHOLE = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class Name(NamedTuple):
    """What a pickle would import."""

    module: str
    name: str


def named(module: str, name: str) -> Name:
    if module not in PLAIN and module.partition(".")[0] not in ("numpy", "sklearn", "scipy"):
        raise ValueError(f"it names {module}.{name}, which is no part of a scikit-learn model")
    return Name(module, name)


class Call:
    """What a pickle would make: something it names, handed `args`; `state` are the attributes it would then set."""

    def __init__(self, what: Any, args: Any) -> None:
        self.what, self.args, self.state = what, args, None
        self.items: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__.get("state")
        state = state[0] if isinstance(state, tuple) and state else state  # and slots, of which there are none
        if isinstance(state, dict) and name in state:
            return plain(state[name])
        raise AttributeError(name)

    @property
    def kind(self) -> str:
        """The class of an object: the one that is named, or that is handed to what makes new objects."""
        named = self.args[0] if isinstance(self.args, tuple) and self.args else None
        makes = isinstance(self.what, Name) and self.what.name in ("_reconstructor", "__newobj__")
        found = named if makes else self.what
        return found.name if isinstance(found, Name) else "object"


def instructions(content: bytes) -> Any:
    """What a pickle describes, as plain values, Names and Calls. Nothing is imported, called or made."""
    stack: list[Any] = []
    memo: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        at = max(i for i, value in enumerate(stack) if value is MARK)
        found = stack[at + 1 :]
        del stack[at:]
        return found

    for code, given, _ in pickletools.genops(content):
        op = code.name
        if op in ("PROTO", "FRAME"):
            continue
        if op == "STOP":
            return stack.pop()
        if op in WHOLE:
            stack.append(WHOLE[op])
        elif op == "MARK":
            stack.append(MARK)
        elif op in ("EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET"):
            stack.append({} if op == "EMPTY_DICT" else [])
        elif op in SHORT_TUPLES:
            n = SHORT_TUPLES[op]
            stack[-n:] = [tuple(stack[-n:])]
        elif op in ("TUPLE", "LIST", "FROZENSET"):
            found = since_mark()
            stack.append(tuple(found) if op == "TUPLE" else found)
        elif op == "DICT":
            found = since_mark()
            stack.append(_table(found))
        elif op in ("APPEND", "APPENDS", "ADDITEMS"):
            more = [stack.pop()] if op == "APPEND" else since_mark()
            (stack[-1].items if isinstance(stack[-1], Call) else stack[-1]).extend(more)
        elif op in ("SETITEM", "SETITEMS"):
            more = stack[-2:] if op == "SETITEM" else since_mark()
            if op == "SETITEM":
                del stack[-2:]
            if isinstance(stack[-1], dict):
                stack[-1].update(_table(more))
        elif op in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[int(given)] = stack[-1]
        elif op == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif op in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[int(given)])
        elif op == "POP":
            stack.pop()
        elif op == "POP_MARK":
            since_mark()
        elif op == "DUP":
            stack.append(stack[-1])
        elif op == "GLOBAL":
            stack.append(named(*given.split(" ", 1)))
        elif op == "STACK_GLOBAL":
            module, name = stack[-2:]
            stack[-2:] = [named(module, name)]
        elif op in ("REDUCE", "NEWOBJ"):
            what, args = stack[-2:]
            stack[-2:] = [Call(what, args)]
        elif op == "NEWOBJ_EX":
            what, args, _ = stack[-3:]
            stack[-3:] = [Call(what, args)]
        elif op == "BUILD":
            state = stack.pop()
            if isinstance(stack[-1], Call):
                stack[-1].state = state
        elif given is not None:  # a number or a text
            stack.append(given)
        else:
            raise ValueError(f"the instruction {op} is not known here")
    raise ValueError("it ends in its middle")


def _table(pairs: list[Any]) -> dict[Any, Any]:
    return {key: value for key, value in zip(pairs[::2], pairs[1::2], strict=True) if isinstance(key, str | int)}


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy from their bytes; other objects stay as they are described."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, tuple) and not isinstance(value, Name):
        return tuple(plain(v) for v in value)
    if not isinstance(value, Call) or not isinstance(value.what, Name):
        return value
    name = value.what.name
    if name == "scalar":
        return np.frombuffer(raw(value.args[1]), kind_of(value.args[0]))[0]
    if name == "_frombuffer":  # protocol 5
        content, kind, shape, order = value.args
        return np.frombuffer(raw(content), kind_of(kind)).reshape(shape, order=order)
    if name == "_reconstruct" and isinstance(value.state, tuple):
        _, shape, kind, columns_first, content = value.state
        if isinstance(content, list):  # of objects: no numbers
            return content
        return np.frombuffer(raw(content), kind_of(kind)).reshape(shape, order="F" if columns_first else "C")
    return value


def kind_of(dtype: Any) -> Any:
    """A number's type: `dtype('f8', …)` with its order of bytes."""
    text = str(dtype.args[0])
    order = dtype.state[1] if isinstance(dtype.state, tuple) else "="
    if text.lstrip("<>=|") not in ("f8", "f4", "i8", "i4", "b1"):
        raise ValueError(f"an array of {text}")
    return np.dtype(text.lstrip("<>=|")).newbyteorder("=" if order == "|" else order)


def raw(content: Any) -> bytes:
    """Bytes, which old protocols write as a text, or as the encoding of one."""
    if isinstance(content, Call):  # _codecs.encode(text, 'latin1'), or bytes()
        content = content.args[0] if content.args else ""
    return content.encode("latin1") if isinstance(content, str) else bytes(content)


def described(model: Any) -> dict[str, Any]:
    """The numbers of a regressor: a support vector regression, a linear one, or either behind a scaler."""
    name = model.kind if isinstance(model, Call) else type(model).__name__
    if hasattr(model, "best_estimator_"):
        return described(model.best_estimator_)
    if name == "Pipeline":
        *before, (_, last) = model.steps
        found = described(last)
        if len(before) > 1:
            raise ValueError(f"{len(before)} steps before the regression")
        return found | (scaled(before[0][1]) if before else {})
    if hasattr(model, "support_vectors_"):
        kernel = model.kernel
        if kernel not in ("linear", "rbf", "poly", "sigmoid"):
            raise ValueError(f"an SVR with the kernel {kernel}")
        gamma = getattr(model, "_gamma", None)
        gamma = model.gamma if gamma is None else gamma
        size = len(model.support_vectors_[0])
        if gamma in ("auto", 0.0):
            gamma = 1 / size
        first = {key: getattr(model, f"_{key}", None) for key in ("dual_coef_", "intercept_")}
        dual, intercept = (getattr(model, k, None) if v is None else v for k, v in first.items())
        return {
            "kind": "svr",
            "kernel": kernel,
            "gamma": float(gamma),
            "coef0": float(model.coef0),
            "degree": int(model.degree),
            "intercept": float(intercept[0]),
            "dual_coef": numbers(dual[0], "dual_coef"),
            "support_vectors": [numbers(row, "support vector", len(FEATURES)) for row in model.support_vectors_],
        }
    if hasattr(model, "coef_"):
        return {
            "kind": "linear",
            "coef": numbers(np.ravel(model.coef_), "coef", len(FEATURES)),
            "intercept": float(np.ravel(model.intercept_)[0]),
        }
    raise ValueError(f"a {name}, which is neither a support vector regression nor a linear one")


def scaled(scaler: Any) -> dict[str, Any]:
    """As (x − shift) / scale."""
    name, size = scaler.kind, len(FEATURES)
    if name == "StandardScaler":
        mean, spread = getattr(scaler, "mean_", None), getattr(scaler, "scale_", None)
        return {
            "shift": [0.0] * size if mean is None else numbers(mean, "mean", size),
            "scale": [1.0] * size if spread is None else numbers(spread, "scale", size),
        }
    if name == "MinMaxScaler":
        return {
            "shift": numbers(-scaler.min_ / scaler.scale_, "min", size),
            "scale": numbers(1 / scaler.scale_, "scale", size),
        }
    raise ValueError(f"a {name} before the regression")


def numbers(values: Any, what: str, size: int | None = None) -> list[float]:
    found = [float(v) for v in values]
    if size is not None and len(found) != size:
        raise ValueError(f"{what} has {len(found)} numbers, {size} are expected")
    return found


def read(path: Path) -> dict[str, Any]:
    return described(instructions(path.read_bytes()))


def main(args: list[str] | None = None) -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("pyr", type=Path, help="the model of the Pyramid score")
    ask.add_argument("resp", type=Path, help="the model of responsiveness")
    ask.add_argument("-o", "--output", type=Path, required=True)
    given = ask.parse_args(args)
    found: dict[str, Any] = {"format": FORMAT, "features": FEATURES}
    for target in ("pyr", "resp"):
        path = getattr(given, target)
        try:
            found[target] = read(path)
        except Exception as error:  # a pickle may fail in any way
            print(f"{path}: not converted: {error}", file=sys.stderr)
            return 2
    given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{given.output}: pyr {found['pyr']['kind']}, resp {found['resp']['kind']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
