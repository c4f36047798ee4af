"""The score tables of nimah2023 (metric preference checklist): one row a rater, metrics beside ratings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.means import means_by
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import csv_table, numbers, unpivot
from nlgauge.papers.catalogue.usr import ASPECTS as USR_ASPECTS
from nlgauge.papers.catalogue.usr import PEOPLE

UNIEVAL_ASPECTS = {
    "understandability": "0–1, mean",
    "naturalness": "1–3, mean",
    "coherence": "1–3, mean",
    "engagingness": "1–3, mean",
    "groundedness": "0–1, mean",
    "overall": "1–5, mean",
}
CTRL_COLUMNS = {"rating": "fluency", "relevance_bin": "relevance"}
CTRL_ASPECTS = {"fluency": "1–5", "relevance": "0–1, chosen of two"}
TOPIC_ASPECTS = dict.fromkeys(("coherence", "consistency", "relevance"), "1–5, mean")
BERTSCORE = (
    "bert_recall* is really BERTScore F1; bert_f1* and bert_precision* are its precision and recall, "
    "in unknown order"
)


def load_usr(folder: Path, which: str) -> Dataset:
    frame = csv_table(folder / "checklist" / f"usr_{which}_chat.csv.gz")
    frame = _numbered(frame, "context", "fact").rename({"model": "system", "annotators": "rater"})
    metrics = frame.columns[
        frame.columns.index("understandability_unieval") : frame.columns.index("relev_met") + 1
    ]
    scores, note = _averaged(frame, metrics)
    first = frame.unique(KEY, keep="first", maintain_order=True)
    long = frame.select(*KEY, "rater", *numbers(frame, USR_ASPECTS)).unpivot(
        index=[*KEY, "rater"], variable_name="aspect", value_name="value"
    )
    return Dataset.of(
        f"checklist-usr-{which[0]}c",
        first.select(
            *KEY,
            pl.col("response").str.strip_chars().alias("output"),
            pl.col("context").str.strip_chars().alias("source"),  # the dialogue so far
            pl.col("fact").str.strip_chars().alias("context"),
        ),
        ratings=long.select(list(Dataset.RATINGS)).drop_nulls("value"),
        scores=scores,
        persons=True,
        people=PEOPLE,
        lower=["perplexity"],
        notes=[BERTSCORE, note],
    )


def load_unieval(folder: Path) -> Dataset:
    frame = csv_table(folder / "checklist" / "unieval_topical_chat.csv.gz")
    frame = _numbered(frame, "source", "context").rename({"system_id": "system"})
    metrics = frame.columns[
        frame.columns.index("understandability_unieval") : frame.columns.index("consist_met") + 1
    ]
    samples = frame.select(
        *KEY,
        pl.col("system_output").str.strip_chars().alias("output"),
        pl.col("source", "context").str.strip_chars(),  # the dialogue so far, and the fact
    )
    return Dataset.of(
        "checklist-unieval-tc",
        samples,
        ratings=unpivot(frame, {a: a for a in UNIEVAL_ASPECTS}),
        scores=frame.select(*KEY, *numbers(frame, metrics)),
        people=PEOPLE,
        lower=["perplexity"],
        notes=[BERTSCORE],
    )


def load_topic(folder: Path) -> Dataset:
    frame = csv_table(folder / "checklist" / "ctrleval_topic.csv.gz").rename({"": "row"}, strict=False)
    frame = frame.with_columns(
        pl.lit("unknown").alias("system"), pl.int_range(pl.len()).cast(pl.String).alias("input")
    )
    metrics = [
        c for c in frame.columns if c.endswith(("_met", "_unieval")) or c.startswith(("bert_", "perplexity"))
    ]
    metrics = [c for c in metrics if not c.startswith("pvi_")]
    samples = frame.select(
        *KEY, "output", pl.col("prefix").alias("source"), pl.col("attribute").alias("control")
    )
    return Dataset.of(
        "checklist-ctrleval-topic",
        samples,
        ratings=unpivot(frame, {a: a for a in TOPIC_ASPECTS}),
        scores=frame.select(*KEY, *numbers(frame, metrics)),
        people=(),
        lower=["perplexity"],
        notes=[
            BERTSCORE,
            "which system wrote a text is not known: all count as one, 'unknown'",
            "columns pvi_* (pointwise information of the ratings) are left aside",
        ],
    )


def load_ctrl(folder: Path) -> Dataset:
    """A text is rated again in every comparison that shows it: the comparison is the input."""
    frame = csv_table(folder / "checklist" / "ctrl_topic.csv.gz").rename(
        {"model": "system", "annotator": "rater"}
    )
    frame = frame.with_columns(pl.concat_str("domain", "key", separator=" ").alias("input"))
    metrics = [
        c
        for c in frame.columns
        if c.endswith(("_met", "_unieval")) or c.startswith(("bert_", "ctc_", "perplexity"))
    ]
    scores, note = _averaged(frame, metrics)
    first = frame.unique(KEY, keep="first", maintain_order=True)
    long = frame.select(*KEY, "rater", *numbers(frame, CTRL_COLUMNS)).rename(CTRL_COLUMNS)
    return Dataset.of(
        "ctrl-topic",
        first.select(
            *KEY,
            pl.col("text").alias("output"),
            pl.col("prefix").alias("source"),
            pl.col("attribute").alias("control"),
        ),
        ratings=long.unpivot(index=[*KEY, "rater"], variable_name="aspect", value_name="value")
        .select(list(Dataset.RATINGS))
        .drop_nulls("value"),
        scores=scores,
        persons=True,
        people=(),
        lower=["perplexity"],
        notes=[BERTSCORE, note, "relevance: 1 for the text that the rater chose as more relevant, or both"],
    )


def _numbered(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Inputs have no number in these tables: the same texts are the same input, numbered as they come."""
    first = frame.with_row_index("input").with_columns(pl.col("input").min().over(columns))
    return first.with_columns((pl.col("input").rank("dense") - 1).cast(pl.String))


