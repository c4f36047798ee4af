"""WebNLG+ 2020: English and Russian verbalisations of triples, five aspects on a slider from 0 to 100."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import Rating, ratings, records

ASPECTS = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
PEOPLE = ("WebNLG-2020-reference",)


def load(folder: Path, language: str) -> Dataset:
    rows = records(folder / "webnlg2020" / f"webnlg2020_{language}.jsonl")
    samples = pl.DataFrame(
        {
            "system": [r["system"] for r in rows],
            "input": [str(r["sample_id"]) for r in rows],
            "output": pl.Series([r["text"] for r in rows], dtype=pl.String),
            "source": pl.Series([_triples(r["triples"]) for r in rows], dtype=pl.String),
            "category": [r["category"] for r in rows],
            "domain": pl.Series([r["domain"] for r in rows], dtype=pl.String),
            "size": [int(r["size"]) for r in rows],
        }
    )
    long: list[Rating] = [
        (r["system"], str(r["sample_id"]), aspect, given["worker"], given[aspect])
        for r in rows
        for given in r["ratings"]
        for aspect in ASPECTS
    ]
    if language == "ru":  # here the release averages standardised ratings, so its means say something more
        long += [
            (r["system"], str(r["sample_id"]), f"{aspect} (z)", None, r["released_mean"][aspect])
            for r in rows
            for aspect in ASPECTS
        ]
    notes = [f"{samples['output'].null_count()} of {len(samples)} outputs have no text"]
    return Dataset.of(
        f"webnlg2020-{language}", samples, ratings=ratings(long), persons=True, people=PEOPLE, notes=notes
    )


def _triples(triples: list[list[Any]] | None) -> str | None:
    return None if triples is None else "\n".join(" | ".join(map(str, triple)) for triple in triples)


def _entry(language: str, *, title: str, file: File, **facts: Any) -> Entry:
    z = {f"{a} (z)": "mean z-score" for a in ASPECTS} if language == "ru" else {}
    return Entry(
        name=f"webnlg2020-{language}",
        title=f"WebNLG+ 2020 human evaluation, {title}",
        task="data-to-text",
        aspects=dict.fromkeys(ASPECTS, "0–100") | z,
        licence="none in the repository (a third party states CC BY-NC-SA 4.0)",
        cite="castro-ferreira-etal-2020-2020",
        reference="Castro Ferreira, Gardent, Ilinykh, van der Lee, Mille, Moussallem, Shimorina (2020). "
        "The 2020 Bilingual, Bi-Directional WebNLG+ Shared Task: Overview and Evaluation Results. "
        "WebNLG+.",
        origins=(
            Origin(
                "WebNLG/challenge-2020",
                "328b4c2",
                "evaluation/human-evaluation/results/, submissions/rdf2text/",
            ),
        ),
        people=PEOPLE,
        files=(file,),
        loader=partial(load, language=language),
        **facts,
    )


ROWS = (
    "JSONL: system, sample_id, size, domain, category, triples[], text, released_mean{}, "
    "ratings[{worker, five aspects}]"
)
ENTRIES = (
    _entry(
        "en",
        title="English",
        papers=("gao2025",),
        shape="17 systems (1 of them people) × 178 inputs, one cell missing",
        raters="1 to 3 of 88 workers",
        file=File(
            "webnlg2020/webnlg2020_en.jsonl",
            2902422,
            "ff0651101820f55e3288f8152a8207f6629df2e059270d5d8cb7e8d0a87124c9",
            ROWS,
        ),
        missing="References, and the text of WebNLG-2020-reference; metric scores; one output of "
        "Baseline-FORGE2020.",
    ),
    _entry(
        "ru",
        title="Russian",
        shape="8 systems (1 of them people) × 110 inputs",
        raters="3 of 36 workers",
        file=File(
            "webnlg2020/webnlg2020_ru.jsonl",
            635315,
            "4bcfc59874636b100cf10e6e58713aaff33918fd03e6de500fed9990afc04bde",
            ROWS,
        ),
        missing="All texts: which line of a submission belongs to which input is not known; references, "
        "triples, metric scores.",
    ),
)
