"""`recommended` among the metrics of `score`: the metrics that agreed best with human ratings of a task.

They were compared with human ratings of English texts of a few tasks (docs/metric_choice.md). For another task, or for
texts in another language, there is no recommendation, and the request is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from statistics import median
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.metrics import metric_from_spec
from nlgauge.number import either
from nlgauge.options import option
from nlgauge.spec import parse_spec
from nlgauge.text.batch import Batch
from nlgauge.text.languages import languages_of

Task = Literal[
    "summarization", "dialogue", "style-transfer", "translation", "data-to-text", "story", "question-answering"
]
RECOMMENDED = "recommended"
ENGLISH = "English"
UNRECOGNIZED = "an unrecognized language"
EXAMINED = 500  # samples whose texts are examined, evenly spaced
MIN_WORDS = 20  # in Latin script, below which a language that is not recognized is assumed to be English
MAX_OTHER = 0.05  # share of texts in other languages; detection errs on some short texts
SHORTER = 0.5  # length of an output relative to its source, below which it is a summary
LONGER = 2.0


class Recommendation(NamedTuple):
    """A metric with its agreement with human ratings: Pearson's r on sets that did not choose it."""

    spec: str
    agreement: str


FACTCHECK = Recommendation(
    "factcheck", "consistency, r = 0.53 [0.41, 0.64] on half of QAGS-XSUM; about 5 CPU seconds per sentence"
)
CONSISTENCY = Recommendation(
    "consistency", "consistency, r = 0.505 [0.449, 0.552] on SummEval, 0.193 [0.069, 0.309] on QAGS-XSUM"
)
RELEVANCE = Recommendation(
    "relevance",
    "relevance, r = 0.417 [0.339, 0.487] with 11 references, 0.444 [0.369, 0.515] with one, on half of SummEval",
)
SALIENCE = Recommendation("salience", "relevance, r = 0.358 [0.267, 0.443] on half of SummEval")
ENGAGINGNESS = Recommendation(
    "ctc(aspect='engagingness', formula='chosen')",
    "engagingness, r = 0.542 [0.456, 0.624] on Topical-Chat (length alone 0.408 [0.334, 0.478])",
)
GROUNDEDNESS = Recommendation(
    "ctc(aspect='groundedness', formula='chosen')",
    "groundedness, r = 0.478 [0.313, 0.665] on Topical-Chat (length alone 0.262 [0.145, 0.379])",
)
PRESERVATION = Recommendation(
    "ctc(aspect='preservation', align='D', formula='chosen')",
    "content preservation, r = 0.525 [0.482, 0.567] on half of Yelp",
)
BREVITY = ("compression", "repetition")  # next to metrics that a copy of the source satisfies
REWARDS = {
    "summarization": "consistency is highest for copied sentences, and salience (a part of relevance) for the whole "
    "source; compression (brevity) and repetition (redundancy) show this and are not quality scores",
    "dialogue": "longer replies that repeat the context score higher",
    "style-transfer": "an unchanged copy of the source scores higher than a rewriting",
}
# What to use for the tasks without a recommendation.
INSTEAD = {
    "translation": "with references chrf or comet-22, without them cometkiwi, or `nlgauge judge` with task translation",
    "data-to-text": "with references chrf or bertscore, or `nlgauge judge` with task data-to-text",
    "story": "`nlgauge judge` with task story",
    "question-answering": "with references token-f1, with passages as sources factcheck, or `nlgauge judge`",
}
OTHER_LANGUAGE = "with references chrf or bertscore(encoder='bert-base-multilingual-cased'), or `nlgauge judge`"


class Guess(NamedTuple):
    """A task and why it was inferred; no reason: it was given."""

    task: str
    reason: str = ""


def is_recommended(metric: object) -> bool:
    """Return whether the name of a metric is `recommended`, perhaps with options."""
    return isinstance(metric, str) and metric.strip().partition("(")[0].strip() == RECOMMENDED


def with_recommended(metrics: Any, task: str | None, samples: Callable[[], Batch]) -> tuple[Any, list[str]]:
    """Return the metrics with `recommended` replaced by those for the task, and remarks on them.

    Parameters
    ----------
    metrics : metric, or sequence of metrics
        `recommended` takes the options task, and language='English' where the language is not recognized.
    task : str or None
        The task, unless the options of `recommended` name it; None: it is inferred.
    samples : callable
        Returns the samples whose texts are examined; called only if `recommended` is among the metrics.
    """
    requested = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    if not any(map(is_recommended, requested)):
        if task is not None:
            raise NlgaugeError(f"{option('task')} chooses the metrics of 'recommended', which was not requested.")
        return metrics, []
    batch = samples()
    chosen: list[Any] = []
    remarks: list[str] = []
    for metric in requested:
        if not is_recommended(metric):
            chosen.append(metric)
            continue
        options = parse_spec(str(metric))[1]
        if unknown := set(options) - {"task", "language"}:
            raise NameUnknown(f"recommended: no option '{min(unknown)}'. Options: task, language.")
        examined = Examined(batch, _checked("language", options.get("language"), (ENGLISH,)))
        for_task, remarks_of_task = examined.recommend(_checked("task", options.get("task", task), get_args(Task)))
        chosen += for_task
        remarks += remarks_of_task
    return chosen, remarks


def _checked(name: str, value: object, allowed: Sequence[str]) -> str | None:
    if value is not None and value not in allowed:
        raise NameUnknown(f"recommended: {name} must be {either(allowed)}. Got {value!r} instead.")
    return None if value is None else str(value)


