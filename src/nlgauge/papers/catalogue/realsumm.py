"""REALSumm: 24 summarisers on 100 CNN/DM articles, lightweight pyramids and the crowd's votes behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import Rating, Record, ratings, records, scores

HUMAN = "litepyramid_recall"
VOTES = "SCU recall (vote)"


def load(folder: Path) -> Dataset:
    """`bart_out` is in both releases, extractive and abstractive, with the same texts: it counts once."""
    home = folder / "realsumm"
    every = records(home / "realsumm_outputs_human_metrics.jsonl")
    first: dict[tuple[str, str], Record] = {}
    for r in every:
        first.setdefault((r["system"], str(r["doc_id"])), r)
    rows = list(first.values())
    documents = {str(d["doc_id"]): d for d in records(home / "realsumm_documents.jsonl.gz")}
    samples = pl.DataFrame(
        {
            "system": [r["system"] for r in rows],
            "input": [str(r["doc_id"]) for r in rows],
            "output": [_plain(r["system_summary"]) for r in rows],
            "source": [documents[str(r["doc_id"])]["src_from_bartscore_repo"] for r in rows],
            "references": [[_plain(documents[str(r["doc_id"])]["ref_summ"])] for r in rows],
            "split": [r["split"] for r in rows],
        }
    )
    notes = [f"{len(every) - len(rows)} rows of bart_out repeat the other split and count once"]
    long: list[Rating] = [(r["system"], str(r["doc_id"]), HUMAN, None, r["scores"][HUMAN]) for r in rows]
    votes = home / "realsumm_scu_crowd_votes.jsonl.gz"
    if votes.is_file():
        long += _votes(records(votes))
    else:
        notes.append(f"{votes.name} is not there: no single votes")
    table = scores(samples, [{k: v for k, v in r["scores"].items() if k != HUMAN} for r in rows])
    return Dataset.of("realsumm", samples, ratings=ratings(long), scores=table, people=(), notes=notes)


def _votes(rows: list[Record]) -> Iterator[Rating]:
    """Each worker's share of the content units found in a summary; workers are anonymous, so numbered."""
    seen: dict[tuple[str, str], int] = {}
    for r in rows:
        if (r["folder"], r["summaryId"]) == ("ext", "bart_out"):
            continue
        key = (r["summaryId"], str(r["doc_id"]))
        seen[key] = seen.get(key, 0) + 1
        yield *key, VOTES, str(seen[key]), sum(v == "p" for v in r["votes"]) / len(r["votes"])


def _plain(text: str) -> str:
    """Without the sentence marks <t> … </t> of the release."""
    return re.sub(r"\s*</?t>\s*", " ", text).strip()


ENTRIES = (
    Entry(
        name="realsumm",
        title="REALSumm",
        task="summarisation",
        aspects={HUMAN: "0–1", VOTES: "0–1: one worker's share of content units found"},
        raters="3 or 4 anonymous crowd workers a summary",
        licence="CC BY 4.0; sources Apache-2.0 (BARTScore)",
        cite="bhandari-etal-2020-evaluating",
        reference="Bhandari, Gour, Ashfaq, Liu, Neubig (2020). Re-evaluating Evaluation in Text "
        "Summarization. EMNLP.",
        origins=(
            Origin(
                "neulab/REALSumm",
                "a5900e3",
                "scores_dicts/{abs,ext}.pkl, human_annotations/SCUs_and_annotations/",
            ),
            Origin("neulab/BARTScore", "248f511", "SUM/"),
        ),
        papers=("colombo2023",),
        shape="24 systems × 100 articles",
        files=(
            File(
                "realsumm/realsumm_outputs_human_metrics.jsonl",
                2468342,
                "58626952880b5bd39639c594c678c13d85707767fdfbd4d8645b84b31014b0f9",
                "JSONL: doc_id, split, system, system_summary, scores{14 metrics, litepyramid_recall}",
            ),
            File(
                "realsumm/realsumm_documents.jsonl.gz",
                149341,
                "01d9e28b3df8d08a5e17cf1fff935c8017f1a63f1fb1b23d57be714c459a3df9",
                "JSONL: doc_id, ref_summ, src_from_bartscore_repo",
            ),
            File(
                "realsumm/realsumm_scu_crowd_votes.jsonl.gz",
                168787,
                "bb991413286ca9ba17f6e7fe97f52ea956c0621e77d86af346a5b5c3a46840ab",
                "JSONL: folder, summaryId, doc_id, votes[p or n]",
                extra=True,
            ),
            File(
                "realsumm/SCUs_list.csv",
                97893,
                "14687dd57562cbd4e72dc26ff29f90dee71023fa6616bf53dc80d373fa10e4c0",
                "CSV: eventId, questionId, questionText (the content units; not read by the loader)",
                extra=True,
            ),
        ),
        missing="Worker names.",
        notes=(
            "The votes' plain majority gives the released score for 97 % of the summaries; the rest had "
            "other rules.",
        ),
        loader=load,
    ),
)
