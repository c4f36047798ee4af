"""Which metrics are worth trusting for which task: one protocol, sets for choosing and sets for reporting kept apart.

    NLGAUGE_DATA=… python -m bench.metric_choice choose [consistency|relevance|…]   (looks at choosing sets only)
    NLGAUGE_DATA=… python -m bench.metric_choice report

`choose` scores candidate parts on the choosing sets, tries every combination of at most MOST of them on one fixed
scale, and names the one with the highest mean Pearson correlation over these sets. Scales come from the outputs, not
from ratings. `report` scores what is shipped, and the baselines, on all sets and says which of them chose. Scores are
kept in a store, so that a second run reads no text.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np

from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.alignment.construct import ending, kind, phrases
from nlgauge.metrics.combined.blend import Blend
from nlgauge.text.damage import damage
from nlgauge.text.sentences import sentences
from nlgauge.text.stopwords import STOP
from nlgauge_papers import Sources
from nlgauge_papers.deng2021.estimators import Case, Sets, first_references

STORE = Path(os.environ.get("NLGAUGE_CHOICE_STORE", "metric_choice.sqlite"))
MOST = 5  # parts of a combination
TIMED = 32  # outputs for the cost of a metric
DAMAGED = "damaged references"


@dataclass(frozen=True)
class On:
    """A set, people's aspect there, how many references (0: all there are), which half of its inputs."""

    set: str
    aspect: str
    references: int = 0
    half: int | None = None

    def __str__(self) -> str:
        half = {None: "", 0: ", even inputs", 1: ", odd inputs"}[self.half]
        many = {0: "", 1: ", 1 reference"}.get(self.references, f", {self.references} references")
        return self.set + many + half


@dataclass(frozen=True)
class Goal:
    """One aspect: sets that choose, sets that report, candidate parts (−: less is better), what is shipped, baselines.

    tried: combinations looked at before this file was written, on cached signals of the choosing sets alone.
    """

    choosing: tuple[On, ...]
    reporting: tuple[On, ...]
    candidates: tuple[str, ...]
    shipped: tuple[str, ...]
    baselines: tuple[str, ...]
    tried: int = 0


def _relevance(references: int, half: int | None) -> On:
    return On("summeval", "relevance", references, half)


def _ctc(aspect: str, *others: str) -> tuple[str, ...]:
    return tuple(f"ctc(aspect='{aspect}'{more})" for more in ("", ", formula='chosen'", *others))


SOURCE_BERTSCORE = "xbertscore(encoder='minilm')"
D, D_CHOSEN = ", align='D'", ", align='D', formula='chosen'"
GOALS = {
    "consistency": Goal(
        # Newsroom's 'Relevance' asks whether the details of a summary agree with those of the article.
        (On("qags-cnndm", "consistency"), On("newsroom", "Relevance"), On(DAMAGED, "undamaged")),
        (On("qags-xsum", "consistency"), On("summeval", "consistency")),
        (
            "ctc",
            "align-expr(expr='mean(y>x)', layer=6, window=1, match='apart')",
            "align-expr(expr='half(y>x)', layer=6, window=1, match='apart')",
            "align-expr(expr='low(y>x)', layer=6, window=1, match='apart')",
            "ctc(align='D', formula='chosen')",
            "align-expr(expr='low(y>x)', align='D', unit='word')",
            "-novelty(order=3)",
        ),
        ("consistency",),
        ("length", "coverage", "novelty(order=3)", SOURCE_BERTSCORE, *_ctc("consistency", D, D_CHOSEN)),
        tried=4_800,
    ),
    "relevance": Goal(
        (_relevance(11, 0), _relevance(1, 0)),
        (_relevance(11, 1), _relevance(1, 1)),
        (
            "align-expr(expr='mean(r>y)', layer=6)",
            "salience",
            "salience(by='vectors')",
            "distinct-2",
            "rouge-1(part='p', references='mean', stem=True)",
            "rouge-1(part='r', references='mean', stem=True)",
            "rouge-2(part='r', references='mean', stem=True)",
            "-novelty(order=3)",
        ),
        ("relevance",),
        ("length", "rouge-1", "rouge-2", "rouge-l", "bertscore", *_ctc("relevance")),
        tried=3_950,
    ),
    "preservation": Goal(
        (On("yelp", "preservation", 0, 0),),
        (On("yelp", "preservation", 0, 1),),
        (*_ctc("preservation", D, D_CHOSEN), SOURCE_BERTSCORE),
        (),
        ("length", "coverage"),
    ),
    "engagingness": Goal(
        (On("usr-persona", "engagingness"),),
        (On("usr-topical", "engagingness"),),
        _ctc("engagingness", D, D_CHOSEN),
        (),
        ("length", "rouge-l", "bertscore"),
    ),
    "groundedness": Goal(
        (On("usr-persona", "groundedness"),),
        (On("usr-topical", "groundedness"),),
        _ctc("groundedness", D, D_CHOSEN),
        (),
        ("length", "rouge-l", "bertscore"),
    ),
}


