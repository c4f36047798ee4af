"""The answer in words: the conclusion for an aspect with its numbers and baselines, and a sentence per use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge.report.answer_types import RELIABLE_FROM
from nlgauge.report.sections.words import ci, some, two

if TYPE_CHECKING:
    from nlgauge.report.answer_types import AspectAnswer, Mark, MetricAnswer

BADGES = ("reliable", "inconclusive", "not reliable")
# Maps a use to the task in words and to the name of its statistic.
USES = {
    "rank systems": ("rank systems", "pairwise accuracy between systems"),
    "pairwise": ("choose the better of two outputs", "pairwise accuracy"),
    "flag": ("flag bad outputs", "ROC AUC"),
    "replace an annotator": ("replace an annotator", "winning rate of the alternative annotator test"),
    "catch failures": ("catch failures", "recall on failures"),
    "pass good answers": ("pass good answers", "recall on passes"),
    "tell good from bad": ("tell passed from failed answers", "ROC AUC"),
}
USE_STATISTICS = {  # as the heads of the columns name them
    "rank systems": "system-level accuracy",
    "pairwise": "pairwise accuracy",
    "flag": "ROC AUC",
    "replace an annotator": "winning rate",
    "catch failures": "recall on failures",
    "pass good answers": "recall on passes",
    "tell good from bad": "ROC AUC",
}
VERDICT_USES = {"fail_recall": "catch failures", "pass_recall": "pass good answers", "roc_area": "tell good from bad"}
STATISTICS = {
    "input/pairwise-accuracy": ("pairwise accuracy", "within inputs, human ties excluded"),
    "global/pairwise-accuracy": ("pairwise accuracy", "over all outputs, human ties excluded"),
    "balanced_accuracy": ("balanced accuracy", "mean of the recalls on failures and on passes"),
    "kappa": ("Cohen's kappa", "classes without an order"),
    "alpha_masi": ("Krippendorff's alpha, MASI distance", "sets of labels"),
    "roc_area": ("ROC AUC", "failed against passed answers"),
}


def sentences_of(answer: AspectAnswer, about: str) -> dict[str, str]:
    """Return the conclusion under "", which begins with what it is about, and a sentence for each use."""
    first = answer.best
    figure = "" if first is None else ci(first.value, first.low, first.high)
    sentences = {"": overall_words(answer, about, first, figure)}
    for use in answer.uses:
        rated = [m for m in answer.metrics if use in m.marks and m.marks[use].value is not None]
        best = max(rated, key=lambda m: m.marks[use].value or 0.0, default=None)
        mark = None if best is None else best.marks[use]
        figure = "" if mark is None else ci(mark.value, mark.low, mark.high)
        sentences[use] = use_sentence(answer, use, best, figure)
    return sentences


def overall_words(answer: AspectAnswer, about: str, first: MetricAnswer | None, figure: str) -> str:
    """Return the conclusion for one aspect: the best metric, its agreement next to the baselines, and its reliable
    uses.
    """
    if answer.warning:
        words = [f"too few data for a conclusion: {answer.warning}."]
    elif first is None:
        words = [f"no {'judge' if answer.judged else 'metric'} has a value here."]
    else:
        words = _judge_words(answer, first, figure) if answer.judged else _metric_words(answer, first, figure)
    if not about:
        return " ".join(words)
    return f"{about.capitalize() if about.isalpha() and about.islower() else about}: {' '.join(words)}"


def _metric_words(answer: AspectAnswer, first: MetricAnswer, value: str) -> list[str]:
    statistic, scope = STATISTICS.get(answer.measure, (answer.measure, ""))
    level = "" if first.low is None else "95% CI"
    figure = f"{statistic} {value} ({'; '.join(text for text in (level, scope, _baselines(answer)) if text)})"
    several = len([m for m in answer.metrics if m.value is not None]) > 1
    above = any(m.low is not None and m.low > answer.chance for m in answer.metrics)
    if not above:
        which = f"the highest value is that of {first.metric}" if several else f"{first.metric} has"
        return [f"no metric is shown to agree with {answer.rated_by} better than chance; {which}: {figure}."]
    lead = "agrees best with" if several else "agrees with"
    return [f"{first.metric} {lead} {answer.rated_by}: {figure}.", *_rivals(answer, first), *_uses_words(answer)]


def _baselines(answer: AspectAnswer) -> str:
    """Return the baselines as text, as in `chance 0.50, output length 0.55`."""
    return ", ".join(
        f"{'chance' if name == 'constant' else name} {value:.2f}" for name, value in answer.baselines.items()
    )


def _rivals(answer: AspectAnswer, first: MetricAnswer) -> list[str]:
    """Return whether the lead is significant, and whether another measure has another leader."""
    others = [m for m in answer.metrics if m is not first and m.value is not None]
    words, kind = [], "judges" if answer.judged else "metrics"
    if others and answer.tested:
        equal = [m for m in others if m.may_be_best]
        if not equal and len(others) > 1 and not first.clearly_best:
            words.append(f"It is the only {kind[:-1]} that no other one is significantly better than.")
        elif not equal:
            many = f"each of the other {len(others)} {kind}" if len(others) > 1 else others[0].metric
            words.append(f"It is significantly better than {many}.")
        elif len(equal) == len(others) > 2:
            words.append(f"It is not significantly better than any of the other {len(others)} {kind}.")
        elif len(equal) <= 2:
            names = some([f"{m.metric} ({ci(m.value, m.low, m.high)})" for m in equal])
            words.append(f"It is not significantly better than {names}.")
        else:
            words.append(
                f"{len(equal)} of the other {len(others)} {kind} are statistically indistinguishable from the best "
                f"({some([m.metric for m in equal], 3)})."
            )
    other = {name: leader for name, leader in answer.leaders.items() if leader != first.metric}
    if other:
        leads = some([f"{who} leads by {by}" for by, who in other.items()])
        words.append(f"The leader depends on the measure: {leads}.")
    if answer.influence:
        words.append(answer.influence)
    return words


def _uses_words(answer: AspectAnswer) -> list[str]:
    """Return which metrics are reliable for each use, as in `All 3 metrics rank systems reliably.`"""
    words = []
    for use in answer.uses:
        marks = [m.marks[use] for m in answer.metrics if use in m.marks]
        names, task = best_first(answer, use, "reliable"), USES[use][0]
        if names and len(names) == len(marks) > 1:
            words.append(f"All {len(names)} metrics {task} reliably.")
        elif names:
            words.append(f"Reliable to {task}: {some(names, 3)}.")
        elif use == "pairwise" or all(m.badge == "not reliable" for m in marks):
            none = "No metric is" if len(marks) > 1 else "It is not"
            unsure = [m.metric for m in answer.metrics if use in m.marks and m.marks[use].badge == "inconclusive"]
            extra = f" (inconclusive: {some(unsure, 2)})" if unsure and len(unsure) < len(marks) else ""
            words.append(f"{none} shown to {task} reliably{extra}.")
    return words


def _judge_words(answer: AspectAnswer, first: MetricAnswer, value: str) -> list[str]:
    """Return the conclusion on one judge, after naming the best one if there are several."""
    statistic = STATISTICS[answer.measure][0]
    words = []
    if len(answer.metrics) > 1:
        words.append(
            f"of {len(answer.metrics)} judges, {first.metric} has the highest {statistic}: {value} (chance 0.50; the "
            "interval accounts for the choice)."
        )
        words += _rivals(answer, first)
    mark = first.marks.get("catch failures")
    if mark is not None:
        words.append(_failure_words(first.metric, mark))
    words += _accuracy_words(first)
    separation = first.marks.get("tell good from bad")
    if separation is not None:
        figure = "" if len(answer.metrics) > 1 else f": {statistic} {value} (chance 0.50)"
        words.append(f"{first.metric} is {separation.badge or 'not rated'} to {USES['tell good from bad'][0]}{figure}.")
    if mark is not None:
        words += _advice(first, mark)
    return words


def _accuracy_words(judge: MetricAnswer) -> list[str]:
    """Compare the accuracy of a judge with the majority-class baseline, in words."""
    accuracy, base = (judge.figures.get(name) for name in ("accuracy", "majority-class baseline"))
    gain = judge.figures.get("improvement over the baseline")
    if accuracy is None or base is None or accuracy.value is None:
        return []
    low, high = (None, None) if gain is None else (gain.low, gain.high)
    how = (
        "is better than"
        if low is not None and low > 0
        else "is worse than"
        if high is not None and high < 0
        else "is not shown to be better than"
    )
    return [f'Accuracy {_figure(accuracy)} {how} always answering "{judge.usual}" ({two(base.value)}).']


def _advice(judge: MetricAnswer, mark: Mark) -> list[str]:
    """Recommend to rely on the judge, to review by hand, or to label more outputs."""
    if mark.badge == "reliable":
        precision = judge.figures.get("precision on failures")
        figure = (
            "" if precision is None or precision.value is None else f" (precision on failures {_figure(precision)})"
        )
        return [f"It can be used to flag failures{figure}."]
    if mark.badge == "not reliable":
        missed, passed = judge.counts.get("only_humans_fail"), judge.counts.get("both_pass")
        if missed is None or passed is None:
            return ["Do not rely on it to block failures; review the outputs that it passes."]
        return [
            f"Do not rely on it to block failures: {missed:,} of the {missed + passed:,} labeled outputs that it "
            "passes are failures."
        ]
    if mark.badge == "inconclusive" and judge.more_labels:
        return [f"About {judge.more_labels:,} more labels would tell whether recall reaches {RELIABLE_FROM:.2f}."]
    return ["Label more failures before relying on it."] if mark.badge == "inconclusive" else []


def _failure_words(judge: str, mark: Mark) -> str:
    """Return the recall on failures in words; it is always reported because missed failures matter most."""
    if mark.value is None:
        return f"{judge}: recall on failures is unknown ({mark.reason})."
    counted = f" ({mark.positives} failures labeled)" if mark.positives is not None else ""
    figure = f"recall on failures {_figure(mark)}{counted}"
    if mark.badge == "reliable":
        return f"{judge} catches failures reliably: {figure}."
    if mark.badge == "not reliable" and mark.high is not None:
        if mark.no_advantage:
            return f"{judge} is not shown to know more than a coin: {figure}."
        return f"{judge} misses {'most' if mark.value < 0.5 else 'many'} failures: {figure}."
    if mark.badge == "inconclusive":
        return f"Whether {judge} catches failures is inconclusive: {figure}."
    return f"{judge}: {figure}; {mark.reason or 'too few labels for a conclusion'}."


def _figure(mark: Mark) -> str:
    return ci(mark.value, mark.low, mark.high)


def use_sentence(answer: AspectAnswer, use: str, first: MetricAnswer | None, figure: str) -> str:
    """Return which metrics are reliable for this use, with the value of the best one."""
    about = f" on {answer.about}" if answer.about else ""
    task = f"To {USES[use][0]}{about}"
    if first is None:
        return f"{task}: nothing to count in these data."
    parts = [f"{badge}: {some(names, 3)}" for badge in BADGES if (names := best_first(answer, use, badge))]
    mark = first.marks[use]
    counted = "" if mark.positives is None else f"; {mark.positives} cases from {mark.positive_systems} systems"
    reason = f" ({mark.reason})" if mark.low is None and mark.reason else ""
    return (
        f"{task}, {'; '.join(parts) or 'no metric has a badge'}. {first.metric} has the highest {USES[use][1]}, "
        f"{figure}{counted}{reason}."
    )


def best_first(answer: AspectAnswer, use: str, badge: str) -> list[str]:
    """Return the metrics with this badge for a use, sorted by decreasing value."""
    rated = [m for m in answer.metrics if use in m.marks and m.marks[use].badge == badge]
    return [m.metric for m in sorted(rated, key=lambda m: -(m.marks[use].value or 0.0))]
