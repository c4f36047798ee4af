"""Texts for the parity tests of metrics: random ones of every kind, and real ones where the published data are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from hypothesis import strategies as st

# repeated words, inflections, numbers with marks, other scripts, entities, control characters
WORDS = [
    "the", "the", "The", "a", "cat", "cats", "Running", "runs", "X", "1,000.5", "3-4", "U.S.", "it's", "don't", "...",
    ",", ".", "?!", "(x)", "&quot;", "naïve", "Straße", "İstanbul", "ΟΔΟΣ", "中文字", "日本", "русский", "שלום", "مرحبا",
    "🙂", "👩‍👩‍👧", "\x00", "-", "--", "e\u0301", "\u3000",
]  # fmt: skip

words = st.lists(st.sampled_from(WORDS), min_size=0, max_size=14).map(" ".join)
anything = st.text(max_size=40)
texts = st.one_of(words, anything)


def has_tokens(text: str) -> bool:
    return bool(text.split())


references = st.lists(texts.filter(has_tokens), min_size=1, max_size=3)
samples = st.lists(st.tuples(texts, references), min_size=1, max_size=8)


def real_samples(data: Path, limit: int = 400) -> list[tuple[str, list[str]]]:
    """Outputs and references of BAGEL, SFHOTEL, SFREST (novikova 2017) and SummEval."""
    found = []
    for name in ("bagel", "sfhot", "sfres"):
        with (data / "bagel_sfhotel_sfrest" / f"{name}_with_refs.jsonl").open() as lines:
            rows = [json.loads(line) for line in lines]
        found += [(r["sys_summ"], r["ref_summs"]) for r in rows[:: max(1, len(rows) // limit)]]
    with gzip.open(data / "summeval" / "summeval_documents.jsonl.gz", "rt") as lines:
        documents = {row["doc_id"]: row for row in map(json.loads, lines)}
    with (data / "summeval" / "summeval_outputs_human_metrics.jsonl").open() as lines:
        rows = [json.loads(line) for line in lines][::40]
    return found + [(r["sys_summ"], documents[r["doc_id"]]["ref_summs"]) for r in rows]
