"""Names that papers and other packages use: configurations of metrics here, and what to use where there is none."""

from __future__ import annotations

# Name -> the metric with the options of the publication; options that the user types come on top.
CONFIGURATIONS = {
    "summac-zs": "entailment(minus=True, model='tals/albert-xlarge-vitaminc-mnli')",
    "comet-22": "comet(model='Unbabel/wmt22-comet-da')",
    "cometkiwi": "comet(model='Unbabel/wmt22-cometkiwi-da', qe=True)",
    "xcomet": "comet(model='Unbabel/XCOMET-XL')",
}
_JUDGE = "is a prompt of a language model: `nlgauge judge FILE`, or judge({})."
_FACTS = "is not included. factcheck asks a language model whether the source supports each claim; {}."
_CLASSIFIER = "entailment(model=…) runs any classifier of pairs of texts"
_MODEL = "is not included; scores that you have can be a column of the file."
HINTS = {
    "alignscore": _FACTS.format(_CLASSIFIER),
    "answer-relevancy": _JUDGE.format("task='…', aspect='relevance'"),
    "bleurt-20": "is not included as a name: convert Google's checkpoint and name the folder, bleurt(model='…').",
    "factscore": _FACTS.format("its value is the mean over the sentences of the output"),
    "faithfulness": _FACTS.format("over='min' gives the least supported claim"),
    "g-eval": _JUDGE.format("mode='logprobs'"),
    "geval": _JUDGE.format("mode='logprobs'"),
    "gemba": _JUDGE.format("task='translation'"),
    "gemba-mqm": _JUDGE.format("task='translation'"),
    "hhem": _FACTS.format("entailment(model=…, split='none', label=0) runs a classifier with one logit"),
    "lettucedetect": _FACTS.format("ctc and align-expr score single words"),
    "mauve": "compares two sets of texts and has no value per output; it is not included.",
    "metricx": _MODEL,
    "metricx-24": _MODEL,
    "minicheck": _FACTS.format(_CLASSIFIER),
    "prometheus": _JUDGE.format("model='…'"),
    "questeval": _MODEL,
    "ragas": "is a package of several metrics; factcheck is the counterpart of its faithfulness.",
    "recommended": "is a choice of metrics for `nlgauge score`, and not a metric.",
    "selfcheckgpt": _FACTS.format("other samples of the same model can be the source"),
    "semscore": "is the cosine of two sentence embeddings and is not included; bertscore compares tokens.",
    "summac": "has two variants: summac-zs and summac-conv.",
}


def published_name(name: str) -> str:
    """Return a name in the form of the tables: lower case, with hyphens.

    >>> published_name("G_Eval"), published_name("COMET 22")
    ('g-eval', 'comet-22')
    """
    return name.strip().lower().replace("_", "-").replace(" ", "-")
