"""PPLM (UBER-Topic of nimah2023): two texts on a topic side by side, which is more relevant, how fluent is each."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import csv_table

SIDES = {"a": "A", "b": "B"}
START = "<|endoftext|>"


def load(folder: Path) -> Dataset:
    """A text is rated again in every comparison that shows it: the comparison is the input."""
    frame = csv_table(folder / "pplm_topic" / "uber_topic_comparisons.csv.gz")
    sides = pl.concat(
        frame.select(
            pl.col(f"model_{side}").alias("system"),
            pl.col("comparison").alias("input"),
            pl.col(f"text_{side}").str.strip_prefix(START).str.strip_chars().alias("output"),
            pl.col("domain").alias("control"),
            pl.col("annotator_slot").alias("rater"),
            pl.col(f"fluency_{side}").cast(pl.Float64).alias("fluency"),
            pl.col("more_relevant").is_in([name, "both"]).cast(pl.Float64).alias("relevance"),
        )
        for side, name in SIDES.items()
    )
    long = sides.unpivot(
        ["fluency", "relevance"], index=[*KEY, "rater"], variable_name="aspect", value_name="value"
    )
    return Dataset.of(
        "uber-topic",
        sides.unique(KEY, keep="first", maintain_order=True).select(*KEY, "output", "control"),
        ratings=long.select(list(Dataset.RATINGS)).drop_nulls("value"),
        people=(),
        notes=[
            "relevance: 1 for the text that was chosen as more relevant, or both",
            "slot1 to slot3 are places in the table; who sat there changes from topic to topic",
        ],
    )


ENTRIES = (
    Entry(
        name="uber-topic",
        title="UBER-PPLM, topic control (UBER-Topic)",
        task="controlled generation",
        aspects={"fluency": "1–5", "relevance": "0–1, chosen of two"},
        raters="3 places a comparison, not persons",
        licence="Apache-2.0",
        cite="dathathri-etal-2020-plug",
        reference="Dathathri, Madotto, Lan, Hung, Frank, Molino, Yosinski, Liu (2020). Plug and Play "
        "Language Models: A Simple Approach to Controlled Text Generation. ICLR.",
        origins=(
            Origin("uber-research/PPLM", "f365d3e14e26be8c5cbc38076b2e5ab26606a3aa", "human_annotation/"),
        ),
        papers=("nimah2023",),
        shape="4 systems, 2,438 comparisons of two; 14,626 fluency ratings",
        files=(
            File(
                "pplm_topic/uber_topic_comparisons.csv.gz",
                786164,
                "c331d3212bdecd9c871dd87d8113e868807b22ed3f236936b4432cc49541f2c9",
                "CSV: domain, comparison, key, model_a, model_b, text_a, text_b, annotator_slot, "
                "more_relevant (A, B, both, neither), fluency_a, fluency_b",
            ),
        ),
        missing="Metric scores: the authors of nimah2023 released none for this set.",
        loader=load,
    ),
)
