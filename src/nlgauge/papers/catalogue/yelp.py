"""Yelp sentiment transfer: 12 systems on 244 sentences, three aspects and 22 metrics."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import Rating, ratings, records, scores

OTHER = {"negative": "positive", "positive": "negative"}
ASPECTS = {
    "content preservation": "1–5, mean",
    "style transfer intensity": "1–5, mean",
    "naturalness": "1–5, mean",
}


def load(folder: Path) -> Dataset:
    rows = records(folder / "yelp_style_transfer" / "yelp_style_transfer.jsonl")
    natural = [r["human_naturalness"] or {} for r in rows]
    samples = pl.DataFrame(
        {
            "system": [r["system"] for r in rows],
            "input": [str(r["i"]) for r in rows],
            "output": [r["output"] for r in rows],
            "source": [r["source"] for r in rows],
            "control": [OTHER[r["source_style"]] for r in rows],
            "source_style": [r["source_style"] for r in rows],
            "naturalness_relative": pl.Series([n.get("relative") for n in natural], dtype=pl.String),
        }
    )
    long: list[Rating] = []
    for r, n in zip(rows, natural, strict=True):
        values = (r["human_content_preservation"], r["human_style_transfer_intensity"], n.get("absolute"))
        long += [
            (r["system"], str(r["i"]), aspect, None, v) for aspect, v in zip(ASPECTS, values, strict=True)
        ]
    table = scores(samples, [r["metrics"] for r in rows])
    lower = [c for c in table.columns if c.endswith(".WMD")]
    notes = ["ratings are means; naturalness was not rated for DAR_gamma_0_1, DAR_gamma_1 and DAR_gamma_500"]
    return Dataset.of(
        "yelp", samples, ratings=ratings(long), scores=table, people=(), lower=lower, notes=notes
    )


ENTRIES = (
    Entry(
        name="yelp",
        title="Yelp style transfer",
        task="style transfer",
        aspects=ASPECTS,
        raters="means of crowd raters",
        licence="none stated",
        cite="mir-etal-2019-evaluating",
        reference="Mir, Felbo, Obradovich, Rahwan (2019). Evaluating Style Transfer for Text. NAACL.",
        origins=(Origin("passeul/style-transfer-model-evaluation", "4ca376d"),),
        papers=("deng2021",),
        shape="12 systems × 244 sentences",
        files=(
            File(
                "yelp_style_transfer/yelp_style_transfer.jsonl",
                3916059,
                "2e14c8eba0123bbfcb5fb93079b5330e24394636445d78d9cddf5c1df7c09ed3",
                "JSONL: system, i, source, source_style, output, human_content_preservation, "
                "human_style_transfer_intensity, human_naturalness{relative, absolute} or null, metrics{22}",
            ),
        ),
        missing="Single ratings; naturalness of three DAR systems. deng2021 counts 8,784 = 3 × 2,928 "
        "ratings.",
        notes=(
            "'naturalness_relative' says which of source and output was found more natural, as the "
            "release codes it.",
        ),
        loader=load,
    ),
)
