"""Human and judge's verdicts on the parts of outputs, as arrays: what `steps` and `rubric` share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from nlgauge.analyses.verdicts._labeled import human_pass
from nlgauge.data.panel import Panel
from nlgauge.data.units import KEY, PART, PART_OF, PART_ORDER, has_parts
from nlgauge.errors import NeedsMissing
from nlgauge.options import option
from nlgauge.types import Array, Ints


class OutputParts(NamedTuple):
    """Parts in the order of their outputs: human verdicts, the judges', the output of each part and its cluster."""

    human: Array  # 1 pass, 0 fail, NaN
    judges: Mapping[str, Array]
    outputs: Ints  # of each part, from 0 up
    clusters: Ints  # of each output
    names: list[str]  # of each part
    samples: pl.DataFrame  # of each part

    @property
    def many(self) -> int:
        """Number of outputs."""
        return len(self.clusters)


def output_parts(panel: Panel, what: str, human_pass_from: float | None, judge_pass_from: float | None) -> OutputParts:
    """Return the verdicts on parts; an error where outputs have no parts, or verdicts are not pass and fail."""
    if panel.data is None or not has_parts(panel.data.samples):
        raise NeedsMissing(
            f"{what} needs outputs that are judged in parts; name the column of steps, turns, claims or items with "
            f"{option('part')}.",
            code="unsuited_column",
        )
    panel.require_metrics()
    human = human_pass(panel, human_pass_from).passed
    place = {name: k for k, name in enumerate(panel.inputs)}
    row = {name: k for k, name in enumerate(panel.systems)}
    samples = panel.data.samples.filter(pl.col("system").is_in(list(row)) & pl.col("input").is_in(list(place)))
    samples = samples.filter(pl.col(PART_OF).is_not_null()).sort("system", PART_OF, PART_ORDER, maintain_order=True)
    at = tuple(
        np.array([where[name] for name in samples[key]], dtype=np.int64)
        for key, where in zip(KEY, (row, place), strict=True)
    )
    outputs = samples.select(pl.struct("system", PART_OF).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    judges = {}
    for name, values in panel.metrics.items():
        passed = _passes(values, judge_pass_from, name in panel.lower)
        if passed is not None:
            judges[name] = passed[at]
    if not judges:
        raise NeedsMissing(
            f"no judge has pass/fail verdicts on parts; set the pass threshold with {option('judge_pass_from')}.",
            code="not_binary",
        )
    first = np.unique(outputs, return_index=True)[1]
    clusters = panel.unit_codes(at[1][first])
    return OutputParts(human[at], judges, outputs, clusters, samples[PART].to_list(), samples)


def _passes(values: Array, cut: float | None, lower: bool) -> Array | None:
    """Return the verdicts of a judge; None if it has more than two values and no pass threshold."""
    there = np.isfinite(values)
    levels = np.unique(values[there])
    if cut is None and (len(levels) > 2 or (len(levels) == 1 and levels[0] not in (0.0, 1.0)) or not len(levels)):
        return None
    start = cut if cut is not None else max(levels) if len(levels) == 2 else 1.0
    passed = (values <= start if cut is not None else values < start) if lower else values >= start
    return np.where(there, passed.astype(np.float64), np.nan)


def complete_outputs(parts: OutputParts, judge: str) -> Ints:
    """Return the outputs of which every part has both verdicts."""
    known = np.isfinite(parts.human) & np.isfinite(parts.judges[judge])
    missing = np.bincount(parts.outputs, ~known, parts.many)
    return np.flatnonzero(missing == 0)


def first_failures(passed: Array, parts: OutputParts) -> Array:
    """Return the place of the first failed part of each output, from 1; infinite where every part passes."""
    place = np.arange(len(passed)) - np.unique(parts.outputs, return_index=True)[1][parts.outputs] + 1.0
    found = np.full(parts.many, np.inf)
    np.minimum.at(found, parts.outputs, np.where(passed < 0.5, place, np.inf))
    return found
