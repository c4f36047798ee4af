"""UniEval: a T5 trained to answer yes-or-no questions about the output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from nlgauge.errors import NameUnknown
from nlgauge.metrics.base import Facts, metric, needing
from nlgauge.metrics.batch import Best, Sample, Usable, fold
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.seq2seq import seq2seq
from nlgauge.models.tensors import CUT
from nlgauge.registry import did_you_mean
from nlgauge.text.batch import Batch
from nlgauge.text.sentences import sentences

LONGEST = 1024  # tokens, as in the authors' program; a T5 has no maximum length
BREAK = " </s> "


class Ask(NamedTuple):
    """A question in the wording of the model's training data, the name of the output in it, and the other texts shown.

    unit: 'text' asks once; 'mean' and 'sum' ask for each sentence of the output.
    """

    question: str
    called: str
    shown: tuple[tuple[str, str], ...] = ()  # its name and field
    unit: str = "text"


DOCUMENT, HISTORY, FACT = ("document", "source"), ("dialogue history", "source"), ("fact", "context")
REFERENCE = ("reference", "references")
CONSISTENT = Ask("Is this claim consistent with the document?", "claim", (DOCUMENT,), "mean")
# Wording and order must be those of the training.
TASKS: dict[str, dict[str, Ask]] = {
    "summarization": {
        "coherence": Ask("Is this a coherent summary to the document?", "summary", (DOCUMENT,)),
        "consistency": CONSISTENT,
        "fluency": Ask("Is this a fluent paragraph?", "paragraph", (), "mean"),
        "relevance": Ask("Is this summary relevant to the reference?", "summary", (REFERENCE,)),
    },
    "dialogue": {
        "naturalness": Ask("Is this a natural response in the dialogue?", "response"),
        "coherence": Ask("Is this a coherent response given the dialogue history?", "response", (HISTORY,)),
        "engagingness": Ask(
            "Is this an engaging and informative response according to the dialogue history and fact?",
            "response",
            (HISTORY, FACT),
            "sum",
        ),
        "groundedness": Ask("Is this response consistent with knowledge in the fact?", "response", (FACT,)),
        "understandability": Ask("Is this an understandable response in the dialogue?", "response"),
    },
    "data2text": {
        "naturalness": Ask("Is this a fluent utterance?", "utterance"),
        "informativeness": Ask("Is this sentence informative according to the reference?", "sentence", (REFERENCE,)),
    },
    "fact": {"consistency": CONSISTENT},
}
MODELS = {
    "summarization": "MingZhong/unieval-sum",
    "dialogue": "MingZhong/unieval-dialog",
    "data2text": "MingZhong/unieval-sum",
    "fact": "MingZhong/unieval-fact",
}


def prompts(ask: Ask, sample: Sample) -> list[list[str]]:
    """Return the model's inputs: one list for each reference (or a single list), with one input for each unit of the
    output.
    """
    units = sentences(sample.output) or [sample.output] if ask.unit != "text" else [sample.output]
    refs = sample.references if REFERENCE in ask.shown else ("",)
    results = []
    for ref in refs:
        fields = {"source": sample.source, "context": sample.context, "references": ref}
        rest = "".join(f"{BREAK}{called}: {fields[name]}" for called, name in ask.shown)
        results.append([f"question: {ask.question}{BREAK}{ask.called}: {unit}{rest}" for unit in units])
    return results


@metric(
    "unieval",
    family="unieval",
    needs=("source",),
    year=2022,
    cite="zhong-etal-2022-towards",
    extra="neural",
    weights="MingZhong/unieval-sum, unieval-dialog or unieval-fact (T5-large) by name or folder",
)
class UniEval(OnSamples):
    """P(Yes) / (P(Yes) + P(No)) of a model trained to answer questions about one aspect of the output.

    task: summarization, dialogue (source the history, context the fact), data2text or fact; aspect: one of the task's,
    or 'overall', the mean of all. Consistency and fluency are means over sentences, engagingness is a sum. model: '' is
    the authors' for the task.
    """

    task: Literal["summarization", "dialogue", "data2text", "fact"] = "summarization"
    aspect: str = "coherence"
    references: Best = "max"
    model: str = ""

    def check(self) -> None:
        available = [*TASKS[self.task], "overall"]
        if self.aspect not in available:
            raise NameUnknown(
                f"unieval: no aspect '{self.aspect}' of {self.task}.{did_you_mean(self.aspect, available)} "
                f"There are {', '.join(available)}."
            )

    def own_facts(self, facts: Facts) -> Facts:
        needs = {name for ask in self.asks() for _, name in ask.shown}
        summed = any(ask.unit == "sum" for ask in self.asks())
        return needing(facts, needs, (0.0, math.inf if summed else 1.0))

    def asks(self) -> Sequence[Ask]:
        """Return the questions of the aspect, or all of the task for 'overall'."""
        available = TASKS[self.task]
        return list(available.values()) if self.aspect == "overall" else [available[self.aspect]]

    def models(self) -> dict[str, str]:
        return {"model": self.model or MODELS[self.task]}

    @property
    def signature(self) -> str:
        refs = self.references if "references" in self.facts.needs else None
        return self.signed(task=self.task, aspect=self.aspect, refs=refs)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        model = seq2seq(self.models()["model"])
        yes, no = (model.ids(word, LONGEST)[0][0] for word in ("Yes", "No"))
        columns = []
        for ask in self.asks():
            asked = [prompts(ask, s) for s in found.samples]
            told = model.first([p for refs in asked for units in refs for p in units], (yes, no), LONGEST)
            values = [1.0 / (1.0 + math.exp(float(logs[1] - logs[0]))) for logs, _ in told]
            units = [len(units) for refs in asked for units in refs]
            refs = [len(refs) for refs in asked]
            each = fold(values, units, "sum" if ask.unit == "sum" else "mean")
            columns.append(fold(each, refs, self.references))
            cut = fold([float(c) for _, c in told], units, "max")
            found.note(fold(cut, refs, "max"), CUT)
        return [sum(row) / len(row) for row in zip(*columns, strict=True)]
