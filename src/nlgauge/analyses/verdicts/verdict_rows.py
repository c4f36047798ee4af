"""People's and judges' pass and fail row by row, so that two runs can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nlgauge.analyses.verdicts._labelled import judge_pass, labelled, people_pass
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing


def verdict_rows(panel: Panel) -> dict[str, Any] | None:
    """`rows` ([system, input] of every row that people passed or failed), `people` (1, 0) and `judges`: metric → 1, 0,
    null.

    None where people gave other values than two, or no metric has two.
    """
    try:
        people = people_pass(panel)
    except NeedsMissing:
        return None
    systems, inputs = np.nonzero(np.isfinite(people.passed))
    place = {at: k for k, at in enumerate(zip(systems.tolist(), inputs.tolist(), strict=True))}
    judges: dict[str, list[int | None]] = {}
    for name in panel.names:
        try:
            mine = labelled(panel, name, people)
            passed, _ = judge_pass(mine, people)
        except NeedsMissing:  # a metric with numbers
            continue
        judges[name] = [None] * len(place)
        for s, i, verdict in zip(*mine.at, passed, strict=True):
            judges[name][place[int(s), int(i)]] = int(verdict)
    if not judges:
        return None
    return {
        "rows": [[panel.systems[s], panel.inputs[i]] for s, i in place],
        "people": [int(people.passed[at]) for at in place],
        "judges": judges,
    }


class VerdictPair(NamedTuple):
    """A row that two runs have: what people and the judge said (1 pass, 0 fail), old and new."""

    input: str
    people: int
    old: int
    new: int


class PairedVerdicts(NamedTuple):
    """Rows with a verdict in both runs and the same label; how many lost or gained one, or have another label now."""

    pairs: list[VerdictPair]
    lost: int
    gained: int
    relabelled: int


def paired_verdicts(old: Mapping[str, Any], new: Mapping[str, Any], metric: str) -> PairedVerdicts:
    """Two runs' `verdict_rows`, row by row."""

    def verdicts(found: Mapping[str, Any]) -> dict[tuple[str, str], tuple[int, int | None]]:
        keys = [(str(system), str(given)) for system, given in found["rows"]]
        return dict(zip(keys, zip(found["people"], found["judges"][metric], strict=True), strict=True))

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
