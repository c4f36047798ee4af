"""Human labels and judges' verdicts per output, from which two runs are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nlgauge.analyses.verdicts._labeled import human_pass, judge_pass, labeled_scores
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing


def verdict_rows(panel: Panel) -> dict[str, Any] | None:
    """Return labels and verdicts per output, as plain data; None if human ratings or all metrics have other values.

    `rows` holds [system, input] of every labeled output, `human` the labels (1 pass, 0 fail), and `judges` the
    verdicts of each metric (1, 0, or null).
    """
    try:
        people = human_pass(panel)
    except NeedsMissing:
        return None
    systems, inputs = np.nonzero(np.isfinite(people.passed))
    position = {cell: k for k, cell in enumerate(zip(systems.tolist(), inputs.tolist(), strict=True))}
    judges: dict[str, list[int | None]] = {}
    for name in panel.names:
        try:
            labeled = labeled_scores(panel, name, people)
            passed, _ = judge_pass(labeled, people)
        except NeedsMissing:  # a metric with scores instead of verdicts
            continue
        judges[name] = [None] * len(position)
        for s, i, verdict in zip(*labeled.index, passed, strict=True):
            judges[name][position[int(s), int(i)]] = int(verdict)
    if not judges:
        return None
    return {
        "rows": [[panel.systems[s], panel.inputs[i]] for s, i in position],
        "human": [int(people.passed[cell]) for cell in position],
        "judges": judges,
    }


class VerdictPair(NamedTuple):
    """An output of two runs: its human label, and the verdicts of the judge in the old and the new run (1 pass)."""

    input: str
    people: int
    old: int
    new: int


class PairedVerdicts(NamedTuple):
    """Outputs with a verdict in both runs and the same label; counts of lost and gained verdicts and changed labels."""

    pairs: list[VerdictPair]
    lost: int
    gained: int
    relabeled: int


def paired_verdicts(old: Mapping[str, Any], new: Mapping[str, Any], metric: str) -> PairedVerdicts:
    """Pair the `verdict_rows` of two runs by output."""

    def verdicts(run: Mapping[str, Any]) -> dict[tuple[str, str], tuple[int, int | None]]:
        keys = [(str(system), str(given)) for system, given in run["rows"]]
        return dict(zip(keys, zip(run["human"], run["judges"][metric], strict=True), strict=True))

    before, after = verdicts(old), verdicts(new)
    shared = [key for key in before if key in after]
    same = [key for key in shared if before[key][0] == after[key][0]]
    pairs = [
        VerdictPair(key[1], before[key][0], b, a)
        for key in same
        if (b := before[key][1]) is not None and (a := after[key][1]) is not None
    ]
    lost = sum(before[key][1] is not None and after[key][1] is None for key in same)
    gained = sum(before[key][1] is None and after[key][1] is not None for key in same)
    return PairedVerdicts(pairs, lost, gained, len(shared) - len(same))
