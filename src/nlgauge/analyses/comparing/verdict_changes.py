"""Did a judge's pass and fail get worse between two runs? On the rows that people labelled, with McNemar's test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nlgauge.analyses.verdicts.verdict_rows import VerdictPair, paired_verdicts
from nlgauge.stats.agreement.two_by_two import sign_test
from nlgauge.stats.tests.two_samples import mean_test
from nlgauge.table import Row

AGREEMENT = "agreement"
METHOD = (
    "agreement: the share of labelled rows on which judge and people say the same, on the rows that both runs have "
    "with the same label; McNemar's test (mid-P) of the rows that one run has right and the other wrong (where an "
    "input or a document has several rows, the signs of all its rows are flipped together)"
)


def has_verdicts(results: Mapping[str, Any], aspect: str, metric: str) -> bool:
    """Return whether the run kept pass and fail of the judge row by row."""
    return metric in results.get("verdicts", {}).get(aspect, {}).get("judges", {})


def verdict_change(
    old: Mapping[str, Any], new: Mapping[str, Any], metric: str, units: Mapping[str, str], draws: int, seed: int
) -> tuple[Row, str]:
    """The row of the table (without aspect and metric), and what it means in words; `units`: input → its cluster."""
    found = paired_verdicts(old, new, metric)
    pairs, lost, gained = found.pairs, found.lost, found.gained
    right = np.array([[p.people == p.old, p.people == p.new] for p in pairs], float).reshape(-1, 2)
    worse, better = (int((right[:, a] > right[:, b]).sum()) for a, b in ((0, 1), (1, 0)))
    names = [units.get(p.input, p.input) for p in pairs]
    n, inputs = len(pairs), len(set(names))
    clustered = inputs < n
    p = _p_by_units(names, right, draws, seed) if clustered else sign_test(worse, worse + better)
    mean = right.mean(axis=0).tolist() if n else [float("nan")] * 2
    row = {
        "measure": AGREEMENT,
        "old": mean[0],
        "new": mean[1],
        "change": (better - worse) / n if n else float("nan"),
        "p": p if n else float("nan"),
        "p_corrected": float("nan"),
        "inputs": n,
        "lost": lost,
        "gained": gained,
        "new_values": sum(verdict is not None for verdict in new["judges"][metric]),
        "worse": worse,
        "better": better,
        "least_p": max(2.0 ** (1 - inputs), 1 / (draws + 1)) if clustered else 2.0**-n,
    }
    return row, _words(pairs, row, found.relabelled)


def _p_by_units(names: list[str], right: np.ndarray, draws: int, seed: int) -> float:
    _, at = np.unique(names, return_inverse=True)
    old, new = (np.bincount(at, right[:, k]).astype(float) for k in (0, 1))
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    return float(mean_test(new, old, "permutation", draws=draws, rng=rng)) if len(old) > 1 else float("nan")


def _words(pairs: list[VerdictPair], row: Row, relabelled: int) -> str:
    if not pairs:
        return "no labelled row has a verdict in both runs"
    text = (
        f"it says what people say on {row['new']:.0%} of {row['inputs']:,} labelled rows, before on {row['old']:.0%}: "
        f"{row['worse']:,} rows that were right are wrong now, {row['better']:,} the other way round"
    )
    for people, did in ((0, "failed"), (1, "passed")):
        part = [p for p in pairs if p.people == people]
        if part:
            now, then = (
                sum(verdict == people for verdict in v) / len(part)
                for v in zip(*((p.new, p.old) for p in part), strict=True)
            )
            text += f"; of {len(part):,} that people {did} it {did} {now:.0%}, before {then:.0%}"
    return text + (f"; {relabelled:,} rows that people label otherwise now are left out" if relabelled else "")
