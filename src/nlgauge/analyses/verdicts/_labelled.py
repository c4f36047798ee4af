"""What analyses of verdicts share: people's pass and fail, the judge's, the rows that have both, words for figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, Refusal, RowNote
from nlgauge.number import number, some
from nlgauge.options import option
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.agreement.verdict_changes import JudgeDeviations, balanced_accuracy_deviations, roc_area_deviations
from nlgauge.table import Layout, Row
from nlgauge.types import Array, Ints, Mask


@dataclass(frozen=True)
class PeoplePass:
    """People's verdicts: `passed` is systems × inputs, 1 pass, 0 fail, NaN where nobody said or half said either."""

    passed: Array
    by_rater: Array | None  # raters × systems × inputs, where there are several
    levels: tuple[float, ...]  # values that people gave
    notes: list[str]


@dataclass(frozen=True)
class Labelled:
    """Rows with a verdict of people and a score of one judge. `score` is oriented: more is better."""

    judge: str
    passed: Mask
    score: Array
    clusters: NDArray[np.str_] | None
    at: tuple[Ints, Ints]  # system and input of each row
    turned: bool = False

    @property
    def names(self) -> list[str] | None:
        """The cluster of each row."""
        return None if self.clusters is None else self.clusters.tolist()

    def label_counts(self) -> Row:
        """Count the human failures and passes of these rows, and the systems they come from."""
        passes = int(self.passed.sum())
        systems = len(np.unique(self.at[0]))
        return {"n_failures": len(self.passed) - passes, "n_passes": passes, "n_systems": systems}


def asked(panel: Panel, judge: str | None) -> list[str]:
    """The judges to hold against people: all, or the one named."""
    if not panel.names:
        panel.require_metrics()
    if judge is None:
        return panel.names
    if judge not in panel.metrics:
        raise NeedsMissing(
            f"no judge '{judge}'; there are {', '.join(panel.names)}.", data=panel.name, code="unknown_name"
        )
    return [judge]


def people_pass(panel: Panel, cut: float | None = None) -> PeoplePass:
    """Pass or fail of every output. Two values are the two verdicts, the higher one is pass; of more values those from
    `cut` up pass. Of several people the majority counts; rows on which they split evenly have no verdict."""
    cube = panel.raters.get(panel.aspect)
    given = panel.human if cube is None else np.where(np.isnan(cube).all(axis=0), panel.human, np.nan)[None]
    stack = np.concatenate([cube, given]) if cube is not None else given[None]
    levels = np.unique(stack[np.isfinite(stack)])
    pass_from = _cut(levels, cut, "people", "people_pass_from", data=panel.name, aspect=panel.aspect)
    votes = np.where(np.isfinite(stack), stack >= pass_from, np.nan)
    there = np.isfinite(votes).any(axis=0)
    share = np.full(there.shape, np.nan)
    share[there] = np.nanmean(votes[:, there], axis=0)
    split = int((share == 0.5).sum())
    notes = [f"people: {_said(levels, pass_from)}."]
    if split:
        notes.append(f"{split:,} rows on which people split evenly are left out.")
    passed = np.where(share == 0.5, np.nan, np.where(np.isfinite(share), share > 0.5, np.nan))
    return PeoplePass(passed, None if cube is None else votes[:-1], tuple(levels.tolist()), notes)


def _cut(levels: Array, cut: float | None, who: str, option: str, **facts: Any) -> float:
    """The lowest value that passes; `facts` are those of a refusal."""
    if cut is not None:
        return cut
    if len(levels) == 2:
        return float(levels[1])
    if len(levels) == 1 and levels[0] in (0.0, 1.0):
        return 1.0
    shown = ", ".join(f"{v:g}" for v in levels[:5]) + (", …" if len(levels) > 5 else "")
    raise NeedsMissing(
        f"{who} gave {len(levels)} different value{'s' * (len(levels) != 1)} ({shown}), not pass and fail; "
        f"{_how_to_cut(option)}",
        code="not_binary",
        option=option,
        different_values=len(levels),
        **facts,
    )


def _how_to_cut(name: str) -> str:
    return f"say from which value on a row passes: {option(name)}."


def no_verdicts(refused: Sequence[Refusal]) -> str:
    """Why these judges are left out: judges with numbers in one sentence, what would help, then other reasons."""
    numbers = [r.metric for r in refused if r.code == "not_binary"]
    reasons = [r.reason for r in refused if r.code != "not_binary" or len(numbers) == 1]
    if len(numbers) > 1:
        reasons.insert(0, f"{some(numbers, 4)} gave numbers, not pass and fail; {_how_to_cut('judge_pass_from')}")
    return " ".join(reasons)


def _said(levels: Array, cut: float) -> str:
    """What was taken as pass and as fail."""
    fails, passes = levels[levels < cut], levels[levels >= cut]
    words = [f"{_listed(part)} = {word}" for part, word in ((passes, "pass"), (fails, "fail")) if len(part)]
    return ", ".join(words)


def _listed(values: Array) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"


