"""The published regressors of S3 (pickled scikit-learn models) as a JSON file that nlgauge reads.

    python tools/s3_regressors.py en_pyr.model en_resp.model -o s3.json

Run it yourself, on the files of https://github.com/UKPLab/emnlp-ws-2017-s3 (models/en): a pickle can run code, and
nlgauge opens none. This reader builds NumPy arrays, and an empty shell for each object of scikit-learn, whose attributes
it then reads; a file that names anything else is refused before that is called. scikit-learn is not needed, nor the old
version of it that the files were written with.
"""

from __future__ import annotations

import argparse
import codecs
import json
import pickle
import sys
from pathlib import Path
from typing import Any

FORMAT = "nlgauge-s3-1"
FEATURES = ["JS_eval_1", "JS_eval_2", "ROUGE_1_R", "ROUGE_1_R_WE", "ROUGE_2_R", "ROUGE_2_R_WE"]
ARRAYS = ("numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric", "numpy")
OF_NUMPY = ("_reconstruct", "scalar", "ndarray", "dtype", "float64", "int64", "float32", "int32", "bool_")


class Shell:
    """An object of scikit-learn with its attributes and nothing that could be called."""

    def __init__(self, *args: Any, **more: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state if isinstance(state, dict) else {})


def shell(name: str) -> type[Shell]:
    return type(name, (Shell,), {})


def reconstructed(cls: Any, *_: Any) -> Any:
    return cls() if isinstance(cls, type) and issubclass(cls, Shell) else Shell()


class ArraysAndShells(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module in ARRAYS and name in OF_NUMPY:
            import numpy as np

            if name not in ("_reconstruct", "scalar"):
                return getattr(np, name)
            from numpy._core import multiarray

            return getattr(multiarray, name)
        if module == "sklearn" or module.startswith("sklearn."):
            return shell(name)
        if module in ("numpy.ma", "numpy.ma.core"):  # the log of a search for settings: not looked at
            return reconstructed if name == "_mareconstruct" else shell(name)
        if (module, name) in (("copy_reg", "_reconstructor"), ("copyreg", "_reconstructor")):
            return reconstructed
        if (module, name) in (("__builtin__", "object"), ("builtins", "object")):
            return Shell
        if (module, name) == ("_codecs", "encode"):  # bytes in the old protocols
            return lambda text, _="latin1": codecs.encode(text, "latin1")
        if (module, name) == ("__builtin__", "bytes"):  # none of them
            return lambda: b""
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no part of a scikit-learn model")


def described(model: Any) -> dict[str, Any]:
    """The numbers of a regressor: a support vector regression, a linear one, or either behind a scaler."""
    name = type(model).__name__
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
            "kind": "svr", "kernel": kernel, "gamma": float(gamma), "coef0": float(model.coef0),
            "degree": int(model.degree), "intercept": float(intercept[0]), "dual_coef": numbers(dual[0], "dual_coef"),
            "support_vectors": [numbers(row, "support vector", len(FEATURES)) for row in model.support_vectors_],
        }  # fmt: skip
    if hasattr(model, "coef_"):
        import numpy as np

        return {"kind": "linear", "coef": numbers(np.ravel(model.coef_), "coef", len(FEATURES)),
                "intercept": float(np.ravel(model.intercept_)[0])}  # fmt: skip
    raise ValueError(f"a {name}, which is neither a support vector regression nor a linear one")


def scaled(scaler: Any) -> dict[str, Any]:
    """As (x − shift) / scale."""
    name = type(scaler).__name__
    size = len(FEATURES)
    if name == "StandardScaler":
        mean, spread = getattr(scaler, "mean_", None), getattr(scaler, "scale_", None)
        return {"shift": [0.0] * size if mean is None else numbers(mean, "mean", size),
                "scale": [1.0] * size if spread is None else numbers(spread, "scale", size)}  # fmt: skip
    if name == "MinMaxScaler":
        return {"shift": numbers(-scaler.min_ / scaler.scale_, "min", size),
                "scale": numbers(1 / scaler.scale_, "scale", size)}  # fmt: skip
    raise ValueError(f"a {name} before the regression")


def numbers(values: Any, what: str, size: int | None = None) -> list[float]:
    found = [float(v) for v in values]
    if size is not None and len(found) != size:
        raise ValueError(f"{what} has {len(found)} numbers, {size} are expected")
    return found


def read(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return described(ArraysAndShells(file, encoding="latin1").load())


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
