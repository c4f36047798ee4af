"""How sure is each number, on a table of which only one metric fits into the memory: `nlgauge intervals`.

The numbers are those of the analysis `intervals`, draw by draw. Every finished metric is kept at once, so that an
interrupted run goes on with the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nlgauge.analyses import Progress
from nlgauge.analyses._common import Named, measures_of, people_note, signature, turned_words
from nlgauge.analyses.agreement.correlation import measures_across
from nlgauge.analyses.agreement.intervals import interval_row, interval_text
from nlgauge.data.large_table import LargeTable
from nlgauge.data.panel import MOST_CELLS
from nlgauge.errors import NeedsMissing
from nlgauge.number import percent
from nlgauge.scoring.parts_folder import PartsFolder
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.resampling.canonical import Order, canonical_order
from nlgauge.stats.resampling.draws import Resample
from nlgauge.table import Row, Table
from nlgauge.types import Array

QUICK = [f"{g}/{c}" for g in ("system", "input") for c in ("pearson", "spearman", "kendall")]


def large_intervals(
    wide: LargeTable | str | Path, *, aspect: str | None = None, measures: Sequence[Named] | None = None,
    over: Resample = "both",
    draws: int = 1000, level: float = 0.95, seed: int = 0, lower: Sequence[str] = (), keep: Path | None = None,
    threads: int | None = None, progress: Progress | None = None,
) -> Table:  # fmt: skip
    """Value, lower and upper end of every metric under every measure (percentile interval), one metric at a time.

    `keep` is a folder for finished metrics. Measures whose resamples would not fit into the memory are named in a note.

    >>> large_intervals("big.parquet", over="inputs", keep=Path("table.csv.parts"))    # doctest: +SKIP
    """
    from nlgauge.stats.correlation.evaluate_groups import arrays, table, wanted
    from nlgauge.stats.resampling.bootstrap_intervals import percentile_interval
    from nlgauge.stats.resampling.bootstrap_large import refusals, resample
    from nlgauge.stats.resampling.draws import bootstrap_weights

    wide = wide if isinstance(wide, LargeTable) else LargeTable.open(wide)
    aspect = wide.aspect(aspect)
    asked = measures_of(QUICK if measures is None else measures)
    names = list(wide.metrics)
    facts = {
        "file": wide.path.name, "bytes": wide.path.stat().st_size, "changed": wide.path.stat().st_mtime_ns,
        "aspect": aspect,
        "measures": [str(m) for m in asked], "over": over, "draws": draws, "level": level, "seed": seed,
        "metrics": names,
        "lower": sorted(lower), "people": wide.keep_people,
    }  # fmt: skip
    kept = None if keep is None else PartsFolder.open(keep, facts)
    human = wide.human(aspect)
    none, human = arrays(np.empty((0, *human.shape)), human)
    panel = wide.panel(aspect, human)
    judged, order = _ordered(wide)
    human = human[np.ix_(*order)] if order else human
    want = wanted(asked)
    side = table(none, human, want)
    chosen, notes = _possible(asked, refusals(side))
    if order is None:
        notes.append(
            f"more than {MOST_CELLS:,} cells are drawn in the order of the file; another order gives other draws."
        )
    want = wanted(chosen)
    given = bootstrap_weights(over, len(human), human.shape[1], draws, seed)
    strips = len(given.inputs)
    rows: list[Row] = []
    best: dict[str, float] = {}
    lost = 0
    for k, name in enumerate(names):
        done = None if kept is None else kept.marked(f"{k:04d}")
        found = done and done.get("found")
        if not isinstance(found, list):
            scores = wide.metric(name)
            x = -scores if name in lower else scores
            if order:
                x = x[np.ix_(*order)]
                # Outputs on which people said the same stand by the metric's own ranks.
                x = x[np.ix_(*canonical_order(judged, [x]))]
            x = arrays(x, human)[0][0]
            samples = resample(side, x, given, want, threads=threads, progress=_part(progress, k, len(names), strips))
            low, high = percentile_interval(samples[:, 1:], level)
            found = [samples[:, 0].tolist(), low.tolist(), high.tolist(), int(np.isnan(samples[:, 1:]).sum())]
            if kept is not None:
                kept.mark(f"{k:04d}", found=found)
        if progress is not None:
            progress((k + 1) * strips, len(names) * strips)
        value, low, high, missing = found
        lost += missing
        rows += [interval_row(name, aspect, m, value[j], low[j], high[j]) for j, m in enumerate(chosen)]
        best[name] = np.inf if np.isnan(value).all() else -float(np.nanmean(value))
    rows.sort(key=lambda row: best[row["metric"]])
    if lost:
        notes.append(f"{lost} of {len(names) * len(chosen) * draws} draws had no defined correlation and are left out.")
    units = "systems and inputs" if over == "both" else over
    return Table(
        title=f"{panel.name}: {percent(level)} intervals of the agreement on {aspect}", rows=rows,
        layout=measures_across(chosen, line=lambda m: f"{m} ↓" if m in lower else m),
        cells={"value": interval_text},
        method=f"Percentile bootstrap over {units}, {draws} draws with replacement, seed {seed}; an output counts "
        "where people and the metric have a score; groups that are constant in a draw are left out of it.",
        notes=[*notes, *people_note(panel), *turned_words(lower)],
        signature=signature(panel, interval="percentile", over=over, draws=draws, seed=seed),
        kind="intervals",
    )  # fmt: skip


def _ordered(wide: LargeTable) -> tuple[list[Array], Order | None]:
    """People's tables in canonical order, and that order; none where sorting would not fit into the memory."""
    if len(wide.grid.systems) * len(wide.grid.inputs) > MOST_CELLS:
        return [], None
    judged = [wide.human(aspect) for aspect in wide.humans]
    order = canonical_order(judged)
    return [table[np.ix_(*order)] for table in judged], order


def _possible(asked: Sequence[Measure], refused: dict[str, str]) -> tuple[list[Measure], list[str]]:
    chosen = [m for m in asked if m.grouping not in refused]
    notes = [
        f"not given: {', '.join(str(m) for m in asked if m.grouping == grouping)} ({why})."
        for grouping, why in refused.items()
    ]
    if not chosen:
        raise NeedsMissing(" ".join(notes))
    return chosen, notes


def _part(progress: Progress | None, k: int, metrics: int, strips: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, _: progress(k * strips + done, metrics * strips)
