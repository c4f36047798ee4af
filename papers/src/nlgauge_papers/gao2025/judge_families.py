"""Who is compared on SummEval: released judges, the metrics published with the set, and judges from score files."""

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
COARSE = 3  # levels that judges are cut to
LEAST = 3  # scorers that can be ranked, and left out one at a time
FEWEST = 6  # documents that can be halved, and left out one at a time
Outputs = Mapping[tuple[str, str], float]  # (system, input) -> score
ByJudge = Mapping[str, Mapping[str, Outputs]]  # aspect -> judge -> its scores


@dataclass(frozen=True)
class Family:
    """Scorers that are compared with each other: by aspect their scores K×N×M, and people's N×M."""

    name: str
    scorers: tuple[str, ...]
    panels: Mapping[str, tuple[Array, Array]]
    left_out: tuple[str, ...] = ()  # the same score for every output: no correlation
    only_beside: bool = False  # shown beside another family, no statements of its own

    @property
    def too_small(self) -> str:
        """Why its measures cannot be compared; empty where they can."""
        if len(self.scorers) < LEAST:
            return f"{len(self.scorers)} scorers; {LEAST} are needed"
        inputs = next(iter(self.panels.values()))[1].shape[1]
        return f"{inputs} documents; {FEWEST} are needed" if inputs < FEWEST else ""

    @property
    def size(self) -> str:
        """Say how many scorers, outputs and aspects there are."""
        k, systems, inputs = next(iter(self.panels.values()))[0].shape
        aspects = "4 aspects" if len(self.panels) == len(ASPECTS) else ", ".join(self.panels)
        return f"{k} scorers, {systems} × {inputs}, {aspects}"

    def cut(self, levels: int) -> Family:
        """The same scorers on a scale of few equal steps."""
        panels = {a: (np.stack([coarsen(x, levels) for x in xs]), z) for a, (xs, z) in self.panels.items()}
        return Family(f"{self.name}, {levels} levels", self.scorers, panels)


@dataclass(frozen=True)
class JudgedSet:
    """SummEval's judged systems, and what there is to compare on them."""

    data: Dataset
    released: ByJudge  # aspect -> judge -> output -> rating
    added: ByJudge = field(default_factory=dict)
    facts: Mapping[str, Score] = field(default_factory=dict)  # of each added scorer

    def family(self, name: str, scores: ByJudge, metrics: bool = False, inputs: Sequence[str] | None = None) -> Family:
        """Scorers by aspect on these inputs; one that gives every output the same is left out."""
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
        kept = tuple(n for n in names if n not in flat)
        panels = {a: (np.stack([arrays[a][n] for n in kept]), people[a]) for a in arrays} if kept else {}
        return Family(name, kept, panels, tuple(flat))

    def inputs_of(self, judge: str) -> list[str]:
        """Inputs that an added judge scored, on the aspects that it has."""
        found = {
            i for by in self.added.values() for name, v in by.items() if self.facts[name].judge == judge for _, i in v
        }
        return sorted(found)


def judged(sources: Sources, files: Sequence[str | Path]) -> tuple[JudgedSet, list[str]]:
    """The set with released and added scores; notes say what of the files does not belong to it."""
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
        mine = added.setdefault(score.aspect, {}).setdefault(score.scorer, {})
        if score.value is None:
            unscored += 1
        else:
            mine[score.system, score.input] = score.value
    notes = [f"rows of the score files about other outputs or aspects, left out: {foreign:,}"] if foreign else []
    notes += [f"rows of the score files without a score: {unscored:,}"] if unscored else []
    return JudgedSet(data, released, added, facts), notes


def families(all_: JudgedSet) -> Iterator[Family]:
    """Released judges as they are and coarsen, metrics, both; then each judge of the files beside the released ones on
    the same outputs, alone where it has enough settings, and all together.
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
        beside = {aspect: all_.released[aspect] for aspect in own}
        alone = all_.family(judge, own, inputs=inputs)
        if len(alone.scorers) >= LEAST:
            yield alone
        yield replace(all_.family(f"{RELEASED}, outputs of {judge}", beside, inputs=inputs), only_beside=True)
        together = {aspect: {**beside[aspect], **own[aspect]} for aspect in own}
        yield replace(all_.family(f"{RELEASED} and {judge}", together, inputs=inputs), left_out=alone.left_out)
