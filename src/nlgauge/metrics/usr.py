"""USR: a masked model and two retrieval models, fine-tuned on dialogues, judge a response without references."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from nlgauge.errors import NlgaugeError
from nlgauge.metrics._base import Batch, Scores, metric
from nlgauge.metrics._byname import ByName
from nlgauge.metrics._samples import Able, Sample, able
from nlgauge.metrics.bartscore import CUT
from nlgauge.metrics.fed import lines

MLM, CONTEXT, FACT = (f"adamlin/usr-topicalchat-{part}" for part in ("roberta_ft", "ctx", "uk"))
# Mean and standard deviation of the sub-metrics on Topical-Chat, as the authors' program states them.
USUAL = {"mlm": (-1.012293, 0.390538), "drc": (0.860481, 0.302593), "drf": (0.847212, 0.279878)}
# One for each aspect that a sub-metric stands for there: understandable, natural; context, interesting; knowledge.
SHARES = {"mlm": 2.0, "drc": 2.0, "drf": 1.0}
DR_NEEDS = {"c": ("source", "context"), "f": ("context",)}


def said(text: str) -> str:
    """A turn with the marks that the models were trained with."""
    return f"_go {' '.join(text.lower().split())} _eos"


def last(history: str) -> str:
    return said((lines(history) or [""])[-1])


def mlm_values(found: Able, name: str, option: str = "model") -> list[float]:
    """Mean log-probability of the response's tokens, each masked in turn, after the last turn of the history."""
    from nlgauge.metrics._masked import Cloze, masked

    model = masked(name, option)
    asked: list[Cloze] = []
    counts, cut = [], []
    for sample in found.samples:
        response = model.ids(" " + " ".join(sample.output.lower().split()))
        begin = [*model.begin, *model.ids(last(sample.source) + " _go")]
        end = [*model.ids(" _eos"), *model.end]
        room = model.longest - len(end) - len(model.begin)
        cut.append(len(begin) + len(response) + len(end) > model.longest)
        response = response[:room]
        keep = max(0, room - len(response))
        before = [*model.begin, *(begin[len(model.begin) :][-keep:] if keep else [])]
        whole = [*before, *response, *end]
        for at in range(len(before), len(before) + len(response)):
            asked.append(Cloze((*whole[:at], model.mask, *whole[at + 1 :]), (at,), (whole[at],)))
        counts.append(len(response))
    found.note(cut, CUT)
    told = iter(model.logs(asked))
    return [math.fsum(next(told)[0] for _ in range(n)) / n if n else math.nan for n in counts]


def dr_values(found: Able, name: str, x: str, option: str = "model") -> list[float]:
    """Probability that the response is the true one after x: the last turn with the fact (c), or the fact (f)."""
    from nlgauge.metrics._classify import classifier

    def before(sample: Sample) -> str:
        fact = " ".join(sample.context.lower().split()) + " _eos"
        return f"{last(sample.source)} {fact}" if x == "c" else fact

    model = classifier(name, option)
    told = model.probabilities([(before(s), said(s.output)) for s in found.samples], model.label(1))
    found.note((c for _, c in told), CUT)
    return [p for p, _ in told]


@metric(
    "usr-mlm",
    family="dialogue",
    needs=("source",),
    bounds=(-math.inf, 0.0),
    year=2020,
    cite="mehri-eskenazi-2020-usr",
    extra="neural",
    weights=f"{MLM} (RoBERTa), or another masked model, by name or folder",
)
@dataclass(frozen=True)
class UsrMlm(ByName):
    """Mean log-probability of the response's tokens, each masked in turn, after the last turn of the dialogue."""

    model: str = MLM

    @property
    def signature(self) -> str:
        return self._signature()

    def score(self, batch: Batch) -> Scores:
        found = able(batch, self.facts.needs)
        return found.scores(mlm_values(found, self.model) if found.samples else [])


@metric(
    "usr-dr",
    family="dialogue",
    needs=("source", "context"),
    year=2020,
    cite="mehri-eskenazi-2020-usr",
    extra="neural",
    weights=f"{CONTEXT} (x='c'), {FACT} (x='f'), by name or folder",
)
@dataclass(frozen=True)
class UsrDr(ByName):
    """Probability that the response is the one that was really given, by a retrieval model.

    x: 'c' after the last turn and the fact, 'f' after the fact alone (source is the history, context the fact). model: ''
    is the authors' for x.
    """

    x: Literal["c", "f"] = "c"
    model: str = ""

    def __post_init__(self) -> None:
        if self.x not in DR_NEEDS:
            raise NlgaugeError(f"usr-dr: x='{self.x}'; use c or f.")
        self._tell(DR_NEEDS[self.x])

    def models(self) -> dict[str, str]:
        return {"model": self.model or (CONTEXT if self.x == "c" else FACT)}

    @property
    def signature(self) -> str:
        return self._signature(x=self.x)

    def score(self, batch: Batch) -> Scores:
        found = able(batch, self.facts.needs)
        return found.scores(dr_values(found, self.models()["model"], self.x) if found.samples else [])


@metric(
    "usr-mean",
    family="dialogue",
    needs=("source", "context"),
    bounds=(-math.inf, math.inf),
    year=2020,
    cite="mehri-eskenazi-2020-usr",
    extra="neural",
    weights=f"{MLM}, {CONTEXT} and {FACT} by name or folder",
)
@dataclass(frozen=True)
class UsrMean(ByName):
    """Weighted mean of USR's three sub-metrics, each standardised as the authors do; not their regression.

    USR is a linear regression whose coefficients are only published as a pickled file. Here the sub-metrics weigh as many
    aspects as they stand for there: `weights` for MLM, DR(x=c) and DR(x=f), by default 2, 2, 1.
    """

    weights: tuple[float, float, float] = (SHARES["mlm"], SHARES["drc"], SHARES["drf"])
    mlm: str = MLM
    drc: str = CONTEXT
    drf: str = FACT

    def __post_init__(self) -> None:
        if len(self.weights) != 3 or sum(self.weights) == 0:
            raise NlgaugeError(f"usr-mean: weights={self.weights}; three numbers whose sum is not 0.")

    def models(self) -> dict[str, str]:
        return {"mlm": self.mlm, "drc": self.drc, "drf": self.drf}

    @property
    def signature(self) -> str:
        return self._signature(weights=",".join(f"{w:g}" for w in self.weights))

    def score(self, batch: Batch) -> Scores:
        found = able(batch, self.facts.needs)
        if not found.samples:
            return found.scores([])
        parts = {
            "mlm": mlm_values(found, self.mlm, "mlm"),
            "drc": dr_values(found, self.drc, "c", "drc"),
            "drf": dr_values(found, self.drf, "f", "drf"),
        }
        total = [0.0] * len(found.samples)
        for (name, values), weight in zip(parts.items(), self.weights, strict=True):
            mean, sd = USUAL[name]
            total = [t + weight * (v - mean) / sd for t, v in zip(total, values, strict=True)]
        return found.scores([t / sum(self.weights) for t in total])
