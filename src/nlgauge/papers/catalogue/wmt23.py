"""WMT23 metrics task: MQM and DA+SQM for English–German and Chinese–English, with all submitted metrics."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.files import read_bytes
from nlgauge.errors import NameUnknown
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import numbers, records, unpivot
from nlgauge.registry import did_you_mean

PEOPLE = ("refA", "synthetic_ref")
# Made by a machine (the spans that annotators of ESA-AI were shown), so a metric and no judgement of people.
MACHINE = "human.LLM"


def load(folder: Path, pair: str, domain: str | None = None) -> Dataset:
    """`domain` keeps one part, e.g. 'news' as in gao2025; see the columns `domain` and `doc`."""
    home = folder / "wmt23_metrics"
    frame = pl.read_parquet(io.BytesIO(read_bytes(home / f"wmt23_{pair}_segment.parquet")))
    inputs = _inputs(home / f"wmt23_{pair}_inputs.jsonl.gz")
    frame = frame.with_columns(pl.col("seg").cast(pl.String).alias("input")).join(
        inputs, on="input", how="left"
    )
    if domain is not None:
        domains = inputs["domain"].unique(maintain_order=True).to_list()
        if domain not in domains:
            hint = did_you_mean(domain, domains)
            raise NameUnknown(f"wmt23-{pair}: no domain '{domain}'.{hint} Domains: {', '.join(domains)}.")
        frame = frame.filter(pl.col("domain") == domain)
    frame = frame.rename({MACHINE: "metric.LLM"} if MACHINE in frame.columns else {})
    human = {c: c.removeprefix("human.") for c in frame.columns if c.startswith("human.")}
    metrics = {c: c.removeprefix("metric.") for c in frame.columns if c.startswith("metric.")}
    return Dataset.of(
        f"wmt23-{pair}" + (f": {domain}" if domain else ""),
        frame.select(
            *KEY, pl.col("output").str.strip_prefix("\ufeff"), "source", "references", "domain", "doc"
        ),
        ratings=unpivot(frame, human),
        scores=frame.select(*KEY, *numbers(frame, metrics)).rename(metrics),
        people=PEOPLE,
        notes=[
            "a cell without a rating was not annotated",
            "references hold refA, which the '-refA' metrics were given",
        ],
    )


def _inputs(path: Path) -> pl.DataFrame:
    rows = records(path)
    return pl.DataFrame(
        {
            "input": [str(r["seg"]) for r in rows],
            "source": [r["source"] for r in rows],
            "references": [[r["refs"]["refA"]] for r in rows],
            "domain": [r["doc"][0] for r in rows],
            "doc": [r["doc"][1] for r in rows],
        }
    )


def _entry(pair: str, *, title: str, **facts: Any) -> Entry:
    return Entry(
        name=f"wmt23-{pair}",
        title=f"WMT23 metrics task, {title}",
        task="machine translation",
        raters="one value a segment and campaign (experts for MQM); raters are not told apart here",
        licence="GPL-3.0 (ErrorSpanAnnotation); the data come from mt-metrics-eval (Apache-2.0) and WMT23",
        cite="freitag-etal-2023-results",
        reference="Freitag, Mathur, Lo, Avramidis, Rei, Thompson, Kocmi, Blain, Deutsch, Stewart, Zerva, "
        "Castilho, Lavie, Foster (2023). Results of WMT23 Metrics Shared Task. WMT.",
        origins=(
            Origin("wmt-conference/ErrorSpanAnnotation", "e7f88b5", "data/mt-metrics-eval-v2/wmt23/"),
            Origin(
                "wmt-conference/ErrorSpanAnnotation", "e7f88b5", "data/campaign-ruction-rc5/en-de.*.seg.score"
            ),
        ),
        people=PEOPLE,
        missing="Error spans of the single raters, and the scores against synthetic_ref (both are in "
        "the origin).",
        notes=(
            "Scores of whole systems stand in *_system_scores.csv (kind, name, system, score); the "
            "loader leaves them.",
        ),
        loader=partial(load, pair=pair),
        **facts,
    )


SEGMENTS = "Parquet: system, seg, output, human.*, metric.*"
INPUTS = "JSONL: seg, source, refs{refA, synthetic_ref}, doc[domain, name]"
SYSTEMS = "CSV: kind, name, system, score (not read by the loader)"
MQM = {"mqm": "≤ 0, minus the weighted errors", "da-sqm": "0–100"}
ESA = {
    name: "0–100" if name.startswith("ESA") else "≤ 0, minus the weighted errors"
    for name in ("ESA-1", "ESA-2", "MQM-1", "ESAAI-1", "ESAAI-2", "ESA-IAA", "MQM-IAA")
}
ENTRIES = (
    _entry(
        "en-de",
        title="English–German",
        aspects=MQM | ESA,
        shape="14 systems (2 of them references) × 557 segments",
        files=(
            File(
                "wmt23_metrics/wmt23_en-de_segment.parquet",
                2630418,
                "e6ad40a1fdc79bdd7bbc7477284dcc46ec44d07683381e14876aed652a5ce203",
                SEGMENTS,
            ),
            File(
                "wmt23_metrics/wmt23_en-de_inputs.jsonl.gz",
                209372,
                "d3be1fc79c7c894cef0121478936951d1521be441c0f72ee6797428e6ee0b4db",
                INPUTS,
            ),
            File(
                "wmt23_metrics/wmt23_en-de_system_scores.csv",
                53104,
                "606a25bdcd3d356a9afb2c36f5d67fff1db5b5c21d85b1b2f2615f108510ded3",
                SYSTEMS,
                extra=True,
            ),
        ),
    ),
    _entry(
        "zh-en",
        title="Chinese–English",
        aspects=MQM,
        shape="17 systems (2 of them references) × 1,976 segments",
        papers=("gao2025",),
        files=(
            File(
                "wmt23_metrics/wmt23_zh-en_segment.parquet",
                7377988,
                "3732e29b816849e595996e07dc6af8eb1ee354d5d9c6b8da4098755120669126",
                SEGMENTS,
            ),
            File(
                "wmt23_metrics/wmt23_zh-en_inputs.jsonl.gz",
                302659,
                "9ba32e5332ede57a475dc149049e89fbdf8f1c31ba3cf993d6ecfc247b787e10",
                INPUTS,
            ),
            File(
                "wmt23_metrics/wmt23_zh-en_system_scores.csv",
                64905,
                "0cb7b0bdcd3daa30efaa2e4d656beb13e7965c6007f7ffedb81d79fe13bf76a1",
                SYSTEMS,
                extra=True,
            ),
        ),
    ),
)
