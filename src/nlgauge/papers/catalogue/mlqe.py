"""MLQE-PE: direct assessments of machine translation for seven language pairs, one system each."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import Rating, Record, ratings, records, scores

ASPECTS = {"da": "0–100", "da (z)": "z-score of the rater"}
FILES = {
    "en-de": (263944, "43822bf428f23b5e81401cdec2ebeef66da69c678b95c6aa25b48b9b64d8ef8b"),
    "en-zh": (297971, "ed8587d5f17fe38f6e6b29784dd457797b54613457f23bf5a3aaa0d6cbefc7e7"),
    "et-en": (285379, "35babeb2495a20649c97b71119630041d93164d4a9f0858c91bb904588e76df6"),
    "ne-en": (316101, "57b91f86be1117c7f276607e2cbe8ca42fb9f9a2c74594b494316e4d853ebb32"),
    "ro-en": (279555, "5d60b4ee1deecebd589b04b3032bbdb73efc987a686b4748f3bd9a4bcf5eaa61"),
    "ru-en": (258990, "cd7e998a9e5bf342cb9a60b6ab3f2eea4040a3bfc5558a0b6b0a0837c4a13ea9"),
    "si-en": (321465, "802f214424c49e060413808c53ec4606463b52d8374929be047179ac4f96d0bd"),
}


def load(folder: Path, pairs: tuple[str, ...]) -> Dataset:
    """The language pair is the system, as in colombo2023: pairs share the numbers of inputs, not the texts."""
    rows: list[tuple[str, str, Record]] = []
    for pair in pairs:
        found = records(folder / "mlqe_pe" / f"mlqe_da_test_{pair}.jsonl.gz")
        rows += [(pair, str(number), r) for number, r in enumerate(found)]
    samples = pl.DataFrame(
        {
            "system": [pair for pair, _, _ in rows],
            "input": [number for _, number, _ in rows],
            "output": [r["translation"] for _, _, r in rows],
            "source": [r["original"] for _, _, r in rows],
            "index": [r["index"] for _, _, r in rows],
        }
    )
    long: list[Rating] = []
    for pair, number, r in rows:
        long += [(pair, number, "da", str(k), v) for k, v in enumerate(r["scores"], 1)]
        long += [(pair, number, "da (z)", str(k), v) for k, v in enumerate(r["z_scores"], 1)]
    notes = [
        "raters are places in the file, not known persons",
        "model_scores is the translation model's own log-probability",
    ]
    if len(pairs) > 1:
        notes.append("the system is the language pair: an input number means another text in each pair")
    return Dataset.of(
        "mlqe" if len(pairs) > 1 else f"mlqe-{pairs[0]}",
        samples,
        ratings=ratings(long),
        scores=scores(samples, [r["metrics"] | {"model_scores": r["model_scores"]} for _, _, r in rows]),
        people=(),
        notes=notes,
    )


def _entry(name: str, *, pairs: tuple[str, ...], **facts: Any) -> Entry:
    return Entry(
        name=name,
        task="machine translation",
        aspects=ASPECTS,
        licence="CC0-1.0; none stated for the 9 metrics",
        cite="fomicheva-etal-2022-mlqe",
        reference="Fomicheva, Sun, Fonseca, Zerva, Blain, Chaudhary, Guzmán, Lopatina, Specia, Martins "
        "(2022). MLQE-PE: A Multilingual Quality Estimation and Post-Editing Dataset. LREC.",
        origins=(
            Origin("sheffieldnlp/mlqe-pe", "2a670a1", "data/direct-assessments/test/"),
            Origin("PierreColombo/RankingNLPSystems", "21c8cc7", "final_df/MLQE.csv"),
        ),
        files=tuple(
            File(
                f"mlqe_pe/mlqe_da_test_{pair}.jsonl.gz",
                *FILES[pair],
                "JSONL: lp, index, original, translation, scores[], z_scores[], model_scores, metrics{9}",
            )
            for pair in pairs
        ),
        missing="References (none exist: the task is estimation without them).",
        notes=("The columns XMoverScore (UMD) and (CLP) are identical in the origin.",),
        loader=partial(load, pairs=pairs),
        **facts,
    )


ENTRIES = (
    _entry(
        "mlqe",
        title="MLQE-PE direct assessments, seven language pairs",
        pairs=tuple(FILES),
        papers=("colombo2023",),
        shape="7 language pairs × 1,000",
        raters="6 raters a sentence, 3 for ru-en",
    ),
    *(
        _entry(
            f"mlqe-{pair}",
            title=f"MLQE-PE direct assessments, {pair}",
            pairs=(pair,),
            shape="1 system × 1,000 sentences",
            raters=f"{3 if pair == 'ru-en' else 6} raters a sentence",
        )
        for pair in FILES
    ),
)
