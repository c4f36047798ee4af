"""Sets in one CSV table of scores and ratings: those of nimah2023, colombo2023, PPLM's comparisons."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.comparisons import FIRST, SECOND, TIE
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.tables.means import means_by
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import csv_table, numbers, unpivot
from nlgauge.errors import DataError

# The origin names the input "System" and the system "Utterance", as the column names of the file show.
HEADINGS = {
    "System": "input",
    "Utterance": "system",
    "input_index__origin_col_System": "input",
    "system__origin_col_Utterance": "system",
}
START = "<|endoftext|>"
OUTPUTS = ("decoded", "system_output", "output", "summary", "text", "ArticleSummary", "SystemSummary")
# UBER-Topic: who sat in the three places of each topic, as the headings of the origin's files name them (there by first
# names; one is unnamed).
SEATS = {
    "computers": (1, 2, 3), "legal": (4, 5, 6), "military": (7, 8, 9), "politics": (10, 8, 11), "religion": (2, 3, 4),
    "science": (5, 12, 7), "space": (3, 11, 13),
}  # fmt: skip


def scores_only(folder: Path, entry: Entry) -> Dataset:
    """Load a table of colombo2023: human and automatic scores, no texts."""
    frame = csv_table(folder / entry.files[0].path).rename(HEADINGS, strict=False)
    human = {c: c.removeprefix("H:") for c in frame.columns if c.startswith("H:")}
    metrics = [c for c in frame.columns if c not in human and c not in KEY]
    notes = ["the headings of system and input are swapped in the origin, which is corrected here", "numbers only"]
    return Dataset.of(
        entry.name,
        frame.select(KEY),
        ratings=unpivot(frame, human),
        scores=numbers(frame, metrics),
        human_systems=entry.human_systems,
        notes=notes,
    )


def checklist_usr(folder: Path, entry: Entry) -> Dataset:
    """Load a dialogue set of nimah2023 with the ratings of individual annotators."""
    frame = csv_table(folder / entry.files[0].path)
    frame = _numbered(frame, "context", "fact").rename({"model": "system", "annotators": "rater"})
    scores, note = _averaged(frame, _between(frame, "understandability_unieval", "relev_met"))
    texts = {"output": "response", "source": "context", "context": "fact"}  # the source is the dialogue history
    return _checklist(entry, frame, texts, entry.aspects, scores, [note])


def checklist_unieval(folder: Path, entry: Entry) -> Dataset:
    """Load the dialogue set of nimah2023 that has UniEval's scores."""
    frame = csv_table(folder / entry.files[0].path)
    frame = _numbered(frame, "source", "context").rename({"system_id": "system"})
    scores = numbers(frame, _between(frame, "understandability_unieval", "consist_met"))
    texts = {"output": "system_output", "source": "source", "context": "context"}
    return _checklist(entry, frame, texts, entry.aspects, scores, [])


def checklist_topic(folder: Path, entry: Entry) -> Dataset:
    """Load a set of controlled generation of nimah2023; which system wrote a text is unknown."""
    frame = csv_table(folder / entry.files[0].path).with_columns(
        pl.lit("unknown").alias("system"), pl.int_range(pl.len()).cast(pl.String).alias("input")
    )
    scores = numbers(frame, [c for c in _metrics(frame) if not c.startswith("pvi_")])
    notes = [
        "the systems are not identified: all texts are of one system, 'unknown'",
        "columns pvi_* (pointwise information of the ratings) are not read",
    ]
    texts = {"output": "output", "source": "prefix", "control": "attribute"}
    return _checklist(entry, frame, texts, entry.aspects, scores, notes, strip=False)


def ctrl_topic(folder: Path, entry: Entry) -> Dataset:
    """Load comparisons as inputs, since a text is rated again in every comparison."""
    frame = csv_table(folder / entry.files[0].path).rename({"model": "system", "annotator": "rater"})
    frame = frame.with_columns(pl.concat_str("domain", "key", separator=" ").alias("input"))
    scores, note = _averaged(frame, _metrics(frame))
    texts = {"output": "text", "source": "prefix", "control": "attribute"}
    notes = [note, "relevance: 1 for the text that the annotator chose as more relevant, or for both"]
    human = {"rating": "fluency", "relevance_bin": "relevance"}
    return _checklist(entry, frame, texts, human, scores, notes, strip=False)


