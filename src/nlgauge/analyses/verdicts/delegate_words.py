"""Sentences of `delegate`: which verdicts the judge may decide alone, why not others, and what humans must label."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nlgauge.analyses.verdicts.policy import Policy
from nlgauge.number import count, missing, number
from nlgauge.stats.agreement.selective import labels_without_error
from nlgauge.table import Row

WRONG = {"pass": "wrong (failed by humans)", "fail": "wrong (passed by humans)"}


def answers(rows: Sequence[Row], policy: Policy, facts: Mapping[str, Any]) -> list[str]:
    """Return three sentences: what the judge may decide, the labels that are missing, and what humans must label."""
    mine = {row["measure"]: row for row in rows if row["chosen"]}
    whole = mine["decided"]
    sides = [row for name, row in mine.items() if name != "decided"]
    decided = [row for row in sides if not row["reason"]]
    refused = [row for row in sides if row["reason"]]
    lines = [_decided(row, policy) for row in decided]
    if not decided:
        kinds = " or ".join(row["measure"] for row in sides)
        lines.append(
            f"{_name(policy)} may not {kinds} outputs alone: {count(facts['labels'], 'label')} do not guarantee an "
            f"error rate of at most {share(policy.error)} with {share(policy.confidence)} confidence."
        )
    if refused:
        lines.append(_missing(refused, policy, facts, bool(decided)))
    rest = 1 - whole["value"]
    ends = "" if missing(whole["low"]) or not decided else f" [{share(1 - whole['high'])}, {share(1 - whole['low'])}]"
    human = f"{whole['to_humans']:,} of {whole['n']:,} outputs"
    lines.append(
        f"{share(rest)}{ends} of the outputs go to humans ({human}), at a cost of {whole['cost']:.4g} per 100 outputs."
    )
    return lines


def _name(policy: Policy) -> str:
    name = policy.signal.name
    return f"The {name}" if name.startswith("mean of ") else name


def _decided(row: Row, policy: Policy) -> str:
    side = row["measure"]
    errors = f"{count(row['errors'], 'error')} in {count(row['decided_labels'], 'label')}"
    ends = "" if missing(row["low"]) else f" [{share(row['low'])}, {share(row['high'])}]"
    return (
        f"{_name(policy)} may {side} outputs alone {where(side, policy)}: {share(row['value'])}{ends} of the outputs; "
        f"with {share(policy.confidence)} confidence at most {share(policy.error)} of these verdicts are {WRONG[side]} "
        f"({errors})."
    )


def _missing(refused: Sequence[Row], policy: Policy, facts: Mapping[str, Any], some_decided: bool) -> str:
    """Describe what a rule requires: the minimum number of decided labels, and the approximate number of labels."""
    none, one = (labels_without_error(policy.error, facts["delta"], k) for k in (0, 1))
    outlook: dict[str, list[str]] = {}
    for row in refused:
        needed = row["labels_needed"]
        if row["reason"].startswith("both rules"):
            text = "the other rule covers its scores"
        elif missing(needed):
            text = "more labels would hardly help, because its most confident verdicts are wrong too often"
        else:
            text = f"about {needed:,.0f} labels in all would do, at the error rate seen so far"
        outlook.setdefault(text, []).append(row["measure"])
    parts = [f"to {' and '.join(kinds)}, {text}" for text, kinds in outlook.items()]
    start = f"It may not {' or '.join(row['measure'] for row in refused)} outputs alone yet: a" if some_decided else "A"
    return (
        f"{start} rule takes at least {none} labels that the judge decides without an error ({one} with one error); "
        f"{'; '.join(parts)}."
    )


def where(side: str, policy: Policy) -> str:
    """Return the threshold in words, on the judge's own scale."""
    threshold = policy.pass_above if side == "pass" else policy.fail_below
    if threshold is None:
        return "nowhere"
    if math.isinf(threshold):
        return "at every score"
    higher = (side == "pass") == (policy.signal.sign > 0)
    return f"with a score {'above' if higher else 'below'} {threshold * policy.signal.sign:.4g}"


def share(value: float) -> str:
    """Format a share in percent: '5%', '2.5%', '0.4%'.

    >>> share(0.05), share(0.025), share(0.412), share(1.0)
    ('5%', '2.5%', '41%', '100%')
    """
    percent = 100 * value
    text = f"{percent:.0f}" if abs(percent - round(percent)) < 1e-9 or percent >= 10 else f"{percent:.1f}"
    return f"{text}%"


def cell_texts(policy: Policy) -> dict[str, Callable[[Row], str]]:
    """Return how the cells of the printed table are written."""

    def threshold(row: Row) -> str:
        if row["measure"] == "decided" or row["reason"]:
            return "–"
        return "every score" if missing(row["threshold"]) else f"{row['threshold']:.4g}"

    def decision(row: Row) -> str:
        return {"pass": "passes", "fail": "fails", "decided": "both"}[row["measure"]]

    def value(row: Row) -> str:
        ends = "" if missing(row["low"]) else f" [{share(row['low'])}, {share(row['high'])}]"
        return share(row["value"]) + ends

    return {
        "threshold": threshold,
        "measure": decision,
        "value": value,
        "labels_needed": lambda r: "–" if missing(r.get("labels_needed")) else f"about {r['labels_needed']:,.0f}",
        "errors": lambda r: "–" if r["measure"] == "decided" or r["reason"] else number(r["errors"], 0),
        "decided_labels": lambda r: "–" if r["measure"] == "decided" or r["reason"] else f"{r['decided_labels']:,}",
    }