class Protocol:
    """Sets, their ratings, and scores that are computed once."""

    def __init__(self) -> None:
        self.sets = Sets(Sources(store=STORE, tell=print))
        self._ratings: dict[On, tuple[Any, Any]] = {}

    def batch(self, on: On) -> Batch:
        if on.set == DAMAGED and DAMAGED not in self.sets.loaded:
            claims = list(damaged_references(self.sets))
            batch = Batch.from_columns([c[1] for c in claims], [c[0] for c in claims], None, None)
            self.sets.loaded[DAMAGED] = None, batch  # type: ignore[assignment]
            labels = np.array([[float(c[2]) for c in claims]])
            self._ratings[on] = np.arange(len(claims))[None].astype(float), labels
        return first_references(self.sets.get(on.set)[1], on.references)

    def scores(self, spec: str, on: On) -> Any:
        metric = metric_from_spec(spec.removeprefix("-"))
        if isinstance(metric, Blend):  # from its parts, which are kept
            scaled = [(self.scores(part, on) - s.center) / s.spread for part, s in metric.parts.items()]
            return np.mean(scaled, axis=0)
        batch = self.batch(on)
        began = time.process_time()
        found = self.sets.runner.score(metric, batch).values
        if (spent := time.process_time() - began) > 1:
            print(f"{spec} on {on}: {spent:.0f} s CPU, {1000 * spent / len(batch):.0f} ms an output", flush=True)
        return -found if spec.startswith("-") else found

    def ratings(self, on: On) -> tuple[Any, Any]:
        """The number of the output in each cell, and people's rating; systems × inputs."""
        self.batch(on)
        if on not in self._ratings:
            self._ratings[on] = self.sets.places(Case("", on.set, on.aspect, "", 0, on.half))
        return self._ratings[on]

    def table(self, values: Any, on: On) -> tuple[Any, Any]:
        """Scores and ratings, systems × inputs; NaN where either is missing."""
        places, human = self.ratings(on)
        return np.append(values, np.nan)[np.where(np.isnan(places), -1, places).astype(int)], human

    def pearson(self, values: Any, on: On) -> float:
        x, z = self.table(values, on)
        there = ~np.isnan(x) & ~np.isnan(z)
        return float(np.corrcoef(x[there], z[there])[0, 1])

    def interval(self, values: Any, on: On) -> tuple[float, float]:
        """95 % percentile bootstrap over inputs, 1,000 draws."""
        from nlgauge.stats.resampling.bootstrap import bootstrap

        x, z = self.table(values, on)
        found = bootstrap(x[None], z, ["global/pearson"], how="inputs", draws=1000, seed=0).interval()
        return float(found.low[0, 0]), float(found.high[0, 0])


def damaged_references(sets: Sets) -> Iterator[tuple[str, str, bool]]:
    """Source, sentence, whether it is whole: sentences of REALSumm's references, and each once more with an error.

    Errors of systems that write freely: a phrase of the same kind from another article or from elsewhere in this one,
    another number, a negation. No rating is used. A reference may itself say what its source does not.
    """
    data, _ = sets.get("realsumm")
    rows = data.samples.select("source", "references").unique("source", maintain_order=True).rows()
    rng = np.random.default_rng(0)
    found = {source: _phrases(source) for source, _ in rows}
    for source, references in rows:
        others = [p for other, ps in found.items() if other != source for p in ps]
        for claim in re.split(r"(?<=[.!?])\s+", references[0]):
            words = claim.split()
            if not 6 <= len(words) <= 45:
                continue
            yield source, claim, True
            how = ("far", "far", "near", "number", "negate")[rng.integers(5)]
            new = damage(claim, how, 0.3, rng).text if how in ("number", "negate") else claim
            if new == claim:
                new = _exchanged(words, found[source] if how == "near" else others, rng)
            if new != claim:
                yield source, new, False


def _phrases(source: str) -> list[tuple[str, list[str]]]:
    return [(kind(part), part) for s in sentences(source) for part in _bare(s.split())]


def _bare(words: list[str]) -> list[list[str]]:
    """Phrases without the function words that they begin with."""
    found = []
    for first, last in phrases(words):
        part = words[first:last]
        while len(part) > 1 and part[0].lower() in STOP:
            part = part[1:]
        found.append(part)
    return [f for f in found if len(f) <= 6]


def _exchanged(words: list[str], pool: list[tuple[str, list[str]]], rng: np.random.Generator) -> str:
    """One phrase exchanged for another of its kind."""
    text = " ".join(words)
    mine = _bare(words)
    for k in rng.permutation(len(mine)):
        old = " ".join(mine[k])
        fitting = [p for sort, p in pool if sort == kind(mine[k]) and " ".join(p).lower() != old.lower()]
        if fitting:
            return text.replace(old, " ".join(ending(mine[k], list(fitting[rng.integers(len(fitting))]))), 1)
    return text


