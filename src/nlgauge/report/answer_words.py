"""The answer in words: a sentence or two per aspect over all uses, and a sentence per use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge.report.sections.words import percent, some

if TYPE_CHECKING:
    from nlgauge.report.answer import AspectAnswer

NONE = "cannot tell"
VERDICTS = ("good", "usable", "not", NONE)
# use -> (infinitive, what the share counts); shares of .5 are chance but for the last three
USES = {
    "rank systems": ("to rank systems", "puts the better of two systems first"),
    "choose of two": ("to choose the better of two outputs", "prefers the better of two outputs"),
    "flag bad": ("to flag bad outputs", "scores a bad output below another"),
    "replace a rater": ("to replace a rater", "is as close to the other raters as a rater left out"),
    "catch failures": ("to catch failures", "fails what people failed"),
    "pass good ones": ("to pass good answers", "passes what people passed"),
    "tell good from bad": ("to tell good answers from bad ones", "scores a passed answer above a failed one"),
}
VERDICT_USES = {"fail_recall": "catch failures", "pass_recall": "pass good ones", "roc_area": "tell good from bad"}


def overall_words(found: AspectAnswer) -> str:
    """The answer over all uses in two sentences: what any metric is good for, and how near the nearest comes."""
    about = f"For {found.about}," if found.about else "Here"
    if found.warning:
        return f"{about} the data are too few to call any metric good or bad: {found.warning}."
    every = [m for each in found.metrics for m in each.marks.values()]
    good, usable = _called(found, "good"), _called(found, "usable")
    if good:
        head = good
    elif usable:
        head = f"no metric here is shown to be good, but {usable}"
    elif every and all(m.verdict == "not" for m in every):
        head = "no metric here is good"
    else:
        head = "no metric here is shown to be good"
    return f"{about} {head}{_useless(found) if good or usable else ''}.{_nearest(found, bool(good or usable))}"


def _useless(found: AspectAnswer) -> str:
    """`, but not to catch failures (38%)`: half of what a verdict is for, where no judge can do it."""
    said = []
    for use in (use for use in found.uses if use in VERDICT_USES.values()):
        marks = [m.marks[use] for m in found.metrics if use in m.marks]
        if all(m.verdict == "not" for m in marks):
            said.append(f"{USES[use][0]} ({percent(max(m.value or 0.0 for m in marks))})")
    return f", but {'not' if len(found.metrics) == 1 else 'none'} {some(said)}" if said else ""


def _called(found: AspectAnswer, verdict: str) -> str:
    """`a and b are good to rank systems and to flag bad outputs`: uses with the same metrics together."""
    said: dict[str, list[str]] = {}
    for use in found.uses:
        if names := best_first(found, use, verdict):
            all_of_them = len(names) == len(found.metrics) > 2
            who = f"all {len(names)} metrics are" if all_of_them else _who_is(names, 2)
            said.setdefault(f"{who} {verdict}", []).append(USES[use][0])
    return "; ".join(f"{who} {some(tasks, 9)}" for who, tasks in said.items())


def _who_is(names: list[str], most: int = 3) -> str:
    return f"{some(names, most)} {'is' if len(names) == 1 else 'are'}"


def _nearest(found: AspectAnswer, useful: bool) -> str:
    """` The closest to people is a: it …`: how near the first metric comes, and whether others may be as near.

    Where no metric is `useful` for anything and no interval lies above chance, nobody is called close.
    """
    first = next((m for m in found.metrics if m.value is not None), None)
    if first is None:
        return ""
    chosen = first.marks.get("choose of two")
    who, own = found.rated_by, f"{found.rated_by}'{'s' if found.rated_by == 'people' else ''}"
    if found.measure == "agreement":
        reach = f"says the same as {who} in {percent(first.value or 0.0)} of cases"
    elif first.value is not None and first.value <= 0:
        return f" Not even the first, {first.metric}, agrees with {who} at all."
    elif first.share is not None:
        reach = f"reaches {percent(min(1.0, first.share))} of what {own} agreement allows"
    elif chosen is not None and chosen.value is not None:
        reach = f"{USES['choose of two'][1]} in {percent(chosen.value)} of cases"
    else:
        return ""
    alone = len(found.metrics) == 1
    above = any(m.low is not None and m.low > found.chance for m in found.metrics)
    if found.measure != "agreement" and not above and not useful:
        none = "It is not" if alone else "None is"
        this = "it" if alone else f"the closest in these data, {first.metric},"
        chance = "" if first.share is not None else " (half is chance)"
        return f" {none} shown to agree with {who} at all: {this} {reach}{chance}."
    if alone:
        return f" It {reach}."
    as_good, others, rest = sum(m.may_be_best for m in found.metrics) - 1, len(found.metrics) - 1, ""
    if found.measure == "agreement" or first.low is not None:
        if first.clearly_best:
            rest = f", clearly ahead of the other{'' if others == 1 else f' {others}'}"
        elif as_good > 0:
            rest = f"; {'one other' if as_good == 1 else f'{as_good} others'} may be as good"
    return f" The closest to {who} is {first.metric}: it {reach}{rest}."


def use_sentence(found: AspectAnswer, use: str) -> str:
    """Who is good for this use, else who is usable, else what can be said."""
    about = f" on {found.about}" if found.about else ""
    task = f"{USES[use][0].capitalize()}{about}"
    ranked = [m for m in found.metrics if use in m.marks and m.marks[use].value is not None]
    if not ranked:
        return f"{task}: nothing here can be counted."
    first = max(ranked, key=lambda m: m.marks[use].value or 0.0)
    of = {v: best_first(found, use, v) for v in VERDICTS}
    if of["good"]:
        head = f"{_who_is(of['good'])} good"
    elif of["usable"]:
        head = f"{_who_is(of['usable'])} usable, none is shown to be good"
    elif of[NONE] and of["not"]:
        head = f"it cannot be told yet for {some(of[NONE])}, the others are not usable"
    else:
        head = "it cannot be told yet for any metric" if of[NONE] else "no metric here is usable"
    mark = first.marks[use]
    if use == "replace a rater":
        last = f"{first.metric} is as close to the others as {percent(mark.value or 0.0)} of the raters are"
    elif mark.low is None:  # a share of a handful is no figure to quote
        last = mark.reason or "there is no interval"
    else:
        ends = f"between {percent(mark.low)} and {percent(mark.high or 0.0)}"
        last = f"{first.metric} {USES[use][1]} in {percent(mark.value or 0.0)} of cases ({ends})"
    return f"{task} {head}; {last}."


def best_first(found: AspectAnswer, use: str, verdict: str) -> list[str]:
    """Metrics with this verdict for a use, the highest share first."""
    mine = [m for m in found.metrics if use in m.marks and m.marks[use].verdict == verdict]
    return [m.metric for m in sorted(mine, key=lambda m: -(m.marks[use].value or 0.0))]
