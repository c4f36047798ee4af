"""The 30 data sets of Gao et al. (2025) and their human ratings (Tables 1 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge import analyze
from nlgauge.plugins import NeedsMissing, Panel
from nlgauge_papers import Key, Ours, Sources, study, why_absent


@dataclass(frozen=True)
class Subset:
    """A part of one of the paper's six sets: its name there, the set here, and the bounds its ratings are scaled by."""

    set: str
    subset: str
    name: str
    scale: tuple[float, float] = (1, 5)
    aspects: dict[str, str] = field(default_factory=dict)  # the paper's names, where they differ from ours
    options: dict[str, Any] = field(default_factory=dict)
    people: bool = True  # human-written outputs stay among the systems

    def panel(self, sources: Sources, aspect: str) -> Panel:
        """Return the panel of an aspect under the paper's name."""
        data = sources(self.name, **self.options)
        return data.panel(self.aspects.get(aspect, aspect), keep_human=self.people)


# The paper scales every aspect of USR by 1–5, also 0/1 and 1–3 ones: hence its negative means.
DIALOGUE = {"Maintains Context": "MaintainsContext", "Uses Knowledge": "UsesKnowledge"}
PARTS = [
    Subset(
        "SummEval",
        "CNN/DM",
        "summeval",
        aspects={a: a.lower() for a in ("Coherence", "Consistency", "Fluency", "Relevance")},
    ),
    Subset("WMT23", "GeneralMT2023_NEWS", "wmt23-zh-en", (-25, 0), {"Overall Quality": "mqm"}, {"domain": "news"}),
    Subset("HANNA", "WP", "hanna"),
    Subset("MANS", "ROC", "openmeva", aspects={"Overall": "overall"}),
    Subset("MANS", "WP", "mans-wp", aspects={"Overall": "overall"}),
    Subset("USR", "Persona-Chat", "usr-persona", aspects=DIALOGUE),
    Subset("USR", "Topical-Chat", "usr-topical", aspects=DIALOGUE),
    # All 20 cells of Table 5 match only without its human reference.
    Subset(
        "WebNLG2020",
        "WebNLG2020",
        "webnlg2020-en",
        (0, 100),
        {"Datacoverage": "DataCoverage", "Textstructure": "TextStructure"},
        people=False,
    ),
]
ASPECTS = {
    "SummEval": ["Coherence", "Consistency", "Fluency", "Relevance"],
    "WMT23": ["Overall Quality"],
    "HANNA": ["Coherence", "Complexity", "Empathy", "Engagement", "Relevance", "Surprise"],
    "MANS": ["Overall"],
    "USR": ["Engaging", "Maintains Context", "Natural", "Overall", "Understandable", "Uses Knowledge"],
    "WebNLG2020": ["Correctness", "Datacoverage", "Fluency", "Relevance", "Textstructure"],
}
SETS = [part.name for part in PARTS]


def numbered() -> Iterator[tuple[str, Subset, str]]:
    """Yield the 30 meta-evaluation sets, D1 … D30, each with a part and the paper's name of an aspect."""
    number = 0
    for part in PARTS:
        for aspect in ASPECTS[part.set]:
            number += 1
            yield f"D{number}", part, aspect


@study("gao2025", "1", title="Data sets: subsets, aspects, systems, inputs", sets=SETS)
def table_1(sources: Sources) -> Ours:
    """Count the systems and inputs with at least one rating of these aspects."""
    values: dict[Key, float] = {}
    reasons: dict[Key, str] = {}
    for name, aspects in ASPECTS.items():
        results = []
        for part in (p for p in PARTS if p.set == name):
            try:
                results.append([~np.isnan(part.panel(sources, a).human) for a in aspects])
            except NeedsMissing as error:
                reasons[name,] = why_absent(error)
        if len(results) == sum(p.set == name for p in PARTS):
            values[name, "subsets"] = len(results)
        if results:
            there = np.any(results[0], axis=0)
            values[name, "aspects"] = len(results[0])
            values[name, "systems"] = int(there.any(axis=1).sum())
            values[name, "inputs"] = int(there.any(axis=0).sum())
    available = {
        "HANNA": "the release has 11 systems and 96 prompts, and only they give the paper's own Table 5 (24 of "
        "24 cells)",
        "WMT23": "377 rated news segments in the release; they give the paper's own Table 5 (4 of 4 cells)",
    }
    reasons |= {(name,): words for name, words in available.items() if (name, "systems") in values}
    return Ours(
        values,
        reasons,
        notes=[
            "where a set has two subsets the first is counted, as in the paper (USR Topical-Chat has 6 systems).",
            "WebNLG2020 without its human reference: 16 systems; with it 17.",
        ],
    )


@study("gao2025", "5", title="Parameters of the human scores of D1 to D30", sets=SETS)
def table_5(sources: Sources) -> Ours:
    """Compute mean, spread, distinct values and ties of the ratings of each set."""
    values: dict[Key, float] = {}
    reasons: dict[Key, str] = {}
    for number, part, aspect in numbered():
        key = number, part.set, part.subset, aspect
        try:
            panel = part.panel(sources, aspect)
        except NeedsMissing as error:
            reasons[key] = why_absent(error)
            continue
        people = analyze("parameters", panel, human_scale=part.scale).rows[0]
        names = {"mean": "mean", "σ": "sigma", "unique": "unique", "tie ratio": "tie_ratio"}
        values |= {(*key, name): float(people[column]) for name, column in names.items()}
    return Ours(
        values,
        reasons,
        notes=[
            "human outputs among the systems (HANNA's Human, USR's two, refA of WMT23), except in WebNLG2020, which "
            "agrees only without its human reference; ratings (x − 1)/4 also where the scale is 0–1 or 1–3 (USR), MQM "
            "(x + 25)/25, WebNLG x/100."
        ],
    )