def choose(protocol: Protocol, name: str) -> None:
    """Every combination of the candidates on the choosing sets; the rule is the highest mean correlation there."""
    goal = GOALS[name]
    found = {(c, on): protocol.scores(c, on) for on in goal.choosing for c in goal.candidates}
    scale = {
        c: (
            float(np.nanmean(np.concatenate([found[c, on] for on in goal.choosing]))),
            float(np.mean([np.nanstd(found[c, on]) for on in goal.choosing])),
        )
        for c in goal.candidates
    }
    print(f"\n{name}: parts, their scale, and Pearson on {'; '.join(map(str, goal.choosing))}")
    rows = []
    for size in range(1, MOST + 1):
        for parts in combinations(goal.candidates, size):
            each = [
                protocol.pearson(sum((found[c, on] - scale[c][0]) / scale[c][1] for c in parts), on)
                for on in goal.choosing
            ]
            rows.append((float(np.mean(each)), each, parts))
    for value, each, parts in rows[: len(goal.candidates)]:
        print(f"  {value:.3f}  {_numbers(each)}  {parts[0]}  Scale({scale[parts[0]][0]:.4f}, {scale[parts[0]][1]:.4f})")
    print(f"best of {len(rows)} combinations of at most {MOST} parts, by size:")
    for size in range(1, MOST + 1):
        for value, each, parts in sorted((r for r in rows if len(r[2]) == size), reverse=True)[:3]:
            print(f"  {value:.3f}  {_numbers(each)}  {' + '.join(parts)}")


def _numbers(values: list[float]) -> str:
    return " ".join(f"{v:.3f}".replace("0.", ".", 1) for v in values)


def report(protocol: Protocol, name: str, costs: dict[str, float]) -> list[str]:
    """Lines of the page: every baseline and what is shipped, on the sets that chose (*) and on those that report."""
    goal = GOALS[name]
    sets = [*goal.choosing, *goal.reporting]
    for spec in (*goal.baselines, *goal.shipped, *([] if goal.shipped else goal.candidates)):
        if spec not in costs:
            costs[spec] = milliseconds(protocol, spec, sets[0])
    heads = [f"{on}{'*' if on in goal.choosing else ''}" for on in sets]
    lines = [
        f"## {name.capitalize()}",
        "",
        f"| metric | {' | '.join(heads)} | ms |",
        "| --- |" + " --- |" * (len(sets) + 1),
    ]
    for spec in dict.fromkeys((*goal.baselines, *goal.candidates, *goal.shipped)):
        cells = []
        for on in sets:
            values = protocol.scores(spec, on) if _scorable(protocol, spec, on) else None
            cells.append("–" if values is None else _cell(protocol, values, on))
        cost = f"{costs[spec]:.1f}" if spec in costs else "–"
        shown = f"**`{spec}`**" if spec in goal.shipped else f"`{spec}`"
        lines.append(f"| {shown} | {' | '.join(cells)} | {cost} |")
    return [*lines, ""]


def _scorable(protocol: Protocol, spec: str, on: On) -> bool:
    batch = protocol.batch(on)
    return "references" not in metric_from_spec(spec.removeprefix("-")).facts.needs or len(batch.reference) > 0


def _cell(protocol: Protocol, values: Any, on: On) -> str:
    value = protocol.pearson(values, on)
    if np.isnan(value):
        return "–"
    low, high = protocol.interval(values, on)
    return f"{_numbers([value])} [{_numbers([low])}, {_numbers([high])}]".replace("-", "−")


def milliseconds(protocol: Protocol, spec: str, on: On) -> float:
    """Processor time an output: the first outputs of a set in a batch of their own, after the models are loaded."""
    from nlgauge.metrics.alignment.ctc import samples_of

    metric = metric_from_spec(spec.removeprefix("-"))
    samples, _, _ = samples_of(protocol.batch(on), metric.facts.needs)

    def fresh(n: int) -> Batch:  # nothing of it is kept from an earlier pass
        y, x, c = ([s[field] for s in samples[:n]] for field in "yxc")
        return Batch.from_columns(y, x, c, [s["r"] for s in samples[:n]])

    metric.score(fresh(2))
    began = time.process_time()
    metric.score(fresh(TIMED))
    return 1000 * (time.process_time() - began) / TIMED


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.metric_choice", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["choose", "report"], nargs="?", default="choose")
    parser.add_argument("names", nargs="*", default=[], help=f"of {', '.join(GOALS)}; all by default")
    asked = parser.parse_args()
    protocol, costs = Protocol(), {}  # type: ignore[var-annotated]
    for name in asked.names or GOALS:
        if asked.what == "choose":
            choose(protocol, name)
        else:
            print("\n".join(report(protocol, name, costs)), flush=True)


if __name__ == "__main__":
    main()
