"""REALSumm: 24 summarisers on 100 CNN/DM articles, lightweight pyramids and the crowd's votes behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import Record, long_ratings, ratings, records, samples, scores

HUMAN, VOTES = "litepyramid_recall", "SCU recall (vote)"


def load(folder: Path, entry: Entry) -> Dataset:
    """Load REALSumm; `bart_out` is in both releases, extractive and abstractive, with the same
    texts, and counts once.
    """
    outputs, documents, votes = (folder / f.path for f in entry.files[:3])
    every = records(outputs)
    first: dict[tuple[str, str], Record] = {}
    for r in every:
        first.setdefault((r["system"], str(r["doc_id"])), r)
    rows = list(first.values())
    document = {str(d["doc_id"]): d for d in records(documents)}
    table = samples(
        rows,
        system="system",
        input="doc_id",
        output=lambda r: _plain(r["system_summary"]),
        source=lambda r: document[str(r["doc_id"])]["src_from_bartscore_repo"],
        references=lambda r: [_plain(document[str(r["doc_id"])]["ref_summ"])],
        split="split",
    )
    notes = [f"{len(every) - len(rows)} rows of bart_out repeat the other split and count once"]
    long = ratings(table, rows, lambda r: [(HUMAN, None, r["scores"][HUMAN])])
    if votes.is_file():
        long = long.vstack(long_ratings(_votes(records(votes))))
    else:
        notes.append(f"{votes.name} is missing: no single votes")
    metric_scores = scores(table, [{k: v for k, v in r["scores"].items() if k != HUMAN} for r in rows])
    return Dataset.of(entry.name, table, ratings=long, scores=metric_scores, human_systems=(), notes=notes)


def _votes(rows: list[Record]) -> Iterator[tuple[Any, ...]]:
    """Yield each worker's proportion of content units found in a summary; workers are anonymous and
    therefore numbered.
    """
    seen: dict[tuple[str, str], int] = {}
    for r in rows:
        if (r["folder"], r["summaryId"]) == ("ext", "bart_out"):
            continue
        key = (r["summaryId"], str(r["doc_id"]))
        seen[key] = seen.get(key, 0) + 1
        yield *key, VOTES, str(seen[key]), sum(v == "p" for v in r["votes"]) / len(r["votes"])


def _plain(text: str) -> str:
    """Remove the sentence marks <t> … </t> of the release."""
    return re.sub(r"\s*</?t>\s*", " ", text).strip()
