"""The trained part of an aligner: two small layers on standardized features, in NumPy, stored as safetensors and JSON.

Plain arrays and one seed: training is reproducible byte for byte on the same machine, and a resumed training equals an
uninterrupted one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from nlgauge.errors import NlgaugeError
from nlgauge.types import Singles
from nlgauge.writing import write_whole

State = dict[str, Singles]
HIDDEN = (48, 24)


@dataclass
class Head:
    """A probability for each row of features."""

    state: State
    facts: dict[str, Any]

    def __call__(self, rows: Singles) -> Singles:
        return _sigmoid(_forward(self.state, rows)[-1][:, 0])

    def save(self, path: Path) -> None:
        """Write PATH.safetensors and PATH.json."""
        from safetensors.numpy import save

        selected = {k: np.ascontiguousarray(v) for k, v in sorted(self.state.items())}
        write_whole(path.with_suffix(".safetensors"), save(selected))
        write_whole(path.with_suffix(".json"), json.dumps(self.facts, indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> Head:
        """Read a file written by `save`."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            return cls(load_file(path.with_suffix(".safetensors")), facts)
        except OSError:
            raise NlgaugeError(f"no aligner found at {path}: {path.name}.json and .safetensors are needed.") from None
        except (SafetensorError, json.JSONDecodeError) as error:
            raise NlgaugeError(f"{path}: not a readable aligner ({error}).") from None


def fresh(rows: Singles, rng: Generator) -> State:
    """Return initial weights, including the features' means and spreads."""
    sizes = [rows.shape[1], *HIDDEN, 1]
    state = {"mean": rows.mean(axis=0), "spread": np.maximum(rows.std(axis=0), 1e-3)}
    for k, (a, b) in enumerate(pairwise(sizes)):
        state[f"w{k}"] = rng.normal(0, np.sqrt(2 / a), (a, b))
        state[f"b{k}"] = np.zeros(b)
    return {k: v.astype(np.float32) for k, v in state.items()}


def _forward(state: Mapping[str, Singles], rows: Singles) -> list[Singles]:
    """Return the activations, layer by layer; the last are logits."""
    results = [np.clip((rows - state["mean"]) / state["spread"], -6, 6).astype(np.float32)]
    last = len(HIDDEN)
    for k in range(last + 1):
        value = results[-1] @ state[f"w{k}"] + state[f"b{k}"]
        results.append(np.maximum(value, 0) if k < last else value)
    return results


def _sigmoid(values: Singles) -> Singles:
    result: Singles = (1 / (1 + np.exp(-np.clip(values, -30, 30)))).astype(np.float32)
    return result


def gradient(state: Mapping[str, Singles], rows: Singles, wanted: Singles, weight: Singles) -> State:
    """Return the gradient of the weighted cross-entropy; targets may be any share between 0 and 1."""
    acts = _forward(state, rows)
    delta = ((_sigmoid(acts[-1][:, 0]) - wanted) * weight / weight.sum())[:, None]
    results: State = {}
    for k in range(len(HIDDEN), -1, -1):
        results[f"w{k}"] = acts[k].T @ delta
        results[f"b{k}"] = delta.sum(axis=0)
        delta = (delta @ state[f"w{k}"].T) * (acts[k] > 0)
    return results


def adam(state: State, moments: State, grad: State, step: int, rate: float, decay: float = 1e-3) -> None:
    """Take one Adam step, in place."""
    for name, g in grad.items():
        m, v = moments[f"m.{name}"], moments[f"v.{name}"]
        m += 0.1 * (g - m)
        v += 0.001 * (g * g - v)
        update = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        state[name] -= np.float32(rate) * (update + decay * state[name] * name.startswith("w"))


def still(state: State) -> State:
    """Return zero moments for the first step."""
    return {f"{m}.{k}": np.zeros_like(v) for m in "mv" for k, v in state.items() if k[0] in "wb"}
