"""WMT: the metrics task of 2023 with all submitted metrics, and average MQM per segment of 2020, 2021 and TED."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers.mqm import Mqm
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import numbers, parquet_table, records, samples, unpivot
from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean

# Computed by a program (the spans shown to the annotators of ESA-AI), and therefore a metric.
MACHINE = "human.LLM"
# The file of error spans names the references differently than the file of averages.
REFERENCES = {"ref": "ref-A", "refB": "ref-B"}


def metrics_task(folder: Path, entry: Entry, domain: str | None = None) -> Dataset:
    """Load a language pair; `domain` selects one part, such as 'news' in gao2025."""
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
        human_systems=entry.human_systems,
        notes=["a cell without a rating was not annotated", "references are refA, as for the '-refA' metrics"],
    )


def mqm(folder: Path, entry: Entry) -> Dataset:
    """Load MQM as minus the weighted errors: higher is better; segments without annotations have no rating."""
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
        # One annotator per segment: the average is the score of that annotator.
        ratings, spans = _rekeyed(errors.ratings), _rekeyed(errors.spans)
        notes += [*errors.notes, f"{samples['output'].null_count()} outputs without a rating have no text"]
    elif marked is not None:
        notes.append(f"{marked.name} is missing: no texts and no annotators")
    return Dataset.of(
        entry.name,
        samples,
        ratings=ratings,
        spans=spans,
        persons=by_rater,
        human_systems=averages.human_systems,
        notes=notes,
    )


def _rekeyed(frame: pl.DataFrame) -> pl.DataFrame:
    """Rename inputs as in the averages, which number the segments of all documents."""
    return frame.with_columns(pl.col("system").replace(REFERENCES), pl.col("input").str.split(":").list.last())
