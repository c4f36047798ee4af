"""CTRLEval: controlled generation by sentiment and by topic; which system wrote a text is not published."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import ratings, records, scores

ASPECTS = ("coherence", "consistency", "attribute_relevance")
NAMELESS = "the four systems are not told apart in the release: all texts count as one system, 'unknown'"


def load(folder: Path, which: str) -> Dataset:
    rows = records(folder / "ctrleval" / f"ctrleval_{which}.jsonl")
    samples = pl.DataFrame(
        {
            "system": ["unknown"] * len(rows),
            "input": [str(r["row"]) for r in rows],
            "output": [r["text"] for r in rows],
            "source": [r["prefix"] for r in rows],
            "control": [r["attribute"] for r in rows],
        }
    )
    long = ratings(
        ("unknown", str(r["row"]), aspect, None, r["human"][aspect]) for r in rows for aspect in ASPECTS
    )
    notes = [NAMELESS]
    if which == "topic":
        notes.append(
            "bert_recall is really BERTScore F1; bert_f1 and bert_precision are P and R in unknown order"
        )
    table = scores(samples, [r.get("metrics") for r in rows])
    lower = [c for c in table.columns if c == "perplexity"]
    return Dataset.of(
        f"ctrleval-{which}", samples, ratings=long, scores=table, people=(), lower=lower, notes=notes
    )


def _entry(which: str, *, origins: tuple[Origin, ...] = (), file: File, **facts: Any) -> Entry:
    return Entry(
        name=f"ctrleval-{which}",
        title=f"CTRLEval, {which}",
        task="controlled generation",
        aspects=dict.fromkeys(ASPECTS, "1–5, mean"),
        raters="means of raters",
        licence="none stated (CTRLEval), MIT (metric scores)",
        cite="ke-etal-2022-ctrleval",
        reference="Ke, Zhou, Lin, Li, Zhou, Zhu, Huang (2022). CTRLEval: An Unsupervised Reference-Free "
        "Metric for Evaluating Controlled Text Generation. ACL.",
        origins=(Origin("thu-coai/CTRLEval", "33639da", f"data/data_{which}.txt"), *origins),
        files=(file,),
        notes=(NAMELESS[0].upper() + NAMELESS[1:] + ".",),
        loader=partial(load, which=which),
        **facts,
    )


ENTRIES = (
    _entry(
        "senti",
        shape="360 texts: 2 sentiments × 15 beginnings × 12",
        file=File(
            "ctrleval/ctrleval_senti.jsonl",
            161245,
            "fda2446e5aaf884e23bb54a4a1871131b779188c95e4b0cfa4d9a4b48f8ea009",
            "JSONL: row, attribute, prefix, text, human{}",
        ),
        missing="Single ratings, system names, metric scores.",
    ),
    _entry(
        "topic",
        shape="960 texts: 4 topics × 20 beginnings × 12",
        papers=("nimah2023",),
        origins=(Origin("inimah/metric-preference-checklist", "490d587", "data/ctrleval_topic.csv"),),
        file=File(
            "ctrleval/ctrleval_topic.jsonl",
            895381,
            "f5e248c9f2261d082ac966d1e10816448ab38293d5555a6c432b6c5810442e11",
            "JSONL: row, attribute, prefix, text, human{}, metrics{12}",
        ),
        missing="Single ratings, system names.",
    ),
)