def _averaged(frame: pl.DataFrame, metrics: list[str]) -> tuple[pl.DataFrame, str]:
    """One value an output; where the rows of its raters differ a little, their mean."""
    rows = frame.select(*KEY, *numbers(frame, metrics))
    values = rows.group_by(KEY, maintain_order=True)
    spread = values.agg((pl.col(metrics).max() - pl.col(metrics).min()) > 1e-9 * pl.col(metrics).abs().max())
    differ = spread.select(pl.col(metrics).sum()).row(0, named=True)
    named = ", ".join(f"{c} ({n})" for c, n in differ.items() if n)
    note = f"values that differ between the rows of one output are averaged: {named or 'none'}"
    return means_by(rows, KEY, metrics), note


def _entry(name: str, *, title: str, file: File, **facts: Any) -> Entry:
    table = Path(file.path).name.removesuffix(".gz")
    return Entry(
        name=name,
        title=f"Checklist table, {title}",
        licence="MIT",
        cite="nimah-etal-2023-nlg",
        reference="Ni'mah, Fang, Menkovski, Pechenizkiy (2023). NLG Evaluation Metrics Beyond "
        "Correlation Analysis: An Empirical Metric Preference Checklist. ACL.",
        origins=(Origin("inimah/metric-preference-checklist", "490d587", f"data/{table}"),),
        papers=("nimah2023",),
        files=(file,),
        notes=(BERTSCORE + ".",),
        **facts,
    )


ROWS = "CSV, gzipped here, rater names replaced: one row a rater with "
ENTRIES = (
    _entry(
        "checklist-usr-pc",
        title="USR-PC (Persona-Chat)",
        task="dialogue",
        aspects=USR_ASPECTS,
        shape="5 systems (2 of them people) × 60 contexts; 900 rows",
        raters="3 an output, of 4 persons",
        file=File(
            "checklist/usr_persona_chat.csv.gz",
            95167,
            "342c742ed9394aafe837fadd344f115419a1fff332a3c1b55eae4baa4db75ae9",
            ROWS + "fact, context, annotators, response, model, aspects, 30 metrics",
        ),
        people=PEOPLE,
        loader=partial(load_usr, which="persona"),
    ),
    _entry(
        "checklist-usr-tc",
        title="USR-TC (Topical-Chat)",
        task="dialogue",
        aspects=USR_ASPECTS,
        shape="6 systems (2 of them people) × 60 contexts; 1,080 rows",
        raters="3 an output, of 5 persons",
        file=File(
            "checklist/usr_topical_chat.csv.gz",
            148616,
            "9eafc0fa03a17a578ca07491a85965dbee3dd0811f5b1b3137775f1b7f8e425d",
            ROWS + "fact, context, annotators, response, model, aspects, 30 metrics",
        ),
        people=PEOPLE,
        loader=partial(load_usr, which="topical"),
    ),
    _entry(
        "checklist-unieval-tc",
        title="UniEval-TC (Topical-Chat)",
        task="dialogue",
        aspects=UNIEVAL_ASPECTS,
        shape="6 systems (2 of them people) × 60 contexts",
        raters="means over raters",
        file=File(
            "checklist/unieval_topical_chat.csv.gz",
            122484,
            "2dbf16fba80c59da17ebe9a2ae2b643b45a962ca2e417c38d360597ca4374165",
            "CSV, gzipped here: source, system_id, system_output, context, aspects, 29 metrics",
        ),
        people=PEOPLE,
        missing="Single ratings (see checklist-usr-tc).",
        loader=load_unieval,
    ),
    _entry(
        "checklist-ctrleval-topic",
        title="CtrlEval-Topic",
        task="controlled generation",
        aspects=TOPIC_ASPECTS,
        shape="960 texts",
        raters="means over raters",
        file=File(
            "checklist/ctrleval_topic.csv.gz",
            339224,
            "53a4a3523499d14c96305e63c7bd4845941140ee9cd06793cb1be4ccacec8701",
            "CSV, gzipped here: attribute, prefix, output, coherence, consistency, relevance, 12 metrics",
        ),
        missing="Single ratings, system names.",
        loader=load_topic,
    ),
    _entry(
        "ctrl-topic",
        title="CTRL-Topic (CTRL, PPLM and weighted decoding beside each other)",
        task="controlled generation",
        aspects=CTRL_ASPECTS,
        shape="3 systems, 520 comparisons of two; 3,120 rows",
        raters="3 persons an output",
        file=File(
            "checklist/ctrl_topic.csv.gz",
            370087,
            "13724b715e5c60c4a69fe4eadbc712fd945c0cc3ff5d3062d77dee527afa0f52",
            ROWS
            + "text, domain, key, model, annotator, rating, relevance_bin, prefix, attribute, 18 metrics",
        ),
        missing="BLEU and ROUGE: the authors' table has none.",
        loader=load_ctrl,
    ),
)
