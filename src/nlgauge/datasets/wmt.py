"""WMT: the metrics task of 2023 with all submitted metrics, and average MQM a segment of 2020, 2021 and TED."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers.mqm import Mqm
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import numbers, parquet_table, records, samples, unpivot
from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean

# Made by a machine (the spans that annotators of ESA-AI were shown), so a metric and no judgement of people.
MACHINE = "human.LLM"
# The file of marked errors calls the references otherwise than the averages do.
REFERENCES = {"ref": "ref-A", "refB": "ref-B"}


def metrics_task(folder: Path, entry: Entry, domain: str | None = None) -> Dataset:
    """`domain` keeps one part, e.g. 'news' as in gao2025; see the columns `domain` and `doc`."""
    segments, texts = (folder / f.path for f in entry.needed)
    frame = parquet_table(segments)
    inputs = samples(
        records(texts),
        input="seg",
        source="source",
        references=lambda r: [r["refs"]["refA"]],
        domain=lambda r: r["doc"][0],
        doc=lambda r: r["doc"][1],
    )
    frame = frame.with_columns(pl.col("seg").cast(pl.String).alias("input")).join(inputs, on="input", how="left")
    if domain is not None:
        domains = inputs["domain"].unique(maintain_order=True).to_list()
        if domain not in domains:
            hint = did_you_mean(domain, domains)
            raise NameUnknown(f"{entry.name}: no domain '{domain}'.{hint} Domains: {', '.join(domains)}.")
        frame = frame.filter(pl.col("domain") == domain)
    frame = frame.rename({MACHINE: "metric.LLM"} if MACHINE in frame.columns else {})
    human = {c: c.removeprefix("human.") for c in frame.columns if c.startswith("human.")}
    metrics = {c: c.removeprefix("metric.") for c in frame.columns if c.startswith("metric.")}
    return Dataset.of(
        entry.name + (f": {domain}" if domain else ""),
        frame.select(*KEY, pl.col("output").str.strip_prefix("\ufeff"), "source", "references", "domain", "doc"),
        ratings=unpivot(frame, human),
        scores=numbers(frame, metrics).rename(metrics),
        people=entry.people,
        notes=[
            "a cell without a rating was not annotated",
            "references hold refA, which the '-refA' metrics were given",
        ],
    )


def mqm(folder: Path, entry: Entry) -> Dataset:
    """MQM is minus the weighted errors, so more is better; a segment that nobody rated has no rating."""
    averages = Mqm.read(folder / entry.files[0].path)
    samples, ratings, notes = averages.samples, averages.ratings, list(averages.notes)
    spans = None
    if unrated := samples.height - ratings.height:
        notes.append(f"{unrated} of {samples.height} outputs were not rated")
    marked = folder / entry.files[1].path if len(entry.files) > 1 else None
    if by_rater := marked is not None and marked.is_file():
        errors = Mqm.read(marked)
        texts = _rekeyed(errors.samples).select(*KEY, "output", "source", pl.col("document").alias("doc"))
        samples = samples.join(texts, on=KEY, how="left", maintain_order="left")
        # One rater a segment: the average is that rater's score, so naming the rater loses nothing.
        ratings, spans = _rekeyed(errors.ratings), _rekeyed(errors.spans)
        notes += [*errors.notes, f"{samples['output'].null_count()} outputs without a rating have no text"]
    elif marked is not None:
        notes.append(f"{marked.name} is not there: no texts and no raters")
    return Dataset.of(
        entry.name, samples, ratings=ratings, spans=spans, persons=by_rater, people=averages.people, notes=notes
    )


def _rekeyed(frame: pl.DataFrame) -> pl.DataFrame:
    """With the averages' names: their segments are numbered through, without the document."""
    return frame.with_columns(pl.col("system").replace(REFERENCES), pl.col("input").str.split(":").list.last())
