"""The reading summary: what a Dataset holds and what was assumed, in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from nlgauge.data.families import system_families
from nlgauge.data.provenance import assumption
from nlgauge.data.tables.vocabulary import listed
from nlgauge.data.units import KEY, shared_sources, trials_text, units_of
from nlgauge.errors import code_of
from nlgauge.number import count, percent
from nlgauge.options import call, option

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

MAX_NAMES = 8  # in a line
MAX_NOTES = 4  # on how a file was read, in the summary of a report
FAILED_SHARE = 0.01  # of the outputs; metrics that failed more often are named before every number


def reading(data: Dataset) -> list[str]:
    """Return the size of the data and the assumption about its ratings in one line, after failures of metrics.

    Notes about joined labels and the test part follow on lines of their own.
    """
    notes = [note for note in data.notes if code_of(note) in ("joined", "look")]
    line = _size(data)
    if other := len(data.notes) - len(notes):
        line += f" ({count(other, 'note')} on how it was read: {call('data check FILE')})"
    if data.assumed:
        line += f". {assumption(data.assumed)}"
    return [*headlines(data), line, *notes]


def summary(data: Dataset, keep_human: bool = False) -> list[str]:
    """Return the card for a report, which states the assumption about ratings itself; with a few notes."""
    notes = sorted(data.notes, key=lambda note: code_of(note) != "declare")
    shown, hidden = notes[:MAX_NOTES], len(notes) - MAX_NOTES
    more = [f"{count(hidden, 'more note')}: {call('data check FILE')}"] if hidden > 0 else []
    return [*headlines(data), _size(data), *_facts(data, keep_human), *shown, *more]


def card(data: Dataset, keep_human: bool = False) -> list[str]:
    """Return the contents of the data, missing parts and assumptions, followed by the notes on reading."""
    assumed = [assumption(data.assumed)] if data.assumed else []
    return [*headlines(data), _size(data), *assumed, *_facts(data, keep_human), *data.notes]


def _facts(data: Dataset, keep_human: bool) -> list[str]:
    lines = []
    if data.aspects:
        lines += [f"{rating_source(data)}: {listed(data.aspects, MAX_NAMES)}; {_annotators(data)}", *_unrated(data)]
    lines += [*_comparisons(data), *_error_spans(data), *_metrics(data), *_missing_scores(data)]
    if human := [s for s in data.systems if s in data.human_systems]:
        excluded = "included" if keep_human else f"excluded ({option('keep_human', True)} includes them)"
        lines.append(f"human-written outputs (inferred from system names): {listed(human, MAX_NAMES)}; {excluded}")
    if shared_sources(data.samples) and units_of(data, data.inputs).column == "source":
        lines.append(
            f"{count(shared_sources(data.samples), 'source text')} for {count(len(data.inputs), 'input')}: inputs with "
            f"the same source are one cluster ({option('cluster', 'input')} if they are independent)"
        )
    return [*lines, *_families(data, [s for s in data.systems if keep_human or s not in data.human_systems])]


def _size(data: Dataset) -> str:
    systems, inputs = len(data.systems), len(data.inputs)
    empty = systems * inputs - len(data)
    return (
        f"{data.name}: {count(systems, 'system')} × {trials_text(data.samples) or count(inputs, 'input')}, "
        f"{count(len(data), 'output')}"
        + (f" ({empty} of {systems * inputs} system–input pairs have no output)" if empty else "")
    )


def rating_source(data: Dataset) -> str:
    """Return the term for the ratings: 'human' only if they are known or assumed to be human."""
    if data.assumed:
        return "ratings (assumed human)"
    return "human ratings" if data.rated_by == "humans" else f"ratings by {data.rated_by}"


def _annotators(data: Dataset) -> str:
    """Return the number of annotators and of ratings per output as text."""
    if not data.raters:
        return "annotator IDs unknown"
    each = data.ratings.drop_nulls("rater").group_by([*KEY, "aspect"]).len()["len"]
    low, high = int(each.min() or 0), int(each.max() or 0)  # type: ignore[arg-type]
    ratings = f"{low} rating{'' if low == 1 else 's'}" if low == high else f"{low}–{high} ratings"
    return f"{count(len(data.raters), 'annotator') if data.persons else 'annotator IDs unknown'}, {ratings} per output"


def _unrated(data: Dataset) -> list[str]:
    rated = data.ratings.group_by("aspect", maintain_order=True).agg(pl.struct(KEY).n_unique())
    gaps = [f"{aspect} {len(data) - n}" for aspect, n in rated.iter_rows() if n < len(data)]
    return [f"outputs without a rating: {listed(gaps, MAX_NAMES)} (of {len(data)})"] if gaps else []


def _comparisons(data: Dataset) -> list[str]:
    """Return one line on the pairwise comparisons by humans, and one for each model."""
    lines = []
    if votes := data.voted(human=True).height:
        who = "humans (assumed: no annotator is named)" if data.voters_assumed else data.rated_by
        lines.append(f"pairwise comparisons by {who}: {votes:,}")
    for (rater,), part in data.voted(human=False).group_by("rater", maintain_order=True):
        lines.append(
            f"pairwise comparisons by the model {rater}: {part.height:,} (if {rater} is human: "
            f"{option('person_raters', rater)})"
        )
    return lines


def _error_spans(data: Dataset) -> list[str]:
    """Return lines on the error spans marked by humans and by models: their number and the number
    of annotated outputs.
    """
    lines = []
    for models in (False, True):
        marks = data.spans.filter(pl.col("rater").is_in(sorted(data.models)) == models)
        if marks.height:
            who = f"models ({listed(sorted(set(marks['rater'])), MAX_NAMES)})" if models else "humans"
            outputs, spans = marks.select(KEY).n_unique(), marks["start"].drop_nulls().len()
            lines.append(f"error spans marked by {who}: {spans:,} in {count(outputs, 'annotated output')}")
    return lines


def _metrics(data: Dataset) -> list[str]:
    if not data.metrics:
        return ["no metric scores"]
    lines = [f"{count(len(data.metrics), 'metric')}: {listed(data.metrics, MAX_NAMES)}"]
    if lower := [m for m in data.metrics if m in data.lower]:
        lines.append(
            f"lower is better: {listed(lower, MAX_NAMES)}; the sign is flipped (change with {option('higher')} or "
            f"{option('lower')})"
        )
    return lines


def _missing_scores(data: Dataset) -> list[str]:
    lines = []
    missing = {m: n for m in data.metrics if (n := data.scores[m].null_count() + len(data) - data.scores.height)}
    if missing:
        worst = max(missing, key=missing.__getitem__)
        lines.append(
            f"missing scores: {sum(missing.values())} of {len(data) * len(data.metrics)}, in "
            f"{count(len(missing), 'metric')} (most in {worst}: {missing[worst]})"
        )
    infinite = {m: n for m in data.metrics if (n := int(data.scores[m].cast(pl.Float64).is_infinite().sum()))}
    if infinite:
        lines.append(
            f"infinite scores: {sum(infinite.values())}, excluded from all comparisons (in "
            f"{listed(list(infinite), MAX_NAMES)})"
        )
    if data.failures.height:
        reasons = data.failures["reason"].value_counts(sort=True)
        lines.append("failed scores: " + "; ".join(f"{n} × {reason}" for reason, n in reasons.iter_rows()))
    return lines


def _families(data: Dataset, systems: list[str]) -> list[str]:
    """Return a line that says which systems are variants of one model and how this was inferred."""
    families = system_families(data, systems)
    if not families:
        return []
    reason = "" if data.family else f" (inferred; {option('family')} names another column)"
    number = len(set(families["family_names"]))
    kind = "column" if families["family_column"] in data.samples.columns else "pattern"
    return [
        f"families of systems: {len(systems)} systems in {number:,} {'family' if number == 1 else 'families'} by "
        f"{kind} '{families['family_column']}', not independent{reason}"
    ]


def headline(metric: str, reasons: Mapping[str, int], outputs: int) -> list[str]:
    """Return one line if a metric failed on more than 1% of the outputs, with the most frequent reason; else none.

    >>> headline("meteor", {"no reference": 2, "empty reference": 28}, 1000)
    ['meteor has no value for 30 of 1,000 outputs (3.0%); mostly: empty reference']
    >>> headline("meteor", {"no reference": 10}, 1000)
    []
    """
    missing = sum(reasons.values())
    if not outputs or missing <= FAILED_SHARE * outputs:
        return []
    reason = max(reasons, key=reasons.__getitem__)
    rest = "" if reasons[reason] == missing else "mostly: "
    share = percent(missing / outputs, 0 if missing >= 0.1 * outputs else 1)
    return [f"{metric} has no value for {missing:,} of {outputs:,} outputs ({share}); {rest}{reason}"]


def headlines(data: Dataset) -> list[str]:
    """Return the headline of each metric of a Dataset that failed often, from its `failures`."""
    failed: dict[str, Counter[str]] = {}
    for metric, reason in data.failures.select("metric", "reason").iter_rows():
        failed.setdefault(metric, Counter())[reason] += 1
    return [line for metric, reasons in failed.items() for line in headline(metric, reasons, len(data))]
