"""What was understood of a Dataset, in a few plain lines: the first thing a user reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from nlgauge.data.families import system_families
from nlgauge.data.provenance import assumption
from nlgauge.data.tables.vocabulary import listed
from nlgauge.data.units import KEY, trials_text
from nlgauge.errors import code_of
from nlgauge.number import count
from nlgauge.options import call, option

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

MOST = 8  # names in a line


def reading(data: Dataset, keep_people: bool = False) -> list[str]:
    """Return the first lines of the card, and what became of the labels or the test part: for before every number."""
    lines = card(data, keep_people)
    end = 1 + next(k for k, line in enumerate(lines) if line.startswith(f"{data.name}: "))
    notes = [note for note in data.notes if code_of(note) in ("joined", "look")]
    if other := len(data.notes) - len(notes):
        lines[end - 1] += f" ({count(other, 'remark')} on how it was read: {call('data check FILE')})"
    return [*lines[:end], *notes]


def card(data: Dataset, keep_people: bool = False) -> list[str]:
    """Lines that say what is there, what is missing and what was assumed; before them, metrics that failed often."""
    systems, inputs = len(data.systems), len(data.inputs)
    lines = [
        f"{data.name}: {count(systems, 'system')} × {trials_text(data.samples) or count(inputs, 'input')}, "
        f"{count(len(data), 'output')}"
        + (
            f" ({systems * inputs - len(data)} of {systems * inputs} cells have none)"
            if len(data) < systems * inputs
            else ""
        )
    ]
    if data.assumed:
        lines.insert(0, assumption(data.assumed))
    if data.aspects:
        who = "assumed to be rated by people" if data.assumed else f"rated by {data.rated_by}"
        lines.append(f"{who}: {listed(data.aspects, MOST)}; {_raters(data)}")
        lines += _gaps(data)
    lines += [*_votes(data), *_marks(data)]
    lines.append(
        f"scores of {count(len(data.metrics), 'metric')}: {listed(data.metrics, MOST)}"
        if data.metrics
        else "no metric scores"
    )
    if less := [m for m in data.metrics if m in data.lower]:
        lines.append(
            f"less is better: {listed(less, MOST)}; turned in every comparison ({option('higher')} names those "
            f"where more is, {option('lower')} others)"
        )
    missing = {m: data.scores[m].null_count() + len(data) - data.scores.height for m in data.metrics}
    holes = {m: n for m, n in missing.items() if n}
    if holes:
        worst = max(holes, key=holes.__getitem__)
        lines.append(
            f"missing scores: {sum(holes.values())} of {len(data) * len(data.metrics)} cells, in "
            f"{count(len(holes), 'metric')} (most in {worst}: {holes[worst]})"
        )
    infinite = {m: n for m in data.metrics if (n := int(data.scores[m].cast(pl.Float64).is_infinite().sum()))}
    if infinite:
        lines.append(
            f"infinite scores: {sum(infinite.values())}, left out of every comparison (in "
            f"{listed(list(infinite), MOST)})"
        )
    if data.failures.height:
        reasons = data.failures["reason"].value_counts(sort=True)
        lines.append("failed scores: " + "; ".join(f"{n} × {reason}" for reason, n in reasons.iter_rows()))
    people = [s for s in data.systems if s in data.people]
    if people:
        verb = (
            "kept among the systems"
            if keep_people
            else f"left out of the comparison ({option('keep_people', True)} keeps them)"
        )
        lines.append(f"written by people, by their names: {listed(people, MOST)}; {verb}")
    lines += _families(data, [s for s in data.systems if keep_people or s not in data.people])
    return [*headlines(data), *lines, *data.notes]


def _families(data: Dataset, systems: list[str]) -> list[str]:
    """Which systems are taken as variants of one model, and why."""
    found = system_families(data, systems)
    if not found:
        return []
    reason = "" if data.family else f" (inferred from column names; {option('family')} names another)"
    families = len(set(found["family_names"]))
    what = "column" if found["family_column"] in data.samples.columns else "pattern"
    return [
        f"families of systems: {len(systems)} systems in {families:,} {'family' if families == 1 else 'families'} by "
        f"{what} '{found['family_column']}', taken as not independent{reason}"
    ]


def _votes(data: Dataset) -> list[str]:
    """Who chose between two outputs: people, and each model by its name."""
    lines = []
    votes = data.voted(people=True)
    if votes.height:
        who = "people (assumed: no annotator is named)" if data.voters_assumed else data.rated_by
        lines.append(f"compared by {who}: {count(votes.height, 'choice')} between two outputs")
    for (rater,), part in data.voted(people=False).group_by("rater", maintain_order=True):
        lines.append(
            f"compared by the model {rater}: {count(part.height, 'choice')}, which are not people's "
            f"({option('person_raters', rater)} where they are)"
        )
    return lines


def _marks(data: Dataset) -> list[str]:
    """Who marked errors in how many outputs: people, and each model by its name."""
    lines = []
    for models in (False, True):
        marks = data.spans.filter(pl.col("rater").is_in(sorted(data.models)) == models)
        if marks.height:
            who = f"models ({listed(sorted(set(marks['rater'])), MOST)})" if models else "people"
            outputs, spans = marks.select(KEY).n_unique(), marks["start"].drop_nulls().len()
            lines.append(f"errors marked by {who}: {count(spans, 'span')} in {count(outputs, 'output')} looked at")
    return lines


def _raters(data: Dataset) -> str:
    if not data.raters:
        return "one rating each (no single raters)"
    each = data.ratings.drop_nulls("rater").group_by([*KEY, "aspect"]).len()["len"]
    low, high = int(each.min() or 0), int(each.max() or 0)  # type: ignore[arg-type]
    per = f"{low}" if low == high else f"{low}–{high}"
    who = count(len(data.raters), "rater") if data.persons else "raters without names"
    return f"{who}, {per} rating{'' if per == '1' else 's'} an output"


def _gaps(data: Dataset) -> list[str]:
    rated = data.ratings.group_by("aspect", maintain_order=True).agg(pl.struct(KEY).n_unique())
    gaps = [f"{aspect} {len(data) - n}" for aspect, n in rated.iter_rows() if n < len(data)]
    return [f"outputs without a rating: {listed(gaps, MOST)} (of {len(data)})"] if gaps else []


# --- metrics that have no value for many outputs: whoever reads their figures must see that first ---

MANY = 0.01  # of the outputs; fewer are a note


def headline(metric: str, reasons: Mapping[str, int], of: int) -> list[str]:
    """One line if a metric failed on more than 1 % of the outputs: on how many, and the commonest reason; else none.

    >>> headline("meteor", {"no reference": 2, "empty reference": 28}, 1000)
    ['meteor has no value for 30 of 1,000 outputs (3.0 %); mostly: empty reference']
    >>> headline("meteor", {"no reference": 10}, 1000)
    []
    """
    missing = sum(reasons.values())
    if not of or missing <= MANY * of:
        return []
    why = max(reasons, key=reasons.__getitem__)
    rest = "" if reasons[why] == missing else "mostly: "
    share = 100 * missing / of
    shown = f"{share:.0f}" if share >= 10 else f"{share:.1f}"
    return [f"{metric} has no value for {missing:,} of {of:,} outputs ({shown} %); {rest}{why}"]


def headlines(data: Dataset) -> list[str]:
    """The same for all metrics of a Dataset, by the reasons that stand in its `failures`."""
    found: dict[str, Counter[str]] = {}
    for metric, reason in data.failures.select("metric", "reason").iter_rows():
        found.setdefault(metric, Counter())[reason] += 1
    return [line for metric, reasons in found.items() for line in headline(metric, reasons, len(data))]
