"""Scorers compared on SummEval: released judges, the metrics published with the set, and judges from score files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from nlgauge import Dataset
from nlgauge.datasets import mirror_folder
from nlgauge.stats import coarsen
from nlgauge_papers import Sources
from nlgauge_papers.common import Array
from nlgauge_papers.gao2025.judge_scores import Score, read_scores
from nlgauge_papers.gao2025.judges import ratings

ASPECTS = ("coherence", "consistency", "fluency", "relevance")
RELEASED, METRICS, BOTH = "9 judges", "metrics", "judges and metrics"
COARSE = 3  # numbers of levels of coarse scales
LEAST = 3  # scorers needed for a ranking that leaves out one at a time
FEWEST = 6  # documents needed for halves that leave out one at a time
Outputs = Mapping[tuple[str, str], float]  # (system, input) -> score
ByJudge = Mapping[str, Mapping[str, Outputs]]  # aspect -> judge -> its scores


@dataclass(frozen=True)
class Family:
    """Scorers that are compared with each other: by aspect their scores K×N×M, and the human ratings N×M."""

    name: str
    scorers: tuple[str, ...]
    panels: Mapping[str, tuple[Array, Array]]
    left_out: tuple[str, ...] = ()  # constant scores: no correlation
    context_only: bool = False  # shown next to another family, without statements of its own

    @property
    def too_small(self) -> str:
        """Return why its measures cannot be compared; empty where they can."""
        if len(self.scorers) < LEAST:
            return f"{len(self.scorers)} scorers; {LEAST} are needed"
        inputs = next(iter(self.panels.values()))[1].shape[1]
        return f"{inputs} documents; {FEWEST} are needed" if inputs < FEWEST else ""

    @property
    def size(self) -> str:
        """Describe the numbers of scorers, outputs and aspects."""
        k, systems, inputs = next(iter(self.panels.values()))[0].shape
        aspects = "4 aspects" if len(self.panels) == len(ASPECTS) else ", ".join(self.panels)
        return f"{k} scorers, {systems} × {inputs}, {aspects}"

    def cut(self, levels: int) -> Family:
        """Return the same scorers on a scale of a few equal steps."""
        panels = {a: (np.stack([coarsen(x, levels) for x in xs]), z) for a, (xs, z) in self.panels.items()}
        return Family(f"{self.name}, {levels} levels", self.scorers, panels)


@dataclass(frozen=True)
class JudgedSet:
    """SummEval's judged systems, and the scores that can be compared on them."""

    data: Dataset
    released: ByJudge  # aspect -> judge -> output -> rating
    added: ByJudge = field(default_factory=dict)
    facts: Mapping[str, Score] = field(default_factory=dict)  # of each added scorer

    def family(self, name: str, scores: ByJudge, metrics: bool = False, inputs: Sequence[str] | None = None) -> Family:
        """Return scorers by aspect on these inputs; a constant one is left out."""
        data = self.data if inputs is None else self.data.where(self.data.samples.filter(pl.col("input").is_in(inputs)))
        own = list(data.metrics) if metrics else []
        rows = data.samples.select("system", "input").rows()
        arrays: dict[str, dict[str, Array]] = {}
        people: dict[str, Array] = {}
        for aspect, by_judge in scores.items():
            columns = {judge: [values.get(row) for row in rows] for judge, values in by_judge.items()}
            panel = data.only_metrics(own).with_scores(columns).panel(aspect)
            arrays[aspect] = dict(zip(panel.names, panel.oriented(), strict=True))
            people[aspect] = panel.human
        names = [n for n in next(iter(arrays.values())) if all(n in a for a in arrays.values())]
        flat = [n for n in names if any(len(np.unique(a[n][np.isfinite(a[n])])) < 2 for a in arrays.values())]
        selected = tuple(n for n in names if n not in flat)
        panels = {a: (np.stack([arrays[a][n] for n in selected]), people[a]) for a in arrays} if selected else {}
        return Family(name, selected, panels, tuple(flat))

    def inputs_of(self, judge: str) -> list[str]:
        """Return the inputs that an added judge scored, on its aspects."""
        results = {
            i for by in self.added.values() for name, v in by.items() if self.facts[name].judge == judge for _, i in v
        }
        return sorted(results)


def judged(sources: Sources, files: Sequence[str | Path]) -> tuple[JudgedSet, list[str]]:
    """Load the set with released and added scores; notes list rows of the files that do not belong to it."""
    released = {aspect: ratings(mirror_folder(sources.mirror), aspect) for aspect in ASPECTS}
    systems = {system for by in released.values() for values in by.values() for system, _ in values}
    data = sources("summeval")
    data = data.where(data.samples.filter(pl.col("system").is_in(sorted(systems))))
    here = set(data.samples.select("system", "input").rows())
    added: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    facts: dict[str, Score] = {}
    foreign, unscored = 0, 0
    for score in read_scores(files):
        if (score.system, score.input) not in here or score.aspect not in ASPECTS:
            foreign += 1
            continue
        facts.setdefault(score.scorer, score)
        own = added.setdefault(score.aspect, {}).setdefault(score.scorer, {})
        if score.value is None:
            unscored += 1
        else:
            own[score.system, score.input] = score.value
    notes = [f"rows of the score files about other outputs or aspects, left out: {foreign:,}"] if foreign else []
    notes += [f"rows of the score files without a score: {unscored:,}"] if unscored else []
    return JudgedSet(data, released, added, facts), notes


def families(all_: JudgedSet) -> Iterator[Family]:
    """Return the families: released judges in original and coarse scales, metrics, both; then added judges.

    Each judge of the files is added to the released ones on the same outputs, alone where it has enough settings, and
    finally all together.
    """
    nine = all_.family(RELEASED, all_.released)
    yield nine
    yield nine.cut(COARSE)
    yield all_.family(METRICS, {aspect: {} for aspect in ASPECTS}, metrics=True)
    yield all_.family(BOTH, all_.released, metrics=True)
    for judge in dict.fromkeys(score.judge for score in all_.facts.values()):
        own = {
            aspect: {n: v for n, v in by.items() if all_.facts[n].judge == judge}
            for aspect, by in all_.added.items()
            if any(all_.facts[n].judge == judge for n in by)
        }
        inputs = all_.inputs_of(judge)
        released = {aspect: all_.released[aspect] for aspect in own}
        alone = all_.family(judge, own, inputs=inputs)
        if len(alone.scorers) >= LEAST:
            yield alone
        yield replace(all_.family(f"{RELEASED}, outputs of {judge}", released, inputs=inputs), context_only=True)
        together = {aspect: {**released[aspect], **own[aspect]} for aspect in own}
        yield replace(all_.family(f"{RELEASED} and {judge}", together, inputs=inputs), left_out=alone.left_out)
