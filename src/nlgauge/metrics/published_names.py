"""Names in papers and other packages: the corresponding metrics of NLGauge, and advice for metrics that are not
included."""

from __future__ import annotations

import re
from typing import NamedTuple

_SUMMAC = "values of the program (summac 0.0.4) on tiny weights; not run with these weights"
_COMET = "the authors' package unbabel-comet computes the scores; not run with these weights"
_SPANS = f"{_COMET}; error spans are not shown"
_BERTSCORE = "values of the program (bert-score 0.3.13) with MiniLM"
_OTHER_BERTSCORE = f"{_BERTSCORE}; not run with these weights"
_BLEURT = "values of the program (bleurt-pytorch 0.0.1) on tiny weights; not run with these weights"
_SEMSCORE = "the formula, computed with transformers on tiny weights; not run with these weights"
# Maps the name of a metric in a publication to our metric with its options, and to how its values were checked. Options
# that the user adds are applied on top.
CONFIGURATIONS = {
    "BERTScore, BERTScore-F1, BERTScore-F": ("bertscore", _BERTSCORE),
    "BERTScore-P, BERTScore-precision": ("bertscore(of='p')", _BERTSCORE),
    "BERTScore-R, BERTScore-recall": ("bertscore(of='r')", _BERTSCORE),
    "BERTScore-RoBERTa, BERTScore-RoBERTa-large": ("bertscore(encoder='roberta-large')", _OTHER_BERTSCORE),
    "BERTScore-DeBERTa, BERTScore-DeBERTa-xlarge-mnli": (
        "bertscore(encoder='microsoft/deberta-xlarge-mnli', layer=40)",
        _OTHER_BERTSCORE,
    ),
    "BERTScore-multilingual, mBERTScore": ("bertscore(encoder='bert-base-multilingual-cased')", _OTHER_BERTSCORE),
    "BLEURT-base-512, BLEURT-base": ("bleurt(model='Elron/bleurt-base-512')", _BLEURT),
    "BLEURT-large-512, BLEURT-large": ("bleurt(model='Elron/bleurt-large-512')", _BLEURT),
    "COMET-22, wmt22-comet-da, COMET-DA": ("comet(model='Unbabel/wmt22-comet-da')", _COMET),
    "CometKiwi, CometKiwi-22, wmt22-cometkiwi-da": ("comet(model='Unbabel/wmt22-cometkiwi-da', qe=True)", _COMET),
    "CometKiwi-XL, CometKiwi-23, CometKiwi-23-XL, wmt23-cometkiwi-da-xl": (
        "comet(model='Unbabel/wmt23-cometkiwi-da-xl', qe=True)",
        _COMET,
    ),
    "CometKiwi-XXL, CometKiwi-23-XXL, wmt23-cometkiwi-da-xxl": (
        "comet(model='Unbabel/wmt23-cometkiwi-da-xxl', qe=True)",
        _COMET,
    ),
    "SemScore": ("semscore", _SEMSCORE),
    "SummaC-Conv": ("summac-conv", _SUMMAC),
    "SummaC-ZS, SummaC-Zero-Shot": ("entailment(minus=True, model='tals/albert-xlarge-vitaminc-mnli')", _SUMMAC),
    "xCOMET, xCOMET-XL": ("comet(model='Unbabel/XCOMET-XL')", _SPANS),
    "xCOMET-XXL": ("comet(model='Unbabel/XCOMET-XXL')", _SPANS),
}