def checklist_rows(folder: Path, entry: Entry, system: str) -> Dataset:
    """Load a table whose columns of systems (`system`), ratings and metrics are known from the authors' notebooks.

    The notebooks do not name the columns of inputs and texts. Each row is an output of its own, rated once; its text
    is read where a column has a usual name.
    """
    path = folder / entry.files[0].path
    frame = csv_table(path)
    if absent := [c for c in (system, *entry.aspects) if c not in frame.columns]:
        raise DataError(f"{path}: no column '{absent[0]}'. Columns: {', '.join(frame.columns)}.")
    frame = frame.rename({system: "system"})
    frame = frame.with_columns(pl.int_range(pl.len()).over("system").cast(pl.String).alias("input"))
    scores = numbers(frame, [c for c in _metrics(frame) if not c.startswith("pvi_")])
    notes = ["each row is a separate output, since the table does not name inputs"]
    texts = [pl.col(c).alias("output") for c in OUTPUTS if c in frame.columns][:1]
    return Dataset.of(
        entry.name,
        frame.select(*KEY, *texts),
        ratings=unpivot(frame, {a: a for a in entry.aspects}),
        scores=scores,
        human_systems=entry.human_systems,
        lower=["perplexity"],
        notes=notes,
    )


def _checklist(
    entry: Entry,
    frame: pl.DataFrame,
    texts: dict[str, str],
    human: dict[str, str],
    scores: pl.DataFrame,
    notes: list[str],
    strip: bool = True,
) -> Dataset:
    """Load a table of nimah2023 with the columns `texts` and `human`; several rows per output are its annotators."""
    persons = "rater" in frame.columns
    columns = {c: c for c in human} if human is entry.aspects else human
    outputs = frame.unique(KEY, keep="first", maintain_order=True) if persons else frame
    shown = [(pl.col(c).str.strip_chars() if strip else pl.col(c)).alias(role) for role, c in texts.items()]
    return Dataset.of(
        entry.name,
        outputs.select(*KEY, *shown),
        ratings=unpivot(frame, columns),
        scores=scores,
        persons=persons,
        human_systems=entry.human_systems,
        lower=["perplexity"],
        notes=[entry.notes[0].removesuffix("."), *notes],
    )


def _between(frame: pl.DataFrame, first: str, last: str) -> list[str]:
    return frame.columns[frame.columns.index(first) : frame.columns.index(last) + 1]


def _metrics(frame: pl.DataFrame) -> list[str]:
    kinds = ("bert_", "ctc_", "perplexity", "bleu", "rouge")
    return [c for c in frame.columns if c.endswith(("_met", "_unieval")) or c.startswith(kinds)]


def _numbered(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Number the inputs of tables without input IDs by their texts, in order of appearance."""
    first = frame.with_row_index("input").with_columns(pl.col("input").min().over(columns))
    return first.with_columns((pl.col("input").rank("dense") - 1).cast(pl.String))


def _averaged(frame: pl.DataFrame, metrics: list[str]) -> tuple[pl.DataFrame, str]:
    """Return one value per output; the mean if the rows of its annotators differ slightly."""
    rows = numbers(frame, metrics)
    values = rows.group_by(KEY, maintain_order=True)
    spread = values.agg((pl.col(metrics).max() - pl.col(metrics).min()) > 1e-9 * pl.col(metrics).abs().max())
    differ = spread.select(pl.col(metrics).sum()).row(0, named=True)
    named = ", ".join(f"{c} ({n})" for c, n in differ.items() if n)
    note = f"values that differ between the rows of one output are averaged: {named or 'none'}"
    return means_by(rows, KEY, metrics), note


def uber_topic(folder: Path, entry: Entry) -> Dataset:
    """Load comparisons as inputs, since a text is rated again in every comparison."""
    persons = {f"{topic} slot{k}": f"r{n}" for topic, some in SEATS.items() for k, n in enumerate(some, 1)}
    seat = pl.concat_str("domain", "annotator_slot", separator=" ")
    frame = csv_table(folder / entry.files[0].path).with_columns(seat.replace(persons).alias("rater"))
    sides = pl.concat(
        frame.select(
            pl.col(f"model_{side}").alias("system"),
            pl.col("comparison").alias("input"),
            pl.col(f"text_{side}").str.strip_prefix(START).str.strip_chars().alias("output"),
            pl.col("domain").alias("control"),
            "key",
            "rater",
            pl.col(f"fluency_{side}").cast(pl.Float64).alias("fluency"),
            pl.col("more_relevant").is_in([side.upper(), "both"]).cast(pl.Float64).alias("relevance"),
        )
        for side in "ab"
    )
    notes = [
        "relevance: 1 for the text that was chosen as more relevant, or for both",
        "comparisons: 'both' and 'neither' are ties; the relevance ratings distinguish them",
    ]
    outputs = sides.unique(KEY, keep="first", maintain_order=True).select(*KEY, "output", "control", "key")
    chosen = pl.col("more_relevant").replace_strict({"A": FIRST, "B": SECOND}, default=TIE)
    votes = frame.select(
        pl.col("comparison").alias("input"),
        pl.col("model_a").alias("first"),
        pl.col("model_b").alias("second"),
        pl.lit("relevance").alias("aspect"),
        "rater",
        chosen.alias("preferred"),
    )
    return Dataset.of(
        entry.name,
        outputs,
        ratings=unpivot(sides, {a: a for a in entry.aspects}),
        comparisons=votes,
        persons=True,
        human_systems=(),
        notes=notes,
    )
