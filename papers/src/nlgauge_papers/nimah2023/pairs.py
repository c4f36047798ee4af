"""Ni'mah et al. (2023), Tables 10-16: the Easy and Hard pairs of systems, and whether human means give them.

The paper says that pairs are selected by the averaged human scores; the authors' released notebook has the rule. For
each aspect in turn the systems are ranked by their mean. Easy: the two lowest with the two highest. Hard: the two
lowest, the two in the middle (positions n/2 and n/2 + 1 from the bottom, counted from 0), the two highest. Easy pairs
need more than four systems, hard ones more than six; the others were selected by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from nlgauge import Dataset, analyze
from nlgauge.plugins import Choice, RaterRows
from nlgauge_papers import Key, Ours, Sources, study
from nlgauge_papers.common import Array
from nlgauge_papers.nimah2023.systems import BENCHMARKS, CONTROLLED, TOPICS, Benchmark, Pairs, listed_pairs, those_here

BY_HAND = (
    "the authors chose the hard pairs by hand where a set has six systems or fewer (their notebook); no rule to check."
)
LEAST = {"Easy": 5, "Hard": 7}  # systems


def ranked_pairs(systems: Sequence[str], means: Mapping[str, Array]) -> Pairs:
    """Return Easy and Hard pairs by the rank of the systems on each aspect, the worse first; equal means by name.

    >>> import numpy as np
    >>> ranked_pairs(list("abcde"), {"quality": np.arange(5.0)})["Easy"]
    [('a', 'e'), ('a', 'd'), ('b', 'e'), ('b', 'd')]
    """
    results: Pairs = {"Easy": [], "Hard": []}
    for scores in means.values():
        low = [systems[i] for i in sorted(range(len(systems)), key=lambda i: (scores[i], systems[i]))]
        half = len(low) // 2
        new = {
            "Easy": [(a, b) for a in low[:2] for b in (low[-1], low[-2])],
            "Hard": [(low[0], low[1]), (low[half], low[half + 1]), (low[-2], low[-1])],
        }
        for group, pairs in new.items():
            if len(low) >= LEAST[group]:
                results[group] += [pair for pair in pairs if pair not in results[group]]
    return results


def checked(sources: Sources, table: str, name: str) -> Ours:
    """Return 1 for every listed pair that the rule gives, 0 for the others."""
    [b] = [b for b in BENCHMARKS if b.name == name]
    [b] = those_here(sources, [b])[0] or [b]
    rows = _rows(sources, b)
    rule = ranked_pairs(rows.panel.systems, rows.system_means())
    listed = listed_pairs(table)
    values: dict[Key, float] = {
        (name, group, *pair): float(pair in rule[group])
        for group, pairs in listed.items()
        for pair in pairs
        if rule[group]
    }
    slips = {}
    if b.means:
        by_system = (rows.system == np.arange(rows.panel.n_systems)[:, None]).astype(float)
        cut = {a: by_system @ np.round(v, DECIMALS) / by_system.sum(axis=1) for a, v in rows.human.items()}
        split = ranked_pairs(rows.panel.systems, cut)
        slips = {key: float((key[2], key[3]) in split[key[1]]) for key in values}
    notes = ["printed 1: the pair is listed; ours 1: the rank of the systems by human means finds it."]
    for group, pairs in rule.items():
        if surplus := [pair for pair in pairs if pair not in listed[group]]:
            more = ", ".join(f"{a} – {b}" for a, b in surplus)
            notes.append(f"{group}: found and not listed in the text that is left: {more}.")
    return Ours(
        values,
        {(name, "Hard"): BY_HAND if not rule["Hard"] else TIED},
        [*notes, _own_rule(b.rated(sources), b, listed)],
        slips=slips,
    )


DECIMALS = 9  # of the means in UniEval's table; so rounded, the system means in the authors' notebook come out
TIED = (
    "M0 and M23 have the same Overall mean, 4.5533; in the authors' table, with the means of outputs rounded to nine "
    "decimals (ours with the error), M0 stands above M23 by 4e-11, and so M0 – M22 becomes one of the highest pairs. "
    "With the tie kept it is M23 – M22, which is listed."
)


def _rows(sources: Sources, b: Benchmark) -> RaterRows:
    choice = Choice(b.rated(sources), b.aspects, keep_human=True)
    return RaterRows.of(choice, "output" if b.means else "rater", b.overall)


def _own_rule(data: Dataset, b: Benchmark, listed: Pairs) -> str:
    """Count the listed pairs that are also among the thirds that `system-discrimination` selects by default."""
    unit = "output" if b.means else "rater"
    options: dict[str, Any] = {"keep_human": True, "unit": unit, "overall": b.overall, "per": "pair", "draws": 1}
    own = analyze("system-discrimination", data, b.aspects, [], **options)
    words = []
    for group, pairs in listed.items():
        own_part = {frozenset((row["first"], row["second"])) for row in own if row["pairs"] == group.lower()}
        hit = sum(frozenset(pair) in own_part for pair in pairs)
        words.append(f"{hit} of {len(pairs)} {group} pairs")
    rule = own.method.partition(". ")[0]
    return f"the default of system-discrimination ({rule}) has {' and '.join(words)} in the same group."


FEW = (
    "three or four systems are too few for the authors' rule (their notebook): they chose these pairs by hand. Ours is "
    "1 when the gap of the pair in averaged human scores, which the paper names, lies above (Easy) or below (Hard) "
    "that of every pair of the other kind; CTRL-Topic's pairs lie so by relevance alone."
)


@study("nimah2023", "10", title="pairs of systems, controlled generation", sets=TOPICS)
def table_10(sources: Sources) -> Ours:
    """Check that the pairs chosen by hand are far apart (Easy) and close together (Hard)."""
    values: dict[Key, float] = {}
    gaps: dict[str, dict[Key, float]] = {}
    here, reasons = those_here(sources, CONTROLLED)
    notes = []
    for b in here:
        rows = _rows(sources, b)
        means = rows.system_means()
        place = {s: i for i, s in enumerate(rows.panel.systems)}
        gap = {p: [abs(m[place[p[0]]] - m[place[p[1]]]) for m in means.values()] for p in combinations(place, 2)}
        gap |= {(d, c): g for (c, d), g in gap.items()}
        listed = b.pairs()
        for group, sign, other in (("Easy", 1, "Hard"), ("Hard", -1, "Easy")):
            for pair in listed[group]:
                on_side = all(sign * (np.mean(gap[pair]) - np.mean(gap[p])) > 0 for p in listed[other])
                values[b.name, group, *pair] = float(on_side)
                for aspect, size in zip(means, gap[pair], strict=True):
                    gaps.setdefault(f"gap, {aspect}", {})[b.name, group, *pair] = size
        rest = [p for p in combinations(place, 2) if not {p, p[::-1]} & {q for some in listed.values() for q in some}]
        if rest:
            notes.append(
                f"{b.name}, not listed: "
                + ", ".join(
                    f"{c} – {d} (" + ", ".join(f"{a} {g:.3f}" for a, g in zip(means, gap[c, d], strict=True)) + ")"
                    for c, d in rest
                )
            )
    return Ours(values, {(): FEW} | reasons, notes, additional=gaps)


@study("nimah2023", "14", title="pairs of systems, UniEval-TC", sets=["checklist-unieval-tc"])
def table_14(sources: Sources) -> Ours:
    """Check the pairs of UniEval-TC that the text of the paper still has."""
    ours = checked(sources, "14", "UniEval-TC")
    lost = (
        "the text of the paper that is available has lost two easy pairs and one hard pair of this table; Table "
        "15 has them."
    )
    return Ours(ours.values, ours.reasons, [*ours.notes, lost])


for _table, _name, _set in (
    ("11", "UniEval-summ", "summeval"),
    ("12", "summEval", "summeval-17"),
    ("13", "Newsroom", "newsroom"),
    ("15", "USR-TC", "checklist-usr-tc"),
    ("16", "USR-PC", "checklist-usr-pc"),
):
    study("nimah2023", _table, title=f"pairs of systems, {_name}", sets=[_set])(
        partial(checked, table=_table, name=_name)
    )