def labelled(panel: Panel, judge: str, people: PeoplePass) -> Labelled:
    """The rows with both, in the panel's order (canonical within an analysis)."""
    values = panel.metrics[judge]
    both = np.isfinite(values) & np.isfinite(people.passed)
    if not both.any():
        raise NeedsMissing(
            f"no row with a verdict of people and one of {judge}.",
            data=panel.name,
            aspect=panel.aspect,
            metric=judge,
            code="no_scores_of_rated",
        )
    systems, inputs = np.nonzero(both)
    turned = judge in panel.lower
    score = np.asarray(-values[both] if turned else values[both])
    return Labelled(judge, people.passed[both] > 0.5, score, panel.row_units(inputs), (systems, inputs), turned)


def judge_deviations(
    panel: Panel, people: PeoplePass, given: dict[str, tuple[Labelled, Array]], figure: str
) -> JudgeDeviations:
    """Compare judges by balanced accuracy (of verdicts) or ROC area (of scores), on all rows with a human verdict."""
    grid = np.full((len(given), *panel.human.shape), np.nan)
    for row, (mine, values) in zip(grid, given.values(), strict=True):
        row[mine.at] = values
    systems, inputs = np.nonzero(np.isfinite(people.passed))
    clusters = panel.row_units(inputs)
    return {"balanced_accuracy": balanced_accuracy_deviations, "roc_area": roc_area_deviations}[figure](
        people.passed[systems, inputs] > 0.5, grid[:, systems, inputs], None if clusters is None else clusters.tolist()
    )


def judge_pass(rows: Labelled, people: PeoplePass, cut: float | None = None) -> tuple[Mask, str]:
    """The judge's verdicts, and what was taken as pass and fail ("1 = pass, 0 = fail."). `cut` is on the judge's own
    scale."""
    own = -rows.score if rows.turned else rows.score
    if cut is not None:
        passes = own <= cut if rows.turned else own >= cut
        return np.asarray(passes), f"{'at most' if rows.turned else 'from'} {cut:g} = pass."
    levels = np.unique(own)
    if rows.turned and len(levels) == 2:
        return np.asarray(own <= levels[0]), f"{levels[0]:g} = pass, {levels[1]:g} = fail (less is better)."
    if len(levels) == 1 and len(people.levels) == 2 and levels[0] in people.levels:
        pass_from = max(people.levels)  # it always says the same
    else:
        pass_from = _cut(levels, None, rows.judge, "judge_pass_from", metric=rows.judge)
    return np.asarray(own >= pass_from), f"{_said(levels, pass_from)}."


class JudgedRows(NamedTuple):
    """Rows with a human verdict, the judge's verdicts on them, and the values that were taken as pass and fail."""

    rows: Labelled
    passed: Mask
    text: str


def judge_verdicts(
    panel: Panel, people: PeoplePass, judge: str | None = None, cut: float | None = None
) -> tuple[list[JudgedRows], list[Refusal]]:
    """Return the verdicts of the judge (of all judges by default), and why others have none."""
    judged, refused = [], list[Refusal]()
    for name in asked(panel, judge):
        try:
            rows = labelled(panel, name, people)
            judged.append(JudgedRows(rows, *judge_pass(rows, people, cut)))
        except NeedsMissing as error:
            refused += error.refusals
    return judged, refused


def cluster_notes(panel: Panel, clusters: NDArray[np.str_] | None) -> list[str]:
    """What is taken as one unit; nothing where rows are taken as independent."""
    if clusters is None:
        return []
    found = len(np.unique(clusters))
    column = panel.cluster_column or "input"
    return [
        f"rows of one '{column}' are not independent: {len(clusters):,} rows in {found:,} of them count as fewer "
        "(design effect)."
    ]


def judges_across(panel: Panel, words: dict[str, str]) -> Layout:
    """One line a figure, in words, and one column a judge."""
    return Layout(
        "measure", "metric", "value", line=words.__getitem__, heads={name: panel.label(name) for name in panel.names}
    )


def figure_row(metric: str, aspect: str, measure: str, figure: Figure) -> Row:
    """A row with the canonical columns."""
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


def percent(value: float) -> str:
    """A share as people say it.

    >>> percent(0.5967), percent(0.0031), percent(1.0), percent(0.9991)
    ('60 %', '.3 %', '100 %', '99.9 %')
    """
    decimals = 1 if 0 < value < 0.01 or 0.99 < value < 1 else 0
    return f"{number(100 * value, decimals)} %"


def share_text(row: Row) -> str:
    """'60 % (37 of 62), between 47 and 71 %'."""
    if not np.isfinite(row["value"]):
        return "–"
    text = percent(row["value"])
    if row.get("hits") is not None:
        text += f" ({row['hits']:,} of {row['n']:,})"
    return text + (f", between {_ends(row)}" if np.isfinite(row["low"]) else "")


def _ends(row: Row) -> str:
    low, high = percent(row["low"]), percent(row["high"])
    return f"{low.removesuffix(' %')} and {high}"


def missing_notes(rows: list[Row], words: dict[str, str]) -> list[str]:
    """Why figures have no value or no interval, each reason once."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["reason"]:
            lacking = "no interval" if np.isfinite(row["value"]) else "not given"
            found.setdefault((lacking, str(row["reason"])), []).append(words[row["measure"]])
    return [
        RowNote(f"{lacking}: {'; '.join(dict.fromkeys(names))} ({why}).") for (lacking, why), names in found.items()
    ]
