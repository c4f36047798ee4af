"""Common parts of the studies of Novikova et al. (2017): names of metrics, data, and significance stars."""

from __future__ import annotations

from collections.abc import Mapping

from nlgauge import Dataset, Table
from nlgauge_papers import Key, Sources, published_rows
from nlgauge_papers.novikova2017.quantize import quantize

SET = "bagel-sf"
WORD = {
    "TER": "TER", "BLEU1": "Bleu_1", "BLEU2": "Bleu_2", "BLEU3": "Bleu_3", "BLEU4": "Bleu_4", "ROUGE": "ROUGE_L",
    "NIST": "NIST", "LEPOR": "LEPOR", "CIDEr": "CIDEr", "METEOR": "METEOR", "SIM": "sim.mr.sys",
}  # fmt: skip
GRAMMAR = {
    "RE": "sys.read.flesch", "cpw": "sys.cpw", "len": "sys.ref.len", "wps": "sys.wps", "sps": "sys.sps",
    "spw": "sys.spw", "pol": "sys.n.poly", "ppw": "sys.pspw", "msp": "n.misspel", "prs": "parser.sc.mean",
}  # fmt: skip
METRICS = WORD | GRAMMAR
NAMES = {column: name for name, column in METRICS.items()}
LEVELS = 11
ASPECTS = ("informativeness", "naturalness", "quality")


def medians(sources: Sources) -> Dataset:
    """Return the set with the paper's 21 metrics."""
    return sources(SET).only_metrics(list(METRICS.values()))


def unturned(sources: Sources) -> Dataset:
    """Return the same with original signs: the paper prints TER's correlations as negative (except in Table 13)."""
    from dataclasses import replace

    return replace(medians(sources), lower=frozenset())


def half_points(data: Dataset) -> Dataset:
    """Map scores to the half points from 1 to 6 of median ratings: eleven equal bins over all outputs."""
    import polars as pl

    steps = {m: 1 + 0.5 * quantize(data.scores[m].to_numpy(), LEVELS) for m in data.metrics}
    return data.with_scores(data.scores.select("system", "input", *(pl.Series(m, v) for m, v in steps.items())))


def by_key(table: Table, *columns: str, value: str = "value") -> dict[Key, float]:
    """Return the values of a table by some of its columns, with metrics under the paper's names."""
    return {tuple(str(NAMES.get(row[c], row[c])) for c in columns): float(row[value]) for row in table}


def stars(table: str, ours: Mapping[Key, float]) -> str:
    """Count how many of the published stars agree with our tests. Keys without a test are not counted."""
    rows = published_rows("novikova2017", table)
    names = [c for c in rows[0] if c not in ("printed", "mark")]
    printed = {tuple(row[c] for c in names): row["mark"] == "*" for row in rows}
    available = [key for key in printed if key in ours]
    alike = sum(printed[key] == bool(ours[key]) for key in available)
    return f"stars: {alike} of {len(available)} cells are marked (or not) as in the paper."
