"""Change of a judge's accuracy between two runs, on labeled outputs, with McNemar's test."""

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
    "agreement: accuracy of the judge on the labeled outputs that both runs have "
    "with the same label; McNemar's test (mid-P) of the outputs that only one run judges correctly (signs are "
    "flipped together for all outputs of an input or document)"
)


def has_verdicts(results: Mapping[str, Any], aspect: str, metric: str) -> bool:
    """Return whether the run recorded the judge's verdict per output."""
    return metric in results.get("verdicts", {}).get(aspect, {}).get("judges", {})


def verdict_change(
    old: Mapping[str, Any], new: Mapping[str, Any], metric: str, units: Mapping[str, str], draws: int, seed: int
) -> tuple[Row, str]:
    """Return the row of the table (without aspect and metric) and a sentence; `units` maps inputs to clusters."""
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
    return row, _words(pairs, row, found.relabeled)


def _p_by_units(names: list[str], right: np.ndarray, draws: int, seed: int) -> float:
    _, at = np.unique(names, return_inverse=True)
    old, new = (np.bincount(at, right[:, k]).astype(float) for k in (0, 1))
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    return float(mean_test(new, old, "permutation", draws=draws, rng=rng)) if len(old) > 1 else float("nan")


def _words(pairs: list[VerdictPair], row: Row, relabeled: int) -> str:
    if not pairs:
        return "no labeled output has a verdict in both runs"
    text = (
        f"accuracy {row['new']:.0%} on {row['inputs']:,} labeled outputs, before "
        f"{row['old']:.0%}: "
        f"{row['worse']:,} outputs that were correct are wrong now, {row['better']:,} vice versa"
    )
    for people, did in ((0, "failed"), (1, "passed")):
        part = [p for p in pairs if p.people == people]
        if part:
            now, then = (
                sum(verdict == people for verdict in v) / len(part)
                for v in zip(*((p.new, p.old) for p in part), strict=True)
            )
            text += f"; recall on {did} outputs (n = {len(part):,}) {now:.0%}, before {then:.0%}"
    return text + (f"; {relabeled:,} outputs whose human label changed are excluded" if relabeled else "")
