"""Question answering metrics: SummaQA asks the summary about the source, QAGS compares answers of summary and
source.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import metric
from nlgauge.metrics.batch import Sample, Usable
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.answering import Answering, answering, cloze, mean, names, overlap, plain
from nlgauge.models.seq2seq import seq2seq
from nlgauge.text.batch import Batch

CAPITALS = "capitals"
SQUAD = "bert-large-uncased-whole-word-masking-finetuned-squad"
NER = "dslim/bert-base-NER"
MARK = "MASKED"  # placeholder of the name in the authors' questions
asking = partial(metric, family="qa", needs=("source",), extra="neural")


class QuestionAnswering(OnSamples):
    """Models for names (or a rule for them), for answers, and for questions."""

    entities: str
    qa: str
    undefined = "no question to ask"

    def models(self) -> dict[str, str]:
        results = {"qa": self.qa}
        return results if self.entities == CAPITALS else results | {"entities": self.entities}

    def one(self, model: Answering, sample: Sample) -> float:
        """Return the score of one sample; NaN if no question can be asked."""
        raise NotImplementedError

    def too_long(self, sample: Sample) -> bool:
        """Return whether a text does not fit a model that cannot process it in windows."""
        return False

    def values(self, batch: Batch, found: Usable) -> list[float]:
        model = answering(self.qa, "qa")
        values = [self.one(model, s) for s in found.samples]
        for place, sample in zip(found.places.tolist(), found.samples, strict=True):
            if self.too_long(sample):
                found.reasons[place] = "output longer than the question generator takes"
        return values


@asking(
    "summaqa",
    year=2019,
    cite="scialom-etal-2019-answers",
    weights=f"{SQUAD} (answers) and {NER} (names), or others, by name or folder",
)
class SummaQA(QuestionAnswering):
    """Sentences of the source with a name masked are questions; the output answers them.

    of: 'prob' is the model's confidence in its answers, 'f' their word overlap with the masked names. entities: a model
    that marks names, or 'capitals' for a rule (capitalized words and numbers); the authors used spaCy.
    """

    of: Literal["prob", "f"] = "prob"
    entities: str = NER
    qa: str = SQUAD

    @property
    def signature(self) -> str:
        return self.signed(of=self.of, names=CAPITALS if self.entities == CAPITALS else None)

    def one(self, model: Answering, sample: Sample) -> float:
        values = []
        for question, right in cloze(sample.source, self.entities, MARK):
            told = model.answer(question, sample.output)
            values.append(told.probability if self.of == "prob" else overlap(told.text, right))
        return mean(values)


@asking(
    "qags",
    year=2020,
    cite="wang-etal-2020-asking",
    weights=f"a question generator (valhalla/t5-base-qg-hl), {SQUAD} (answers) and {NER} (names), by name or folder",
)
class Qags(QuestionAnswering):
    """Questions about names in the output, answered from the output and from the source: mean word overlap of the
    answers.

    A question counts only if the output itself gives back the name that it was made for. prompt: how the generator
    wants name ({answer}) and text ({before}, {after}) to be shown; most: questions for each output. The authors' own
    models (BART on NewsQA, BERT on SQuAD 2) are not on the hub.
    """

    beams: int = 10
    most: int = 20
    prompt: str = "generate question: {before}<hl> {answer} <hl>{after}"
    qg: str = "valhalla/t5-base-qg-hl"
    entities: str = NER
    qa: str = SQUAD

    def check(self) -> None:
        if self.beams < 1 or self.most < 1:
            raise NlgaugeError(f"qags: beams and most must be at least 1; got {self.beams} and {self.most}.")
        if "{answer}" not in self.prompt:
            raise NlgaugeError("qags: prompt must have {answer} in it, and may have {before} and {after}.")

    def models(self) -> dict[str, str]:
        return {"qg": self.qg, **super().models()}

    @property
    def signature(self) -> str:
        names = CAPITALS if self.entities == CAPITALS else None
        return self.signed(beams=self.beams, most=self.most, prompt=self.prompt, names=names)

    def questions(self, output: str) -> list[tuple[str, str]]:
        """Return each question and the name it was generated for."""
        spans = names(output, self.entities)[: self.most]
        shown = [self._shown(output, a, b) for a, b in spans]
        asked = seq2seq(self.qg, "qg").generate(shown, self.beams, 48) if shown else []
        return [(q, output[a:b]) for q, (a, b) in zip(asked, spans, strict=True) if q]

    def too_long(self, sample: Sample) -> bool:
        model = seq2seq(self.qg, "qg")
        return model.ids(self._shown(sample.output, 0, 0), model.longest)[1]

    def _shown(self, output: str, a: int, b: int) -> str:
        given = self.prompt.replace("{before}", output[:a]).replace("{after}", output[b:])
        return given.replace("{answer}", output[a:b])

    def one(self, model: Answering, sample: Sample) -> float:
        values = []
        for question, name in self.questions(sample.output):
            here = model.answer(question, sample.output)
            if plain(here.text) == plain(name):
                values.append(overlap(here.text, model.answer(question, sample.source).text))
        return mean(values)
