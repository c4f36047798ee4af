"""Helpers of the analyses of verdicts: human labels, the judge's verdicts, outputs that have both, and their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, Refusal, RowNote
from nlgauge.number import some
from nlgauge.options import option
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.agreement.verdict_changes import JudgeDeviations, balanced_accuracy_deviations, roc_area_deviations
from nlgauge.table import Layout, Row
from nlgauge.types import Array, Ints, Mask


@dataclass(frozen=True)
class HumanPass:
    """Human labels: `passed` is systems × inputs, 1 pass, 0 fail, NaN without a label or with a split vote."""

    passed: Array
    by_rater: Array | None  # annotators × systems × inputs, if there are several
    levels: tuple[float, ...]  # distinct human ratings
    notes: list[str]


@dataclass(frozen=True)
class LabeledScores:
    """Outputs with a human label and a score of one judge. `score` is oriented: higher is better."""

    judge: str
    passed: Mask
    score: Array
    clusters: NDArray[np.str_] | None
    index: tuple[Ints, Ints]  # system and input of each output
    flipped: bool = False

    @property
    def names(self) -> list[str] | None:
        """Return the cluster of each output."""
        return None if self.clusters is None else self.clusters.tolist()

    def label_counts(self) -> Row:
        """Count the human failures and passes of these outputs, and their systems."""
        passes = int(self.passed.sum())
        systems = len(np.unique(self.index[0]))
        return {"n_failures": len(self.passed) - passes, "n_passes": passes, "n_systems": systems}


def requested_judges(panel: Panel, judge: str | None) -> list[str]:
    """Return the judges to evaluate: all, or the named one."""
    if not panel.names:
        panel.require_metrics()
    if judge is None:
        return panel.names
    if judge not in panel.metrics:
        raise NeedsMissing(f"judge '{judge}' not found; the data have {', '.join(panel.names)}.", code="unknown_name")
    return [judge]


def human_pass(panel: Panel, cut: float | None = None) -> HumanPass:
    """Return the human label of every output.

    Of two values the higher one is pass; of more values, those from `cut` up pass. With several annotators the majority
    decides; an output with an even split has no label.
    """
    cube = panel.raters.get(panel.aspect)
    pooled = panel.human if cube is None else np.where(np.isnan(cube).all(axis=0), panel.human, np.nan)[None]
    stack = np.concatenate([cube, pooled]) if cube is not None else pooled[None]
    levels = np.unique(stack[np.isfinite(stack)])
    pass_from = _cut(levels, cut, "annotators", "human_pass_from")
    votes = np.where(np.isfinite(stack), stack >= pass_from, np.nan)
    rated = np.isfinite(votes).any(axis=0)
    share = np.full(rated.shape, np.nan)
    share[rated] = np.nanmean(votes[:, rated], axis=0)
    split = int((share == 0.5).sum())
    notes = [f"human labels: {_coding(levels, pass_from)}."]
    if split:
        notes.append(f"{split:,} outputs on which the annotators split evenly are excluded.")
    passed = np.where(share == 0.5, np.nan, np.where(np.isfinite(share), share > 0.5, np.nan))
    return HumanPass(passed, None if cube is None else votes[:-1], tuple(levels.tolist()), notes)


def _cut(levels: Array, cut: float | None, who: str, option: str, metric: str = "") -> float:
    """Return the lowest value that passes; `metric` goes into the error."""
    if cut is not None:
        return cut
    if len(levels) == 2:
        return float(levels[1])
    if len(levels) == 1 and levels[0] in (0.0, 1.0):
        return 1.0
    shown = ", ".join(f"{v:g}" for v in levels[:5]) + (", …" if len(levels) > 5 else "")
    raise NeedsMissing(
        f"{who} gave {len(levels)} distinct value{'s' * (len(levels) != 1)} ({shown}), not pass and fail; "
        f"{_how_to_cut(option)}",
        code="not_binary",
        option=option,
        different_values=len(levels),
        metric=metric,
    )


def _how_to_cut(name: str) -> str:
    return f"set the lowest value that passes with {option(name)}."


def no_verdicts(refused: Sequence[Refusal]) -> str:
    """Explain why judges are excluded: first all judges with scores and the option they need, then other reasons."""
    numbers = [r.metric for r in refused if r.code == "not_binary"]
    reasons = [r.reason for r in refused if r.code != "not_binary" or len(numbers) == 1]
    if len(numbers) > 1:
        reasons.insert(0, f"{some(numbers, 4)} gave scores, not pass and fail; {_how_to_cut('judge_pass_from')}")
    return " ".join(reasons)


def _coding(levels: Array, cut: float) -> str:
    """Return which values are a pass and which as fail."""
    fails, passes = levels[levels < cut], levels[levels >= cut]
    words = [f"{_listed(part)} = {word}" for part, word in ((passes, "pass"), (fails, "fail")) if len(part)]
    return ", ".join(words)


def _listed(values: Array) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"


def labeled_scores(panel: Panel, judge: str, people: HumanPass) -> LabeledScores:
    """Return the outputs with a human label and a score of the judge, in the order of the panel."""
    values = panel.metrics[judge]
    both = np.isfinite(values) & np.isfinite(people.passed)
    if not both.any():
        raise NeedsMissing(
            f"no output has both a human label and a verdict of {judge}.", metric=judge, code="no_scores_of_rated"
        )
    systems, inputs = np.nonzero(both)
    flipped = judge in panel.lower
    score = np.asarray(-values[both] if flipped else values[both])
    return LabeledScores(judge, people.passed[both] > 0.5, score, panel.row_units(inputs), (systems, inputs), flipped)


def judge_deviations(
    panel: Panel, people: HumanPass, judged: dict[str, tuple[LabeledScores, Array]], figure: str
) -> JudgeDeviations:
    """Compare judges by balanced accuracy (of verdicts) or ROC area (of scores), on all outputs with a human label."""
    grid = np.full((len(judged), *panel.human.shape), np.nan)
    for row, (labeled, values) in zip(grid, judged.values(), strict=True):
        row[labeled.index] = values
    systems, inputs = np.nonzero(np.isfinite(people.passed))
    clusters = panel.row_units(inputs)
    return {"balanced_accuracy": balanced_accuracy_deviations, "roc_area": roc_area_deviations}[figure](
        people.passed[systems, inputs] > 0.5, grid[:, systems, inputs], None if clusters is None else clusters.tolist()
    )


def judge_pass(rows: LabeledScores, people: HumanPass, cut: float | None = None) -> tuple[Mask, str]:
    """Return the judge's verdicts, and which values are a pass and fail ("1 = pass, 0 = fail.").

    `cut` is on the judge's own scale.
    """
    own = -rows.score if rows.flipped else rows.score
    if cut is not None:
        passes = own <= cut if rows.flipped else own >= cut
        return np.asarray(passes), f"{'up to' if rows.flipped else 'from'} {cut:g} = pass."
    levels = np.unique(own)
    if rows.flipped and len(levels) == 2:
        return np.asarray(own <= levels[0]), f"{levels[0]:g} = pass, {levels[1]:g} = fail (lower is better)."
    if len(levels) == 1 and len(people.levels) == 2 and levels[0] in people.levels:
        pass_from = max(people.levels)  # the judge gives one verdict only
    else:
        pass_from = _cut(levels, None, rows.judge, "judge_pass_from", metric=rows.judge)
    return np.asarray(own >= pass_from), f"{_coding(levels, pass_from)}."


class JudgedRows(NamedTuple):
    """Outputs with a human label, the judge's verdicts on them, and which values are a pass and fail."""

    rows: LabeledScores
    passed: Mask
    text: str