_JUDGE = "is a prompt of a language model: `nlgauge judge FILE`, or judge({})."
_FACTS = "is not included. factcheck asks a language model whether the source supports each claim; {}."
_INFERENCE = _FACTS.format("entailment(model=…) runs any inference model that transformers can load")
# Maps the name of a metric in a publication to the advice on what to use instead; the message is the name followed by
# this text.
HINTS = {
    "AlignScore, AlignScore-base, AlignScore-large": _INFERENCE,
    "answer-relevance, answer-relevancy, response-relevancy, RAGAS-answer-relevance, RAGAS-answer-relevancy": (
        "is not included: it compares the question with questions that a language model makes from the answer. "
        "`nlgauge judge` rates the relevance of an answer."
    ),
    "BLEURT-20, BLEURT-20-D12, BLEURT-20-D6, BLEURT-20-D3": (
        "is a RemBERT checkpoint that cannot be loaded here. bleurt-large-512 and bleurt-base-512 run; scores that you "
        "have can be a column of the file."
    ),
    "context-precision, RAGAS-context-precision": (
        "is not included: it rates the ranking of retrieved passages. `nlgauge judge` can rate single passages."
    ),
    "context-recall, RAGAS-context-recall": (
        "is not included: it is the share of the reference's sentences that the retrieved passages support. Its "
        "counterpart is factcheck with the references as outputs and the passages as sources."
    ),
    "FActScore": _FACTS.format("its value is the mean over the sentences of the output"),
    "faithfulness, RAGAS-faithfulness": _FACTS.format("over='min' gives the least supported claim"),
    "G-Eval, G-Eval-3.5, G-Eval-4": _JUDGE.format("mode='logprobs', aspect='coherence'"),
    "GEMBA, GEMBA-DA, GEMBA-SQM": _JUDGE.format("task='translation', aspect='quality'"),
    "GEMBA-MQM, AutoMQM": (
        "counts error spans that a language model marks; it is not included. judge(task='translation', "
        "aspect='quality') rates on a scale."
    ),
    "HHEM, HHEM-1, HHEM-2, HHEM-2.1, HHEM-2.1-open, Vectara-HHEM, hallucination-evaluation-model": _FACTS.format(
        "HHEM-2.1-open needs program code of its repository, which is not run here; a classifier with one logit runs "
        "as entailment(model=…, split='none', label=0)"
    ),
    "LettuceDetect, lettucedect-base, lettucedect-large": _FACTS.format("ctc and align-expr score single words"),
    "LLM-as-a-judge, LLM-judge, GPT-judge": _JUDGE.format("task='summarization', aspect='consistency'"),
    "MAUVE, MAUVE-score": "compares two sets of texts and has no value per output; it is not included.",
    "MetricX, MetricX-23, MetricX-24, MetricX-25, MetricX-QE": (
        "is not included: its regression model needs the authors' program. comet-22 and cometkiwi (without references) "
        "are metrics of the same kind; scores that you have can be a column of the file."
    ),
    "MiniCheck, MiniCheck-FT5, MiniCheck-Flan-T5-Large, MiniCheck-RoBERTa, MiniCheck-RoBERTa-large, "
    "MiniCheck-DeBERTa, MiniCheck-DeBERTa-v3-large, Bespoke-MiniCheck, Bespoke-MiniCheck-7B": _FACTS.format(
        "entailment(model=…, split='output') reads source and claim as two texts, which MiniCheck joins into one"
    ),
    "Prometheus, Prometheus-2, Prometheus-7B-v2.0, Prometheus-Eval": (
        "is a judge model: serve it behind an OpenAI-compatible address, judge(base_url='…', "
        "model='prometheus-eval/prometheus-7b-v2.0', aspect='…', prompt='…'), where prompt is a file with its template."
    ),
    "QuestEval, QAFactEval, QAEval": "is not included; qags and summaqa ask questions, too.",
    "RAGAS": "is a package of several metrics; factcheck is the counterpart of its faithfulness.",
    "recommended": "is a choice of metrics for `nlgauge score`, and not a metric.",
    "SelfCheckGPT, SelfCheck, SelfCheckGPT-NLI, SelfCheckGPT-Prompt, SelfCheckGPT-BERTScore": _FACTS.format(
        "other samples of the same model can be the source"
    ),
    "SummaC": "has two variants: summac-zs and summac-conv.",
    "TrueTeacher": _INFERENCE,
}


class PublishedName(NamedTuple):
    """A published metric: the corresponding spec ('' if there is none), and its text in the tables above."""

    spec: str
    text: str


def reduced(name: str) -> str:
    """Return a name without case, spaces, hyphens, underscores and dots, as it is looked up.

    >>> reduced("G_Eval"), reduced("COMET 22"), reduced("HHEM-2.1")
    ('geval', 'comet22', 'hhem21')
    """
    return re.sub(r"[\s\-_.]+", "", name).lower()


BY_NAME = {
    reduced(name): PublishedName(*entry)
    for names, entry in [*CONFIGURATIONS.items(), *((names, ("", text)) for names, text in HINTS.items())]
    for name in names.split(", ")
}


def published(name: str) -> PublishedName | None:
    """Return the published metric of a name in any spelling; None if there is none."""
    return BY_NAME.get(reduced(name))
