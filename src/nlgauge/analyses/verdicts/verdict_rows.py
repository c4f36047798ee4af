"""People's and judges' pass and fail row by row, so that two runs can be compared."""

from __future__ import annotations

from typing import Any

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
