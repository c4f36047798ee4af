"""How sure is each number, on a table of which only one metric fits into the memory: `nlgauge intervals`.

The numbers are those of the analysis `intervals`, draw by draw. Every finished metric is kept at once, so that an
interrupted run goes on with the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.analyses import Progress
from nlgauge.analyses._common import Named, measures_of
from nlgauge.analyses.agreement.intervals import IntervalEnds, interval_table, undefined_note
from nlgauge.data.large_table import LargeTable
from nlgauge.data.panel import MOST_CELLS
from nlgauge.errors import NeedsMissing
from nlgauge.scoring.parts_folder import PartsFolder, file_facts
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.resampling.canonical import Order, canonical_order
from nlgauge.stats.resampling.draws import Resample
from nlgauge.table import Table
from nlgauge.types import Array

QUICK = [f"{g}/{c}" for g in ("system", "input") for c in ("pearson", "spearman", "kendall")]


def large_intervals(
    wide: LargeTable | str | Path, *, aspect: str | None = None, measures: Sequence[Named] | None = None,
    over: Resample = "both", draws: int = 1000, level: float = 0.95, seed: int = 0, lower: Sequence[str] = (),
    keep: Path | None = None, progress: Progress | None = None,
) -> Table:  # fmt: skip
    """Value, lower and upper end of every metric under every measure (percentile interval), one metric at a time.

    `keep` is a folder for finished metrics. Measures whose resamples would not fit into the memory are named in a note.

    >>> large_intervals("big.parquet", over="inputs", keep=Path("table.csv.parts"))    # doctest: +SKIP
    """
    from nlgauge.stats.correlation.evaluate_groups import arrays, table, wanted
    from nlgauge.stats.resampling.bootstrap import bootstrap_words
    from nlgauge.stats.resampling.bootstrap_intervals import percentile_interval
    from nlgauge.stats.resampling.bootstrap_large import refusals, resample
    from nlgauge.stats.resampling.draws import bootstrap_weights

    wide = wide if isinstance(wide, LargeTable) else LargeTable.open(wide)
    aspect = wide.aspect(aspect)
    asked = measures_of(QUICK if measures is None else measures)
    names = list(wide.metrics)
    facts = {
        **file_facts(wide.path), "aspect": aspect, "measures": [str(m) for m in asked], "over": over, "draws": draws,
        "level": level, "seed": seed, "metrics": names, "lower": sorted(lower), "people": wide.keep_people,
    }  # fmt: skip
    kept = None if keep is None else PartsFolder.open(keep, facts)
    human = wide.human(aspect)
    none, human = arrays(np.empty((0, *human.shape)), human)
    panel = replace(wide.panel(aspect, human), lower=frozenset(lower))
    judged, order = _ordered(wide)
    human = human[np.ix_(*order)] if order else human
    side = table(none, human, wanted(asked))
    chosen, notes = _possible(asked, refusals(side))
    if order is None:
        notes.append(
            f"more than {MOST_CELLS:,} cells are drawn in the order of the file; another order gives other draws."
        )
    want = wanted(chosen)
    given = bootstrap_weights(over, len(human), human.shape[1], draws, seed)
    strips = len(given.inputs)

    def advance(at: int, _: int) -> None:
        if progress is not None:
            progress(len(results) * strips + at, len(names) * strips)

    results: list[list[Any]] = []
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
            samples = resample(side, x, given, want, advance)
            low, high = percentile_interval(samples[:, 1:], level)
            found = [samples[:, 0].tolist(), low.tolist(), high.tolist(), int(np.isnan(samples[:, 1:]).sum())]
            if kept is not None:
                kept.mark(f"{k:04d}", found=found)
        advance(strips, strips)
        results.append(found)
    value, low, high = (np.array([found[i] for found in results], np.float64) for i in range(3))
    notes += undefined_note(sum(found[3] for found in results), value.size * draws)
    return interval_table(
        panel, IntervalEnds(names, chosen, value, low, high, np.full(value.shape, None, object)), level,
        f"Percentile {bootstrap_words(over, draws, seed)}", notes,
        {"interval": "percentile", "over": over, "draws": draws, "seed": seed},
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
        raise NeedsMissing(" ".join(notes), code="undefined")
    return chosen, notes
