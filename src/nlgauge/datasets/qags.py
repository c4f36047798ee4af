"""QAGS: yes/no judgments of every summary sentence, is it supported by the article?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers.qags import QagsReader
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import records, scores
from nlgauge.errors import DataError


def load(folder: Path, entry: Entry, system: str) -> Dataset:
    """Load QAGS; `consistency` is the aspect with which the papers correlate, and `consistency (worker)` has the
    individual workers.
    """
    path, predicted = (folder / f.path for f in entry.files)
    judged = QagsReader.read(path)
    named = pl.lit(system).alias("system")
    samples, ratings = judged.samples.with_columns(named), judged.ratings.with_columns(named)
    notes = [*judged.notes[1:], "one system only: correlation exists over its outputs, not between systems"]
    table = None
    if predicted.is_file():
        others = {str(r["i"]): r for r in records(predicted)}
        for given, value in ratings.filter(pl.col("rater").is_null()).select("input", "value").iter_rows():
            if given not in others or abs(others[given]["human_consistency"] - value) > 1e-6:
                raise DataError(f"{predicted}: row {given} is not that of {path.name} (other human score).")
        judge_scores = [{"unieval_consistency": others[i]["unieval_consistency"]} for i in samples["input"]]
        table = scores(samples, judge_scores)
    else:
        notes.append(f"{predicted.name} is missing: no metric scores")
    return Dataset.of(
        entry.name,
        samples.select(*KEY, "output", "source", "sentences", "votes"),
        ratings=ratings,
        scores=table,
        persons=True,
        human_systems=(),
        notes=notes,
    )