class Examined:
    """Some texts of the samples by role, and what is inferred from them."""

    def __init__(self, batch: Batch, language: str | None) -> None:
        rows = np.unique(np.linspace(0, len(batch) - 1, min(EXAMINED, len(batch))).astype(int)).tolist()
        self.pairs = [(batch.text(batch.source[i]) or "", batch.text(batch.output[i]) or "") for i in rows]
        by_role = {
            "sources": [source for source, _ in self.pairs],
            "outputs": [output for _, output in self.pairs],
            "contexts": [batch.text(batch.context[i]) or "" for i in rows],
            "references": [
                batch.text(number) or ""
                for i in rows
                for number in batch.reference[batch.start[i] : batch.start[i + 1]]
            ],
        }
        self.texts = {role: each for role, texts in by_role.items() if (each := [t for t in texts if t.strip()])}
        self.given_language = language

    @cached_property
    def languages(self) -> dict[str, str]:
        """The language or script of each role; '' if there is too little text to recognize one."""
        if self.given_language:
            return dict.fromkeys(self.texts, self.given_language)
        return {role: _main_language(texts) for role, texts in self.texts.items()}

    def recommend(self, given: str | None) -> tuple[list[str], list[str]]:
        """Return the metrics for the task, and remarks; raise NlgaugeError where none was tested."""
        guess = Guess(given) if given else self.infer_task()
        short = [role for role, language in self.languages.items() if not language]
        language = f"English{f' (assumed: {either(short)} are too short to tell)' if short else ''}"
        corrected = f" ({guess.reason}; {option('task', '…')} corrects it)" if guess.reason else ""
        if guess.task in INSTEAD:
            raise NlgaugeError(
                f"recommended: no metric was compared with human ratings of {guess.task}{corrected}; use "
                f"{INSTEAD[guess.task]}."
            )
        if other := {role: language for role, language in self.languages.items() if language not in (ENGLISH, "")}:
            shown = ", ".join(f"{role} in {language}" for role, language in other.items())
            raise NlgaugeError(
                f"recommended: the metrics for {guess.task} were tested on English texts only; these have "
                f"{shown}; use {OTHER_LANGUAGE}. recommended(language='English') if they are English."
            )
        return self._chosen(guess.task, [f"task: {guess.task}{corrected}; language: {language}"])

    def infer_task(self) -> Guess:
        """Return the task by the texts that there are, their languages and lengths."""
        if "contexts" in self.texts:
            return Guess("dialogue", "inferred from the contexts")
        if "sources" not in self.texts:
            raise NeedsMissing(
                "recommended needs sources (summaries, style transfer) or contexts (dialogue); for outputs and "
                "references only, name metrics, such as rouge-l,bertscore."
            )
        source, output = self.languages["sources"], self.languages.get("outputs", "")
        if output == ENGLISH and source == UNRECOGNIZED:
            return Guess("data-to-text", "inferred from sources in no recognized language")
        if source and output and source != output and UNRECOGNIZED not in (source, output):
            return Guess("translation", f"inferred from sources in {source} and outputs in {output}")
        ratio = median(len(output.split()) / max(1, len(source.split())) for source, output in self.pairs)
        reason = f"inferred from outputs {ratio:.2g} times as long as their sources"
        if ratio > LONGER:
            raise NlgaugeError(
                f"recommended: the task is not known, with outputs {ratio:.2g} times as long as their sources; name it "
                f"with {option('task', '…')}: {either(get_args(Task))}."
            )
        return Guess("summarization" if ratio < SHORTER else "style-transfer", reason)

    def _chosen(self, task: str, remarks: list[str]) -> tuple[list[str], list[str]]:
        if task == "dialogue":
            metrics, needed = [ENGAGINGNESS, GROUNDEDNESS], "contexts"
        elif task == "style-transfer":
            metrics, needed = [PRESERVATION], "sources"
        else:
            metrics, needed = [CONSISTENCY, RELEVANCE if "references" in self.texts else SALIENCE], "sources"
        if needed not in self.texts:
            raise NeedsMissing(f"recommended: the metrics for {task} need {needed}; {option(needed[:-1])} names them.")
        if task == "summarization":
            missing = _why_missing(FACTCHECK.spec)
            metrics = metrics if missing else [FACTCHECK, *metrics]
            if missing:
                remarks.append(f"factcheck is left out ({FACTCHECK.agreement}): {missing}")
        remarks += [f"{each.spec}: correlation with human ratings of {each.agreement}" for each in metrics]
        remarks.append(f"{task}: {REWARDS[task]}")
        return [each.spec for each in metrics] + list(BREVITY) * (task == "summarization"), remarks


def _main_language(texts: Sequence[str]) -> str:
    """Return the language of the texts: English, or the most frequent other one; '' if there are
    too few words to tell.
    """
    counts = languages_of(texts)
    unrecognized = counts["Latin script"]
    other = {language: n for language, n in counts.items() if language not in (ENGLISH, "Latin script")}
    total = counts.total()
    if sum(other.values()) > MAX_OTHER * total:
        return max(other, key=lambda language: other[language])
    if counts[ENGLISH] and counts[ENGLISH] >= unrecognized:
        return ENGLISH
    return UNRECOGNIZED if sum(len(text.split()) for text in texts) >= MIN_WORDS else ""


def _why_missing(spec: str) -> str:
    """Return the reason why a metric cannot run on this machine; '' if it can."""
    try:
        metric_from_spec(spec).ready()
    except NlgaugeError as error:
        return str(error).removesuffix(".")
    return ""
