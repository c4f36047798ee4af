"""USR: a fine-tuned masked model and two retrieval models evaluate a response without references."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from nlgauge.metrics.base import Facts, metric, needing
from nlgauge.metrics.batch import Sample, Usable
from nlgauge.metrics.learned.fed import lines
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.classifier import classifier
from nlgauge.models.masked import Cloze, masked
from nlgauge.models.tensors import CUT
from nlgauge.text.batch import Batch

MLM, CONTEXT, FACT = (f"adamlin/usr-topicalchat-{part}" for part in ("roberta_ft", "ctx", "uk"))
# Mean and standard deviation of the sub-metrics on Topical-Chat, as the authors' program states them.
USUAL = {
    "mlm": (-1.012293440649907, 0.39053753419230813),
    "drc": (0.8604811806918587, 0.30259338627812254),
    "drf": (0.8472124995904354, 0.27987823011851076),
}
# The published regression of Overall: one coefficient for each aspect that a sub-metric stands for (understandable,
# natural; context, interesting; knowledge), and the intercept.
REGRESSION = {"mlm": 0.6601 + 0.4035, "drc": 0.5133 + 0.9605, "drf": 0.3564}
CONSTANT = 3.5975
DR_LONGEST = 128  # tokens of a pair, as the retrieval models were trained and as the published scores were computed
DR_NEEDS = {"c": ("source", "context"), "f": ("context",)}
usr = partial(metric, family="dialogue", year=2020, cite="mehri-eskenazi-2020-usr", extra="neural")


def said(text: str) -> str:
    """Return a response with the markers that the models were trained with."""
    return f"_go {ended(text)}"


def ended(text: str) -> str:
    """Return a turn with the end marker that the models were trained with."""
    return f"{' '.join(text.lower().split())} _eos"


def last(history: str) -> str:
    """Return the last turn. Only the response begins with _go."""
    return ended((lines(history) or [""])[-1])


def mlm_values(found: Usable, name: str, option: str = "model") -> list[float]:
    """Compute the mean log-probability of all tokens of the last turn and the response (including special tokens), each
    masked in turn.
    """
    model = masked(name, option)
    asked: list[Cloze] = []
    counts, cut = [], []
    for sample in found.samples:
        text = model.plain_ids(f"{last(sample.source)} {said(sample.output)}")
        room = model.longest - len(model.begin) - len(model.end)
        cut.append(len(text) > room)
        text = text[-room:]
        whole = [*model.begin, *text, *model.end]
        for index in range(len(model.begin), len(model.begin) + len(text)):
            asked.append(Cloze((*whole[:index], model.mask, *whole[index + 1 :]), (index,), (whole[index],)))
        counts.append(len(text))
    found.note(cut, CUT)
    told = iter(model.logs(asked))
    return [math.fsum(next(told)[0] for _ in range(n)) / n if n else math.nan for n in counts]


def usr_regression(parts: Mapping[str, Sequence[float]]) -> list[float]:
    """Compute USR from the scores of its three parts.

    Parameters
    ----------
    parts : mapping
        `mlm` (usr-mlm), `drc` (usr-dr with x='c') and `drf` (usr-dr with x='f') -> one score per output.

    Returns
    -------
    list of float

    Notes
    -----
    The regression of the human rating Overall on standardized scores, with the coefficients, means and standard
    deviations of Mehri and Eskenazi (2020).

    Examples
    --------
    >>> [round(v, 4) for v in usr_regression({"mlm": [-1.012293], "drc": [0.860481], "drf": [0.847212]})]
    [3.5975]
    """
    total = [CONSTANT] * len(parts["mlm"])
    for name, (mean, sd) in USUAL.items():
        total = [t + REGRESSION[name] * (v - mean) / sd for t, v in zip(total, parts[name], strict=True)]
    return total


def dr_values(found: Usable, name: str, x: str, option: str = "model") -> list[float]:
    """Compute the probability that the response is the true one after x: the last turn with the fact (c), or the fact
    (f).
    """

    def before(sample: Sample) -> str:
        fact = ended(sample.context)
        return f"{last(sample.source)} {fact}" if x == "c" else fact

    model = classifier(name, option)
    told = model.probabilities([(before(s), said(s.output)) for s in found.samples], DR_LONGEST)
    true = model.label(1)
    found.note((c for _, c in told), CUT)
    return [float(p[true]) for p, _ in told]


@usr(
    "usr-mlm",
    needs=("source",),
    bounds=(-math.inf, 0.0),
    weights=f"{MLM} (RoBERTa), or another masked model, by name or folder",
)
class UsrMlm(OnSamples):
    """Mean log-probability of the tokens of the last turn and the response, each masked in turn, as the published
    program.

    The paper speaks of the response alone; the program, and so the published scores, mask the turn before it as well.
    Too long a text loses its beginning.
    """

    model: str = MLM

    model_options = ("model",)

    @property
    def signature(self) -> str:
        return self.signed()

    def values(self, batch: Batch, found: Usable) -> list[float]:
        return mlm_values(found, self.model)


@usr("usr-dr", needs=("source", "context"), weights=f"{CONTEXT} (x='c'), {FACT} (x='f'), by name or folder")
class UsrDr(OnSamples):
    """Probability that the response is the one that was really given, by a retrieval model.

    x: 'c' after the last turn and the fact, 'f' after the fact alone (source is the history, context the fact). The
    pair is cut to 128 tokens, the longer text first, as in the published program. model: '' is the authors' for x.
    """

    x: Literal["c", "f"] = "c"
    model: str = ""

    def own_facts(self, facts: Facts) -> Facts:
        return needing(facts, DR_NEEDS[self.x])

    def models(self) -> dict[str, str]:
        return {"model": self.model or (CONTEXT if self.x == "c" else FACT)}

    @property
    def signature(self) -> str:
        return self.signed(x=self.x, longest=DR_LONGEST)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        return dr_values(found, self.models()["model"], self.x)


@usr(
    "usr",
    needs=("source", "context"),
    bounds=(-math.inf, math.inf),
    weights=f"{MLM}, {CONTEXT} and {FACT} by name or folder",
)
class Usr(OnSamples):
    """USR: the published regression of Overall on usr-mlm, usr-dr(x='c') and usr-dr(x='f'), fitted on Topical-Chat.

    Coefficients, means and standard deviations are the authors'. With other models than theirs it is no USR: the means
    and the coefficients belong to their scores.
    """

    mlm: str = MLM
    drc: str = CONTEXT
    drf: str = FACT

    model_options = ("mlm", "drc", "drf")

    @property
    def signature(self) -> str:
        return self.signed(regression="topical-chat", longest=DR_LONGEST)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        parts = {
            "mlm": mlm_values(found, self.mlm, "mlm"),
            "drc": dr_values(found, self.drc, "c", "drc"),
            "drf": dr_values(found, self.drf, "f", "drf"),
        }
        return usr_regression(parts)
