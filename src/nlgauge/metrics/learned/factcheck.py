"""Is each claim of the output supported by the source? A language model answers yes or no for each claim."""

from __future__ import annotations

import math
from typing import Literal

from nlgauge.errors import NeedsMissing
from nlgauge.metrics.base import metric
from nlgauge.metrics.batch import Usable, fold
from nlgauge.metrics.judge.yes_no import check_yes_no, name_of_model, yes_no
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.weights import weights_file
from nlgauge.text.batch import Batch
from nlgauge.text.porter import stem
from nlgauge.text.sentences import sentences
from nlgauge.text.stopwords import STOP, WORD

DEFAULT_MODEL = "qwen2.5-coder-1.5b"
QUESTION = "Text:\n{evidence}\n\nClaim: {claim}\n\nIs every part of the claim supported by the text? Answer Yes or No."
NO_ANSWER = "the model answered neither yes nor no to any claim"


def content_words(text: str) -> set[str]:
    """Return the stems of the words of a text that are not function words.

    >>> sorted(content_words("The bank was robbed by two men."))
    ['bank', 'men', 'rob', 'two']
    """
    return {stem(word) for word in WORD.findall(text.lower()) if word not in STOP}


def evidence_for(claim: str, source: list[str], most: int) -> list[str]:
    """Return the sentences of the source that share most content words with the claim, in the order of the source.

    Parameters
    ----------
    claim : str
    source : list of str
        Its sentences.
    most : int
        How many sentences are returned; 0 returns all.

    Returns
    -------
    list of str

    Examples
    --------
    >>> evidence_for("Two men robbed a bank.", ["It rained.", "A bank was robbed.", "The men fled."], 2)
    ['A bank was robbed.', 'The men fled.']
    """
    if not most or len(source) <= most:
        return source
    words = content_words(claim)
    shared = [len(words & content_words(sentence)) for sentence in source]
    best = sorted(range(len(source)), key=lambda i: (-shared[i], i))[:most]
    return [source[i] for i in sorted(best)]


@metric(
    "factcheck",
    family="entailment",
    needs=("source",),
    extra="llama",
    bounds=(0.0, 1.0),
    year=2026,
    cite="laban-etal-2022-summac",
    weights=f"a language model: {DEFAULT_MODEL} (`nlgauge cache get {DEFAULT_MODEL}`), a folder, a GGUF file, or the "
    "address of an OpenAI-compatible server with token probabilities",
)
class FactCheck(OnSamples):
    """Probability that the claims of the output are supported by the source, by a language model of any size.

    The output is split into sentences. For each, the `evidence` source sentences that share most content words with
    it are shown to the model, which is asked whether every part of the claim is supported; the value is
    P(yes) / (P(yes) + P(no)) of the first token. A sentence that is in the source word for word is supported without a
    call. over: mean or min of the sentences.
    """

    lm: str = DEFAULT_MODEL
    split: Literal["output", "none"] = "output"
    evidence: int = 5
    over: Literal["mean", "min"] = "mean"

    undefined = NO_ANSWER

    def ready(self) -> None:
        default = weights_file(self.lm)
        if default is not None and not default.is_file():
            raise NeedsMissing(
                f"factcheck: the weights of {self.lm} (1.1 GB) are not on this machine: `nlgauge cache get {self.lm}`; "
                "or give a folder, a GGUF file or the address of a server, as in lm='http://127.0.0.1:8080/v1'."
            )
        check_yes_no("factcheck", self.lm)

    @property
    def signature(self) -> str:
        return self.signed(lm=name_of_model(self.lm), split=self.split, evidence=self.evidence, over=self.over)

    def claims(self, output: str) -> list[str]:
        """Return the claims of an output: its sentences, or the whole text."""
        return [output] if self.split == "none" else sentences(output) or [output]

    def values(self, batch: Batch, found: Usable) -> list[float]:
        questions: list[str | None] = []
        sizes = []
        source_sentences: dict[str, list[str]] = {}
        for sample in found.samples:
            source = source_sentences.setdefault(sample.source, sentences(sample.source) or [sample.source])
            claims = self.claims(sample.output)
            sizes.append(len(claims))
            questions += [self._question(claim, source) for claim in claims]
        asked = list(dict.fromkeys(question for question in questions if question is not None))
        answers = dict(zip(asked, yes_no(self.lm).probabilities(asked) if asked else [], strict=True))
        support = [1.0 if question is None else answers[question] for question in questions]
        lost = [math.isnan(value) for value in support]
        if any(lost):
            found.note(lost, "claims without an answer of the model are left out", sizes)
        answered = iter(not missing for missing in lost)
        counts = [sum(next(answered) for _ in range(n)) for n in sizes]
        return fold([value for value in support if not math.isnan(value)], counts, self.over)

    def _question(self, claim: str, source: list[str]) -> str | None:
        """Return the question about a claim; None if the claim is a sentence of the source."""
        if claim in source:
            return None
        return QUESTION.format(evidence=" ".join(evidence_for(claim, source, self.evidence)), claim=claim)
