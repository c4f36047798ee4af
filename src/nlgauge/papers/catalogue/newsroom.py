"""Newsroom: 7 summarisers on 60 articles, three crowd ratings on four aspects."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import ratings, records

ASPECTS = ("Informativeness", "Relevance", "Fluency", "Coherence")


def load(folder: Path) -> Dataset:
    rows = records(folder / "newsroom" / "newsroom_outputs_ratings.jsonl")
    articles = {a["article_id"]: a for a in records(folder / "newsroom" / "newsroom_articles.jsonl.gz")}
    samples = pl.DataFrame(
        {
            "system": [r["system"] for r in rows],
            "input": [r["article_id"] for r in rows],
            "output": [r["system_summary"] for r in rows],
            "source": [articles[r["article_id"]]["src"] for r in rows],
            "references": [[articles[r["article_id"]]["ref_summ"]] for r in rows],
        }
    )
    long = ratings(
        (r["system"], r["article_id"], aspect, str(k), value)
        for r in rows
        for aspect in ASPECTS
        for k, value in enumerate(r["ratings"][aspect], 1)
    )
    guessed = sum(not r["text_match"] for r in rows)
    notes = [
        "raters have no names: 1, 2, 3 are places in the file, not persons",
        f"{guessed} of {len(rows)} outputs got its system by elimination, the others by text and means",
    ]
    return Dataset.of("newsroom", samples, ratings=long, people=(), notes=notes)


ENTRIES = (
    Entry(
        name="newsroom",
        title="Newsroom human evaluation",
        task="summarisation",
        aspects=dict.fromkeys(ASPECTS, "1–5"),
        raters="3 crowd ratings an output, without names",
        licence="Apache-2.0 (Newsroom), none stated (JUDGE-BENCH), Apache-2.0 (BARTScore)",
        cite="grusky-etal-2018-newsroom",
        reference="Grusky, Naaman, Artzi (2018). Newsroom: A Dataset of 1.3 Million Summaries with "
        "Diverse Extractive Strategies. NAACL.",
        origins=(
            Origin("dmg-illc/JUDGE-BENCH", "5a0bf50", "data/newsroom/newsroom.json"),
            Origin("neulab/BARTScore", "248f511", "SUM/Newsroom/data.pkl"),
        ),
        papers=("nimah2023",),
        shape="7 systems × 60 articles",
        files=(
            File(
                "newsroom/newsroom_outputs_ratings.jsonl",
                206810,
                "76512444526f512ac5b4c48f706564f0adedfc510bfa4b3106d60535be7cc47c",
                "JSONL: article_id, system, system_summary, ratings{aspect: [3]}, text_match",
            ),
            File(
                "newsroom/newsroom_articles.jsonl.gz",
                104108,
                "ec194defc9d2ca86743ba9d200bf09e0a35a47245e65438140a5524c93671faf",
                "JSONL: article_id, src, ref_summ",
            ),
        ),
        missing="Metric scores; rater names.",
        loader=load,
    ),
)