def judge_verdicts(
    panel: Panel, people: HumanPass, judge: str | None = None, cut: float | None = None
) -> tuple[list[JudgedRows], list[Refusal]]:
    """Return the verdicts of the judge (of all judges by default), and why other judges have none."""
    judged, refused = [], list[Refusal]()
    for name in requested_judges(panel, judge):
        try:
            rows = labeled_scores(panel, name, people)
            judged.append(JudgedRows(rows, *judge_pass(rows, people, cut)))
        except NeedsMissing as error:
            refused += error.refusals
    return judged, refused


def cluster_notes(panel: Panel, clusters: NDArray[np.str_] | None) -> list[str]:
    """Name the clusters; empty if outputs are treated as independent."""
    if clusters is None:
        return []
    column = panel.cluster_column or "input"
    return [
        f"outputs with the same '{column}' are not independent: standard errors are clustered ({len(clusters):,} "
        "outputs "
        f"in {len(np.unique(clusters)):,} clusters)."
    ]


def judges_across(panel: Panel, words: dict[str, str]) -> Layout:
    """Return a layout with one line per measure and one column per judge."""
    return Layout(
        "measure", "metric", "value", line=words.__getitem__, heads={name: panel.label(name) for name in panel.names}
    )


def figure_row(metric: str, aspect: str, measure: str, figure: Figure) -> Row:
    """Return a row with the canonical columns."""
    return {
        "metric": metric,
        "aspect": aspect,
        "measure": measure,
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "p": figure.p,
        "n": figure.n,
        "hits": figure.hits,
        "reason": figure.reason or None,
    }


def missing_notes(rows: list[Row], words: Mapping[str, str], most: int | None = None) -> list[str]:
    """List the figures without a value or without an interval, one note per reason, each with at most so many names."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["reason"]:
            lacking = "no confidence interval" if np.isfinite(row["value"]) else "not available"
            by_reason.setdefault((lacking, str(row["reason"])), []).append(words[row["measure"]])
    lists = {key: list(dict.fromkeys(names)) for key, names in by_reason.items()}
    return [
        RowNote(f"{lacking}: {'; '.join(names) if most is None else some(names, most)} ({why}).")
        for (lacking, why), names in lists.items()
    ]
