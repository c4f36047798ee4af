"""Baselines: the score of unrelated texts, which a rescaled BERTScore maps to 0: (score − b) / (1 − b)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from nlgauge.data.tables.separated import text_rows
from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.batch import Side, TextPair
from nlgauge.text.batch import Batch

COMPUTED = "computed"
PAIRS = 1000  # enough for a standard error of about .002
COLUMNS = ("LAYER", "P", "R", "F")


def check(metric: str, rescale: float | str) -> None:
    """Raise an error for an invalid baseline."""
    if not isinstance(rescale, str) and not 0 <= rescale < 1:
        raise NlgaugeError(
            f"{metric}: rescale must be a number from 0 to below 1, 'computed', or a file of baselines; got {rescale}."
        )


def ready(metric: str, rescale: float | str) -> None:
    """Raise an error if the file of baselines does not exist."""
    if isinstance(rescale, str) and rescale != COMPUTED and not Path(rescale).expanduser().is_file():
        raise NlgaugeError(f"{metric}: rescale='{rescale}': expected a number, 'computed', or an existing file.")


def name(rescale: float | str) -> str:
    """Return the name for the signature: a file by its content."""
    if isinstance(rescale, str) and rescale != COMPUTED:
        path = Path(rescale).expanduser()
        return f"{path.name}@{digest(path).hex()}"
    return str(rescale or "no")


def from_file(path: str, layer: int, of: str) -> float:
    """Return the baseline of a layer from a file of bert-score."""
    result = _table(path).get(layer)
    if result is None:
        raise NlgaugeError(f"{path}: no row for layer {layer}; there are {', '.join(map(str, _table(path)))}.")
    return result["prf".index(of)]


@lru_cache(8)
def _table(path: str) -> dict[int, tuple[float, float, float]]:
    rows = [[*row.items()] for row in text_rows(Path(path).expanduser())]
    if not rows or tuple((name or "").strip().upper() for name, _ in rows[0]) != COLUMNS:
        raise NlgaugeError(f"{path}: the first line must be {','.join(COLUMNS)}, as bert-score writes it.")
    try:
        return {int(layer): (float(p), float(r), float(f)) for (_, layer), (_, p), (_, r), (_, f) in rows}
    except (ValueError, TypeError):
        raise NlgaugeError(f"{path}: each line must contain a layer and three numbers.") from None


def computed(batch: Batch, side: Side, score: Callable[[list[TextPair]], Sequence[float]]) -> float:
    """Return the mean score of random pairs: an output with a reference (or source) of another sample. NaN without
    any.
    """
    texts = batch.texts.list()
    refs, start = batch.reference.tolist(), batch.start.tolist()
    others = [
        ([r for r in (batch.source[i],) if r >= 0] if side == "source" else refs[start[i] : start[i + 1]])
        for i in range(len(batch))
    ]
    rng = np.random.default_rng(np.random.SeedSequence(0))
    pairs: list[TextPair] = []
    for i, j, k in rng.integers(0, [len(batch), len(batch), 2**31], size=(4 * PAIRS, 3)).tolist():
        output = int(batch.output[i])
        if output < 0 or not others[j] or len(pairs) == PAIRS:
            continue
        other = others[j][k % len(others[j])]
        # A text of the same input, or a copy, is not unrelated.
        if other not in others[i] and other != output and texts[output].strip() and texts[other].strip():
            pairs.append((texts[output], texts[other]))
    values = [v for v in score(pairs) if not math.isnan(v)] if pairs else []
    return float(np.mean(values)) if values else math.nan
