"""OpenMEVA's MANS-ROC: stories of 5 systems for 200 beginnings, with 19 metrics."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import ratings, records, scores


def load(folder: Path) -> Dataset:
    rows = records(folder / "openmeva" / "openmeva_roc.jsonl")
    samples = pl.DataFrame(
        {
            "system": [r["system"] for r in rows],
            "input": [str(r["doc_id"]) for r in rows],
            "output": [r["text"] for r in rows],
            "source": [r["prompt"] for r in rows],
            "references": [[r["reference"]] for r in rows],
        }
    )
    long = ratings((r["system"], str(r["doc_id"]), "overall", None, r["human"]) for r in rows)
    table = scores(samples, [r["metrics"] for r in rows])
    return Dataset.of(
        "openmeva",
        samples,
        ratings=long,
        scores=table,
        people=(),
        lower=["fwppl"],
        notes=["ratings are means; the single ratings are not there"],
    )


ENTRIES = (
    Entry(
        name="openmeva",
        title="OpenMEVA, MANS-ROC",
        task="story generation",
        aspects={"overall": "1–5, mean"},
        raters="mean of 5 crowd raters an output",
        licence="none stated",
        cite="guan-etal-2021-openmeva",
        reference="Guan, Zhang, Feng, Liu, Ding, Mao, Fan, Huang (2021). OpenMEVA: A Benchmark for "
        "Evaluating Open-ended Story Generation Metrics. ACL.",
        origins=(Origin("krystalan/chatgpt_as_nlg_evaluator", "982e786", "data/openmeva.json"),),
        papers=("gao2025",),
        shape="5 systems × 200 beginnings",
        files=(
            File(
                "openmeva/openmeva_roc.jsonl",
                1089471,
                "8744e276f13cf1bd932fe3edcb636a126ad3b054e306c17a35dc89840b439586",
                "JSONL: doc_id, prompt, reference, system, text, human, metrics{19}",
            ),
        ),
        missing="Single ratings; the second half, MANS-WP.",
        loader=load,
    ),
)
