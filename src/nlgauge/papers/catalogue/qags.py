"""QAGS: yes/no judgements of every summary sentence, is it supported by the article?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers.qags import Qags
from nlgauge.errors import DataError
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import records, scores

SYSTEMS = {"cnndm": "Bottom-Up", "xsum": "BART"}
ASPECTS = {
    "consistency": "0–1: mean over sentences of the majority",
    "consistency (worker)": "0–1: one worker's share of supported sentences",
}


def load(folder: Path, which: str) -> Dataset:
    """`consistency` is what the papers correlate with; `consistency (worker)` keeps the single workers."""
    judged = Qags.read(folder / "qags" / f"mturk_{which}.jsonl")
    named = pl.lit(SYSTEMS[which]).alias("system")
    samples, ratings = judged.samples.with_columns(named), judged.ratings.with_columns(named)
    notes = [*judged.notes[1:], "one system only: correlation exists over its outputs, not between systems"]
    table = None
    predicted = folder / "qags" / f"unieval_qags_{which}_predictions.jsonl"
    if predicted.is_file():
        others = {str(r["i"]): r for r in records(predicted)}
        for given, value in ratings.filter(pl.col("rater").is_null()).select("input", "value").iter_rows():
            if given not in others or abs(others[given]["human_consistency"] - value) > 1e-6:
                raise DataError(
                    f"{predicted}: row {given} is not that of mturk_{which}.jsonl (other human score)."
                )
        found = [{"unieval_consistency": others[i]["unieval_consistency"]} for i in samples["input"]]
        table = scores(samples, found)
    else:
        notes.append(f"{predicted.name} is not there: no metric scores")
    return Dataset.of(
        f"qags-{which}",
        samples.select(*KEY, "output", "source", "sentences", "votes"),
        ratings=ratings,
        scores=table,
        persons=True,
        people=(),
        notes=notes,
    )


def _entry(which: str, title: str, **facts: Any) -> Entry:
    return Entry(
        name=f"qags-{which}",
        title=f"QAGS, {title}",
        task="summarisation",
        aspects=ASPECTS,
        licence="none stated for the judgements, MIT (UniEval scores)",
        cite="wang-etal-2020-asking",
        reference="Wang, Cho, Lewis (2020). Asking and Answering Questions to Evaluate the Factual "
        "Consistency of Summaries. ACL.",
        origins=(
            Origin("W4ngatang/qags", "47798e9", f"data/mturk_{which}.jsonl"),
            Origin("maszhongming/UniEval", "d33e7b6", "reproduce/unieval_predict/fact/"),
        ),
        papers=("deng2021",),
        missing="References: the judgement files hold article and summary only.",
        loader=partial(load, which=which),
        **facts,
    )


COMMIT = (
    "07449840cc46a1980b4623644cff726b4fa4a371"  # the commit that added both files; they never changed since
)
PREDICTED = "JSONL: i, human_consistency, unieval_consistency"
ENTRIES = (
    _entry(
        "cnndm",
        "CNN/DM",
        shape="1 system × 235 articles",
        raters="3 workers a sentence (162 workers)",
        files=(
            File(
                "qags/mturk_cnndm.jsonl",
                600853,
                "5a6e20201f2c5d5d2489865137987c5d68d04c5b4e84662f99bb03862bb3a575",
                "JSONL: article, summary_sentences[{sentence, responses[{worker_id, response}]}]",
                Origin("W4ngatang/qags", COMMIT, "data/mturk_cnndm.jsonl"),
            ),
            File(
                "qags/unieval_qags_cnndm_predictions.jsonl",
                93058,
                "651afc14654d56778918366537ff977e0794843c795637e31256e2f6a201bd57",
                PREDICTED,
                extra=True,
            ),
        ),
    ),
    _entry(
        "xsum",
        "XSUM",
        shape="1 system × 239 articles",
        raters="3 workers a sentence (84 workers)",
        files=(
            File(
                "qags/mturk_xsum.jsonl",
                570571,
                "1fb9af32ba64b0df54b26e12456b0b0324a519a85348c1f7b268899ad6269a15",
                "JSONL: article, summary_sentences[{sentence, responses[{worker_id, response}]}]",
                Origin("W4ngatang/qags", COMMIT, "data/mturk_xsum.jsonl"),
            ),
            File(
                "qags/unieval_qags_xsum_predictions.jsonl",
                49516,
                "6f165a4b54d4eff219c570e684658d5e4c14a362b12cee1de3471ae54195b4fe",
                PREDICTED,
                extra=True,
            ),
        ),
    ),
)
