"""Progress over the years: prediction of human ratings by all metrics of the time (Colombo et al. 2023, Fig. 1)."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted
from nlgauge.analyses.complementarity._released import Given, releases
from nlgauge.analyses.complementarity.predictability import (
    INTERVAL,
    SPLITS,
    ModelName,
    deal,
    fold_columns,
    held_out_value,
    numbers,
)
from nlgauge.analyses.sides import Sides, measure_for
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import number
from nlgauge.options import option
from nlgauge.stats.design.prediction import Grouped, model_of
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array


@analysis(
    "progress",
    trials="mean",
    paper="colombo2023",
    takes="dataset",
    question="Has the agreement of metrics with human ratings improved over the years?",
)
def progress_over_years(
    choice: Choice,
    *,
    years: Given = None,
    model: ModelName = "xgboost",
    split: Grouped = "inputs",
    count: int = 5,
    measure: Named | None = None,
    progress: Progress | None = None,
) -> Table:
    """Compute how well all metrics released up to each year together predict the human ratings.

    Parameters
    ----------
    years : path, mapping or sequence of mappings, optional
        Families and years of your own metrics, as {name: year} or {name: (family, year)}, or a CSV file with the
        columns pattern, family and year.

    Returns
    -------
    Table
        One row per aspect and year: number of families, mean over folds with its interval, and the value of
        each fold.

    Notes
    -----
    Variants of a family are averaged as standard scores. Metrics without a known year are left out and named.

    References
    ----------
    Colombo et al. (2023), Figure 1.
    """
    data, seed = choice.data, choice.seed
    sides = Sides.of(choice)
    chosen = measure_for(sides.panel, measure)
    families, unknown = _families(sides, years)
    if not families:
        raise NeedsMissing(
            f"no release year of a metric is known; declare years with {option('years')} (a CSV with pattern, "
            "family, year).",
            code="unknown_name",
        )
    predict, words = model_of(model, seed)
    steps = sorted({year for _, year in families})
    rows: list[Row] = []
    for aspect, year in counted([(a, y) for a in sides.humans for y in steps], progress):
        target = sides.humans[aspect]
        fold = deal(target, count, split, seed)
        features = np.stack([x for (_, came), x in families.items() if came <= year])
        value = held_out_value(features, target, fold, model, predict, chosen)
        rows.append({"aspect": aspect, "year": year, "families": len(features), **numbers(value, chosen, target)})
    left_out = (
        [f"excluded because the release year is unknown ({option('years')}): {', '.join(unknown)}."] if unknown else []
    )
    new = {year: sorted(f for f, came in families if came == year) for year in steps}
    return Table(
        title=Title(data.name, f"prediction of human ratings by all metrics of the time, {chosen}"),
        rows=rows,
        layout=Layout(
            "year",
            "aspect",
            "value",
            extra={"families": lambda own: own[0]["families"], "new": lambda own: ", ".join(new[own[0]["year"]])},
        ),
        facts={"new": new},
        definitions={str(chosen): chosen.definition},
        method=f"{words}, features: families of metrics released so far (variants averaged as standard scores); "
        f"{fold_columns(rows[0])} folds, {SPLITS[split]}; mean over folds. {INTERVAL}",
        notes=[*_gain(rows, steps), *left_out, *sides.remarks()],
        signature=sides.signature(measure=chosen, model=model, split=split, folds=count, seed=seed),
    )


def _families(sides: Sides, years: Given) -> tuple[dict[tuple[str, int], Array], list[str]]:
    """Return the mean standard score of each family's variants by family and year, and the metrics without a year."""
    found = releases(list(sides.panel.metrics), years)
    groups: dict[tuple[str, int], list[Array]] = {}
    for scores, release in zip(sides.automatic(), found.values(), strict=True):
        if release is not None:
            groups.setdefault((release.family, release.year), []).append(_standard(scores))
    return {f: _mean(np.stack(g)) for f, g in groups.items()}, [n for n, r in found.items() if r is None]


def _standard(scores: Array) -> Array:
    there = scores[np.isfinite(scores)]
    spread = float(there.std()) if len(there) else 0.0
    return np.asarray((scores - there.mean()) / spread) if spread > 0 else scores * 0.0


def _mean(stacked: Array) -> Array:
    there = np.isfinite(stacked)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, stacked, 0.0).sum(axis=0) / there.sum(axis=0))


def _gain(rows: list[Row], years: list[int]) -> list[str]:
    if len(years) < 2:
        return ["all metrics were released in the same year."]
    notes = []
    for aspect in dict.fromkeys(row["aspect"] for row in rows):
        mine = [row for row in rows if row["aspect"] == aspect]
        first, last = mine[0], mine[-1]
        notes.append(
            f"{aspect}: {number(last['value'] - first['value'], sign=True)} from {first['year']} to {last['year']}, "
            f"best in {max(mine, key=lambda r: np.nan_to_num(r['value'], nan=-2))['year']}."
        )
    return notes
