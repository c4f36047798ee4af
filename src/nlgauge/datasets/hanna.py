"""HANNA: stories by 10 models and humans for 96 prompts, six criteria, 72 metrics and LLM judges."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import parquet_table, records, unpivot

CRITERIA = {
    "RE": "Relevance",
    "CH": "Coherence",
    "EM": "Empathy",
    "SU": "Surprise",
    "EG": "Engagement",
    "CX": "Complexity",
}


def load(folder: Path, entry: Entry, judges: bool = False) -> Dataset:
    """Load HANNA; `judges` adds the 140 columns of LLM judges (5 models × 4 prompts × 7), with values that are not
    scores as missing.
    """
    frame = parquet_table(folder / entry.files[0].path)
    frame = frame.with_columns(pl.col("model").alias("system"), pl.col("prompt_idx").cast(pl.String).alias("input"))
    columns = frame.columns
    metrics = columns[columns.index("Complexity") + 1 : columns.index("Human 1 RE")]
    llms = [c for c in columns if re.fullmatch(r".+ (RE|CH|EM|SU|EG|CX|AVG) [1-4]", c)]
    notes = ["the three ratings of a criterion are places in the file, not persons"]
    written = records(folder / entry.files[1].path)
    stories = {(s["model"], str(s["prompt_idx"])): s for s in written}
    texts = [stories[key] for key in frame.select(KEY).rows()]
    human = {s["prompt_idx"]: s["story"] for s in stories.values() if s["model"] == "Human"}
    samples = frame.select(KEY).with_columns(
        pl.Series("output", [s["story"] for s in texts], pl.String),
        pl.Series("source", [s["prompt"] for s in texts], pl.String),
        pl.Series("references", [[human[s["prompt_idx"]]] for s in texts], pl.List(pl.String)),
    )
    notes.append(f"{samples['output'].null_count()} stories could not be joined to their ratings: no text")
    # The marks after a metric's name say which kind it is; a name without them is easier to type.
    scores = frame.select(*KEY, *(pl.col(c).alias(re.sub(r" [Ξ¤][§εΔ]$", "", c)) for c in metrics))
    if judges:
        scores = scores.join(_judges(frame.select(*KEY, *llms), notes), on=KEY)
    long = [unpivot(frame, {f"Human {k} {short}": name for short, name in CRITERIA.items()}, str(k)) for k in (1, 2, 3)]
    return Dataset.of(
        entry.name, samples, ratings=pl.concat(long), scores=scores, human_systems=entry.human_systems, notes=notes
    )


def _judges(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Return the scores of the LLM judges with missing values.

    The release codes a reply without a score as -1 and then averages replies, so a value below 0 is not a score. If one
    of the six criteria is missing, their average AVG is missing, too.
    """
    llms = frame.columns[2:]
    missing = sum(int((frame[c] < 0).sum()) for c in llms)
    notes.append(
        f"LLM judges: {missing} values below 0 are missing (-1 stands for a reply without a score); a mean of "
        "replies that hides a -1 among scores cannot be told"
    )
    valid = frame.with_columns(pl.when(pl.col(c) >= 0).then(pl.col(c)).cast(pl.Float64).alias(c) for c in llms)
    averages = []
    for name in (c for c in llms if " AVG " in c):
        whole = pl.all_horizontal(pl.col(name.replace(" AVG ", f" {short} ")).is_not_null() for short in CRITERIA)
        averages.append(pl.when(whole).then(pl.col(name)).alias(name))
    return valid.with_columns(averages)
