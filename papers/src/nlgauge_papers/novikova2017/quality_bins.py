"""Correlations within bad, average and good outputs (Novikova et al. 2017, Table 13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlgauge import NlgaugeError, Table
from nlgauge.plugins import (
    Layout,
    NeedsMissing,
    Panel,
    Row,
    Title,
    analysis,
    flipped_note,
    human_note,
    percent,
    signature,
    starred,
)
from nlgauge.stats import (
    CORRECTION_WORDS,
    CORRECTIONS,
    Halves,
    check_words,
    compared,
    correlations,
    difference_words,
    quality_levels,
    rating_scale,
    single,
    star_words,
)
from nlgauge_papers.common import Array, Named, Outputs

BAD, AVERAGE, GOOD, REST = "bad", "average", "good", "average and good"
FEW = 10  # outputs in a bin below which a note warns about its correlation


@analysis(
    "quality-bins",
    trials="mean",
    paper="novikova2017",
    question="Are metrics better on bad outputs than on the others?",
)
def quality_bins(
    panel: Panel,
    *,
    cuts: tuple[float, float] | Literal["fifths", "terciles"] = "fifths",
    measure: Named = "global/spearman",
    correction: Literal["holm", "bh", "none"] = "holm",
    draws: int = 500,
    level: float = 0.05,
    outputs: Outputs = "clustered",
    seed: int = 0,
) -> Table:
    """Correlate each metric with the human ratings separately for bad, average and good outputs.

    Parameters
    ----------
    cuts : two numbers, or {'fifths', 'terciles'}
        Two cut points: outputs rated at most the first are bad, those rated at least the second are good. Default: the
        lowest and highest fifth of the scale (2 and 5 on a scale of 1–6, as in the paper), or terciles if the scale
        has no bounds.
    measure : str or Measure, default 'global/spearman'
        One correlation over outputs: global/pearson, global/spearman or global/kendall.
    correction : {'holm', 'bh', 'none'}
        Correction for multiple testing over metrics, for the tests of bad outputs against the others.
    draws : int, default 500
        Number of permutations of the check; 0 for no check.

    Returns
    -------
    Table
        One row per metric and bin, and for average and good outputs together.

    Notes
    -----
    Table 13 of Novikova et al. (2017).
    """
    chosen = single(measure, "quality-bins")
    bins = cut_bins(panel.human, cuts)
    masks = bins.masks()
    stacked = panel.oriented()
    pair = compared(Halves(stacked, panel.human, masks[BAD], masks[REST]), chosen, outputs, draws, seed)
    result = {BAD: pair.one, REST: pair.two} | {
        name: correlations(stacked, np.where(masks[name], panel.human, np.nan), chosen, outputs, seed)
        for name in (AVERAGE, GOOD)
    }
    adjusted = CORRECTIONS[correction](pair.p)
    rows = [
        row
        for k, metric in enumerate(panel.metrics)
        for row in _rows(
            {"metric": metric, "aspect": panel.aspect, "measure": str(chosen)},
            {name: values[k] for name, values in result.items()},
            {"p_difference": pair.p[k], "p_check": pair.check[k], "p_corrected": float(adjusted[k])},
            level,
        )
    ]
    if all(np.isnan(r["value"]) for r in rows):
        raise NeedsMissing(
            f"no bin has a defined correlation ({rows[0]['reason']}).",
            data=panel.name,
            aspect=panel.aspect,
            code="undefined",
        )
    return Table(
        title=Title(panel.name, f"agreement with {panel.rated_by} on {panel.aspect}, bad outputs and others"),
        rows=rows,
        layout=Layout(
            "metric",
            "bin",
            "value",
            counts={name: int(mask.sum()) for name, mask in masks.items()},
            extra={"p bad≠rest": lambda mine: mine[0]["p_difference"], "p check": lambda mine: mine[0]["p_check"]},
            line=panel.label,
        ),
        shown=["metric", "bin", "value", "n", "p", "p_difference", "p_check", "p_corrected"],
        cells={"value": lambda row: starred(row["value"], row["p"], level) + ("†" if row["stronger"] else "")},
        definitions={str(chosen): chosen.definition},
        method=f"{bins.words}. {star_words(level, outputs, seed)}. † significantly stronger among bad outputs than "
        f"among the others: {difference_words(outputs)}, {CORRECTION_WORDS[correction]} over {len(pair.p)} "
        f"metrics.{check_words(draws, seed)}",
        notes=_notes(panel, rows, bins),
        signature=signature(
            panel, measure=chosen, cuts=str(cuts).replace(" ", ""), correction=correction, draws=draws, seed=seed
        ),
    )


def _rows(metric: Row, found: dict[str, Any], tests: Row, level: float) -> list[Row]:
    """Return one row per bin of a metric."""
    strong = bool(tests["p_corrected"] < level) and abs(found[BAD].value) > abs(found[REST].value)
    return [
        {
            **metric,
            "bin": name,
            "value": one.value,
            "n": one.n,
            "p": one.p,
            "significant": bool(one.p < level),
            "stronger": strong and name == BAD,
            **tests,
            "reason": one.reason,
        }
        for name, one in found.items()
    ]


@dataclass(frozen=True)
class QualityBins:
    """Where the bad and the good outputs are, and how they were cut."""

    bad: np.ndarray
    good: np.ndarray
    rated: np.ndarray
    words: str

    def masks(self) -> dict[str, np.ndarray]:
        """Return the outputs of each bin, and of the two upper ones together."""
        middle = self.rated & ~self.bad & ~self.good
        return {BAD: self.bad, REST: self.rated & ~self.bad, AVERAGE: middle, GOOD: self.good}


def cut_bins(human: Array, cuts: tuple[float, float] | str) -> QualityBins:
    """Split outputs into bad and good by two numbers, by fifths of the scale or by terciles."""
    rated = np.isfinite(human)
    ends = rating_scale(human)
    if isinstance(cuts, str):
        if cuts not in ("fifths", "terciles"):
            raise NlgaugeError(f"quality-bins: no cuts '{cuts}'; use fifths, terciles or two numbers such as (2, 5).")
        if cuts == "terciles" or ends is None:
            result = quality_levels(human, "terciles")
            return QualityBins(result.low, result.high, rated, f"Bins: {result.words}")
        fifth = (ends[1] - ends[0]) / 5
        below, above = ends[0] + fifth, ends[1] - fifth
        why = f"lowest and highest fifth of {ends[0]:g}–{ends[1]:g}"
    else:
        if len(cuts) != 2 or not cuts[0] < cuts[1]:
            raise NlgaugeError(f"quality-bins: cuts are two rising numbers such as (2, 5); found {cuts}.")
        (below, above), why = cuts, "as given"
    edge = 1e-9 * max(abs(below), abs(above), 1.0)
    with np.errstate(invalid="ignore"):
        bad, good = human <= below + edge, human >= above - edge
    return QualityBins(bad, good, rated, f"Bins: bad ≤ {below:.3g}, good ≥ {above:.3g} ({why})")


def _notes(panel: Panel, rows: list[Row], bins: QualityBins) -> list[str]:
    sizes = {name: int(mask.sum()) for name, mask in bins.masks().items() if name != REST}
    total = max(sum(sizes.values()), 1)
    notes = ["outputs: " + ", ".join(f"{n} {name} ({percent(n / total)})" for name, n in sizes.items()) + "."]
    small = [name for name, n in sizes.items() if n < FEW]
    if small:
        notes.append(f"few outputs are {' or '.join(small)}: try cuts=terciles.")
    if reasons := dict.fromkeys(f"{r['bin']}: {r['reason']}" for r in rows if r["reason"]):
        notes.append(f"no value: {'; '.join(reasons)}.")
    notes += human_note(panel)
    notes.append("Within a bin the ratings vary less, which lowers every correlation there (restriction of range).")
    return [*notes, *flipped_note(panel)]
