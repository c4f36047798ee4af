"""Can a metric see quality on several aspects at once? Joint levels, the limitation that nimah2023 names itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature, turned_note
from nlgauge.analyses.checklist.inter_aspect import aspect_levels, level_words, two_or_more
from nlgauge.analyses.checklist.rater_rows import RaterRows, Scales, Unit, chosen_panel, rated_rows, row_words
from nlgauge.data.choice import Choice
from nlgauge.data.families import Families, families_of
from nlgauge.number import sentence
from nlgauge.stats.ranking.quality_levels import HIGH, LOW, NONE, Bins
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Mask


@analysis(
    "joint-aspects",
    trials="mean",
    paper="nimah2023",
    takes="dataset",
    question="Can a metric see quality on several aspects at once?",
)
def joint_aspects(
    choice: Choice,
    *,
    bins: Bins = "thirds",
    scale: Scales = None,
    unit: Unit = "rater",
    families: Families | None = None,
    draws: int = 499,
) -> Table:
    """KS between rows that are low on all aspects, high on all, and mixed. With two aspects also between the two
    ways to be mixed: that tells which aspect the metric follows. Choose them with `aspects` (--aspect a,b)."""
    panel = chosen_panel(choice)
    panel.stacked()
    rows = rated_rows(panel, unit)
    two_or_more(rows)
    parts = joint_levels(aspect_levels(rows, bins, scale))
    family = families_of(panel.names, families)
    found: list[Row] = []
    for contrast, (one, two) in _contrasts(parts).items():
        for name, (d, p) in rows.ks(parts[one], parts[two], draws, choice.seed).items():
            higher = _higher(rows, name, one, two, parts)
            found.append(
                {"metric": name, "family": family[name], "contrast": contrast, "value": d, "p": p,
                 "n_first": int(parts[one].sum()), "n_second": int(parts[two].sum()), "higher": higher,
                 "follows": _follows(rows, contrast, higher == one, p) if higher else None}
            )  # fmt: skip
    contrasts = list(dict.fromkeys(r["contrast"] for r in found))
    first = {r["metric"]: r["value"] for r in reversed(found)}
    found.sort(
        key=lambda r: (-np.nan_to_num(first[r["metric"]], nan=-1.0), r["metric"], contrasts.index(r["contrast"]))
    )
    extra = (
        {"follows": lambda mine: next(filter(None, (r["follows"] for r in mine)), "–")} if len(rows.human) == 2 else {}
    )
    return Table(
        title=Title(panel.name, f"joint levels of {', '.join(rows.human)}, KS distance"),
        rows=found,
        layout=Layout("metric", "contrast", "value", best=lambda row: row["value"], extra=extra),
        definitions={
            "low": "low on every aspect; high: high on every aspect; mixed: all other rows",
            **({"follows": "of rows high on one aspect and low on the other, the aspect whose high rows the "
                           "metric scores higher (where p < .05)"} if extra else {}),
        },
        method=f"{sentence(row_words(rows))}: "
        + ", ".join(f"{int(mask.sum())} {name}" for name, mask in parts.items())
        + f". Levels: {level_words(rows, bins, scale)}. p: {rows.words}, {draws} draws.",
        notes=[*_empty(parts), *people_note(panel), *turned_note(panel)],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit, draws=draws, seed=choice.seed),
    )  # fmt: skip


def joint_levels(levels: dict[str, NDArray[np.int8]]) -> dict[str, Mask]:
    """Masks of the rows low on all, high on all, mixed; with two aspects the two opposite corners as well."""
    stacked = np.stack(list(levels.values()))
    complete = (stacked != NONE).all(axis=0)
    low, high = (stacked == LOW).all(axis=0), (stacked == HIGH).all(axis=0)
    parts = {"low": low, "high": high, "mixed": complete & ~low & ~high}
    if len(levels) == 2:
        a, b = levels
        parts[f"high {a}, low {b}"] = (levels[a] == HIGH) & (levels[b] == LOW)
        parts[f"low {a}, high {b}"] = (levels[a] == LOW) & (levels[b] == HIGH)
    return parts


def _contrasts(parts: dict[str, Mask]) -> dict[str, tuple[str, str]]:
    found = {"low-high": ("low", "high"), "low-mixed": ("low", "mixed"), "high-mixed": ("high", "mixed")}
    if corners := list(parts)[3:]:
        found["opposite"] = (corners[0], corners[1])
    return found


def _higher(rows: RaterRows, metric: str, one: str, two: str, parts: dict[str, Mask]) -> str | None:
    """The part that the metric scores higher on average."""
    scores = rows.scores[list(rows.panel.metrics).index(metric)][rows.cell]
    picked = [scores[parts[name] & ~np.isnan(scores)] for name in (one, two)]
    if not len(picked[0]) or not len(picked[1]):
        return None
    return one if picked[0].mean() > picked[1].mean() else two


def _follows(rows: RaterRows, contrast: str, first: bool, p: float) -> str | None:
    """The aspect whose high rows the metric scores higher where the two aspects are opposite."""
    return list(rows.human)[0 if first else 1] if contrast == "opposite" and p < 0.05 else None


def _empty(parts: dict[str, Mask]) -> list[str]:
    none = [name for name, mask in parts.items() if not mask.any()]
    return [f"no rows that are {', or '.join(none)}: nothing to compare there."] if none else []
