"""Joint quality levels on several aspects: a limitation that Ni'mah et al. (2023) name themselves."""

from __future__ import annotations

import numpy as np

from nlgauge import Table
from nlgauge.plugins import (
    Choice,
    Layout,
    RaterRows,
    Row,
    Title,
    analysis,
    families_of,
    flipped_note,
    human_note,
    signature,
)
from nlgauge_papers.common import Bins, Families, Mask, RowUnit, Scales


@analysis(
    "joint-aspects",
    trials="mean",
    paper="nimah2023",
    takes="dataset",
    question="Can a metric detect quality on several aspects at once?",
)
def joint_aspects(
    choice: Choice,
    *,
    bins: Bins = "thirds",
    scale: Scales = None,
    unit: RowUnit = "rater",
    families: Families | None = None,
    draws: int = 499,
) -> Table:
    """Compare the metric scores of outputs that are low on all aspects, high on all aspects, or mixed.

    With two aspects, the two kinds of mixed outputs are also compared, which shows the aspect that the metric follows.

    Parameters
    ----------
    choice : Choice
        Its aspects are evaluated jointly.

    Returns
    -------
    Table
        KS distance and p of every metric and contrast.

    Notes
    -----
    A limitation that Nimah et al. (2023) name themselves.
    """
    rows = RaterRows.of(choice, unit)
    panel = rows.panel
    panel.stacked()  # says what is missing when there are no metrics
    rows.require_two_aspects()
    parts = joint_levels(rows, bins, scale)
    result = _rows(rows, parts, families_of(panel.names, families), draws, choice.seed)
    contrasts = list(dict.fromkeys(r["contrast"] for r in result))
    first = {r["metric"]: r["value"] for r in reversed(result)}
    result.sort(
        key=lambda r: (-np.nan_to_num(first[r["metric"]], nan=-1.0), r["metric"], contrasts.index(r["contrast"]))
    )
    extra = (
        {"follows": lambda mine: next(filter(None, (r["follows"] for r in mine)), "–")} if len(rows.human) == 2 else {}
    )
    return Table(
        title=Title(panel.name, f"joint levels of {', '.join(rows.human)}, KS distance"),
        rows=result,
        layout=Layout("metric", "contrast", "value", best=lambda row: row["value"], extra=extra),
        definitions={
            "low": "low on every aspect; high: high on every aspect; mixed: all other rows",
            **(
                {
                    "follows": "of rows high on one aspect and low on the other, the aspect whose high rows the "
                    "metric scores higher (where p < .05)"
                }
                if extra
                else {}
            ),
        },
        method=f"{rows.description().capitalize()}: "
        + ", ".join(f"{int(mask.sum())} {name}" for name, mask in parts.items())
        + f". Levels: {rows.level_words(bins, scale)}. p: {rows.words}, {draws} draws.",
        notes=[*_empty(parts), *human_note(panel), *flipped_note(panel)],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit, draws=draws, seed=choice.seed),
    )


def joint_levels(rows: RaterRows, bins: Bins = "thirds", scale: Scales = None) -> dict[str, Mask]:
    """Return masks of the rows low on all aspects, high on all, and mixed; of two aspects also the opposite corners."""
    levels = {aspect: rows.levels(aspect, bins, scale) for aspect in rows.human}
    low = np.all([one.low for one in levels.values()], axis=0)
    high = np.all([one.high for one in levels.values()], axis=0)
    parts = {"low": low, "high": high, "mixed": np.logical_or(*rows.unanimous(bins, scale)) & ~low & ~high}
    if len(levels) == 2:
        a, b = levels
        parts[f"high {a}, low {b}"] = levels[a].high & levels[b].low
        parts[f"low {a}, high {b}"] = levels[a].low & levels[b].high
    return parts


def _rows(rows: RaterRows, parts: dict[str, Mask], family: dict[str, str], draws: int, seed: int) -> list[Row]:
    """Return one row per contrast and metric."""
    results: list[Row] = []
    for contrast, (one, two) in _contrasts(parts).items():
        for name, (d, p) in rows.ks(parts[one], parts[two], draws, seed).items():
            higher = _higher(rows, name, one, two, parts)
            results.append(
                {
                    "metric": name,
                    "family": family[name],
                    "contrast": contrast,
                    "value": d,
                    "p": p,
                    "n_first": int(parts[one].sum()),
                    "n_second": int(parts[two].sum()),
                    "higher": higher,
                    "follows": _follows(rows, contrast, higher == one, p) if higher else None,
                }
            )
    return results


def _contrasts(parts: dict[str, Mask]) -> dict[str, tuple[str, str]]:
    results = {"low-high": ("low", "high"), "low-mixed": ("low", "mixed"), "high-mixed": ("high", "mixed")}
    if corners := list(parts)[3:]:
        results["opposite"] = (corners[0], corners[1])
    return results


def _higher(rows: RaterRows, metric: str, one: str, two: str, parts: dict[str, Mask]) -> str | None:
    """Return the part that the metric scores higher on average."""
    scores = rows.scores[list(rows.panel.metrics).index(metric)][rows.cell]
    picked = [scores[parts[name] & ~np.isnan(scores)] for name in (one, two)]
    if not len(picked[0]) or not len(picked[1]):
        return None
    return one if picked[0].mean() > picked[1].mean() else two


def _follows(rows: RaterRows, contrast: str, first: bool, p: float) -> str | None:
    """Return the aspect whose high rows the metric scores higher, if the two aspects are opposite."""
    return list(rows.human)[0 if first else 1] if contrast == "opposite" and p < 0.05 else None


def _empty(parts: dict[str, Mask]) -> list[str]:
    none = [name for name, mask in parts.items() if not mask.any()]
    return [f"no rows that are {', or '.join(none)}: nothing to compare there."] if none else []
