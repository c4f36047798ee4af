"""Provenance of judgments: human, model, program or unknown, decided here for all readers.

A judgment is human if the user declares it (`human`), if its name says so (`human_label`), if the table has an
annotator column or a column per annotator, or if it comes from a file of labels or an annotation tool. It is not human
if it has the name of a model, if it is a result column of an evaluation tool, if a reason, threshold or result column
belongs to it, or if it has values that only a program gives. Anything else with the name of an aspect is unknown: it
is used as a human rating with the assumption stated, and never for a decision (`require_human`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from nlgauge.data.units import KEY
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import some
from nlgauge.options import option
from nlgauge.registry import did_you_mean

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

Kind = Literal["human", "model", "program", "unknown"]
# Language models and judge programs, anywhere in a name. Names that people have, too, need a version number.
MODEL_NAME = re.compile(
    r"gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|prometheus|g-?eval|gemma[-_ ]?\d|palm-?2|\bphi-?\d|"
    r"command-?r|pandalm|judgelm|auto-?j\b|(?<![a-z])llms?(?![a-z])|\bai[-_ ](judge|feedback)|^(language )?model$",
    re.I,
)
JUDGE_NAME = re.compile(r"[a-z\d][-_. ]judge$|^judge\(", re.I)
HUMAN_WORDS = re.compile(r"(?<![a-z])(humans?|people|persons?)(?![a-z])", re.I)
ANNOTATOR_WORDS = re.compile(
    rf"{HUMAN_WORDS.pattern}|(?<![a-z])(experts?|annotators?|raters?|workers?|crowd\w*|turkers?|authors?|users?|students?)"
    r"(?![a-z])",
    re.I,
)
MARKED_MODEL = re.compile(rf"^humans?[-._:/ ]+({MODEL_NAME.pattern})", re.I)  # a name such as `human.LLM` is ambiguous
HUMAN_MARKERS = re.compile(
    r"(?<![a-z])(humans?|people|persons?|experts?|annotat(ors?|ed|ions?)|raters?|reviewers?|label+ers?|crowd\w*|manual|"
    r"sme|customers?|gold|ground_?truth)(?![a-z])|^human(?=[A-Z])|^h[:._ ]",
    re.I,
)
# Suffixes of the columns that an evaluation tool writes next to its score.
SIBLINGS = frozenset(
    "reason reasoning reasons threshold result explanation rationale success passed verdict error".split()
)
SCORE = re.compile(r"[._ /]*(scores?|value|result)$", re.I)
# Human protocols whose values may be any number: a mean of z-scores, a share of content units.
PROTOCOLS = re.compile(r"^(mqm|da|dasqm|sqm|esa|pyr|pyramid|litepyramid.*|resp|responsiveness|[csd]?mos|raw)", re.I)
STATISTICS = frozenset("z zs zscore zscores znorm standardized standardised avg average mean median".split())
MAX_ANNOTATORS = 12  # a mean of n annotators has values that are multiples of 1/n
FIRST_VALUES = 1000  # values checked before all of them are
MAX_LEVELS = 20  # different values of a column that may be an annotation
MIN_ROWS, MIN_PER_LEVEL = 20, 5  # rows with both values, and rows of each of two levels, to suspect a column
EXPLAINED_VARIANCE = 0.95  # share of the variance of the rating that an annotation explains


@dataclass(frozen=True)
class Provenance:
    """Source of the judgments of an aspect, and the evidence for it."""

    kind: Kind
    how: str

    @property
    def assumed(self) -> bool:
        """Whether the judgments are only assumed to be human."""
        return self.kind == "unknown"


DECLARED, BY_FORMAT, BY_LABELS = (
    Provenance("human", how) for how in ("declared by you", "the format of the file", "a file of labels")
)
UNKNOWN = Provenance("unknown", "the name of an aspect, which does not tell who rated")


def is_model(name: str) -> bool:
    """Return whether the name of an annotator or a column is that of a language model or a judge.

    >>> [n for n in ("gpt-4", "Claude 3", "my-judge", "judge 2", "human judge", "user_7", "Gemma", "Ai") if is_model(n)]
    ['gpt-4', 'Claude 3', 'my-judge']
    """
    if HUMAN_WORDS.search(name):
        return False
    return bool(MODEL_NAME.search(name) or (JUDGE_NAME.search(name) and not ANNOTATOR_WORDS.search(name)))


def is_human(name: str) -> bool:
    """Return whether a name says that humans gave the judgments.

    >>> [n for n in ("human_label", "fluencyExpert", "gold", "rating", "coherence", "gpt4_human") if is_human(n)]
    ['human_label', 'fluencyExpert', 'gold', 'gpt4_human']
    """
    return not is_model(name) and bool(HUMAN_MARKERS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)))


def is_judge(column: str, signature: str = "") -> bool:
    """Return whether a column holds scores of a judge, from its signature or its name.

    >>> [c for c in ("gpt-4o", "claude", "llm_judge", "Judge 1", "bleu", "human judge") if is_judge(c)]
    ['gpt-4o', 'claude', 'llm_judge', 'Judge 1']
    """
    if "model:" in signature:
        return True
    return is_model(column) or ("judge" in column.lower() and not HUMAN_WORDS.search(column))


def column_source(
    column: str, columns: Sequence[str], values: ArrayLike | None, *, declared: bool = False, annotators: str = ""
) -> Provenance:
    """Return the source of the judgments of a column.

    Parameters
    ----------
    column : str
    columns : sequence of str
        All columns of the table.
    values : array, optional
        Its numbers; NaN is missing.
    declared : bool
        The user declares it as human.
    annotators : str
        The annotator column or columns, if there are any.

    Examples
    --------
    >>> column_source("human_label", [], None).kind, column_source("coherence", ["system", "doc"], [1, 2, 5]).kind
    ('human', 'unknown')
    >>> column_source("faithfulness", ["user_input", "response", "reference"], [0.1, 0.2]).how
    'a result column of Ragas'
    >>> column_source("relevance", ["relevance", "relevance_reason"], [1, 2]).how
    "next to 'relevance_reason'"
    >>> column_source("human.LLM", [], None).kind, column_source("human.llama_fluency", [], None).kind
    ('model', 'model')
    """
    if declared:
        return DECLARED
    if is_model(column):
        return Provenance("model", "the name of a model or judge")
    if MARKED_MODEL.search(column):
        return Provenance("model", "the name of a model, although it begins with `human`")
    if is_human(column):
        return Provenance("human", "the column name")
    if tool := tool_of(columns):
        return Provenance("program", f"a result column of {tool}")
    if sibling := _sibling(column, columns):
        return Provenance("program", f"next to '{sibling}'")
    if annotators:
        return Provenance("human", annotators)
    if values is not None and not any_number(column) and only_programs(values):
        return Provenance("program", "decimals that only a program gives")
    return UNKNOWN


def any_number(column: str) -> bool:
    """Return whether human ratings of this name may be any number: a protocol, z-scores, a mean.

    >>> [c for c in ("pyr", "scores.litepyramid_recall", "z_coherence", "fluency_mean", "coherence") if any_number(c)]
    ['pyr', 'scores.litepyramid_recall', 'z_coherence', 'fluency_mean']
    """
    words = re.split(r"[\W_]+", column.lower().rpartition(".")[2])
    return bool(PROTOCOLS.match("".join(words))) or not STATISTICS.isdisjoint(words)


def tool_of(columns: Iterable[str]) -> str:
    """Return the evaluation tool that writes such columns; empty if none is known."""
    names = set(columns)
    starts = {name.partition(".")[0] for name in names if "." in name}
    if starts & {"reference", "reference_outputs", "feedback"} and starts & {"inputs", "outputs"}:
        return "LangSmith"
    if {"inputs", "outputs"} <= starts:
        return "Azure AI Evaluation"
    if (
        "user_input" in names
        and "response" in names
        and names & {"retrieved_contexts", "reference", "reference_contexts"}
    ):
        return "Ragas"
    if any(re.search(r"/v\d+/(score|mean|justification)$|^assessments?[./]", name) for name in names):
        return "MLflow"
    if "feedback_scores" in starts:
        return "Opik"
    telemetry = {"metrics.start", "metrics.end", "metrics.tokens", "metrics.duration"}
    if ("scores" in starts and names & telemetry) or {"root_span_id", "span_attributes"} & (names | starts):
        return "Braintrust"
    return ""


def _sibling(column: str, columns: Sequence[str]) -> str:
    """Return the column with the reason, threshold or result of this score; empty if there is none."""
    stem = SCORE.sub("", column).lower() or column.lower()
    for other in columns:
        rest = other.lower().removeprefix(stem) if other != column and other.lower().startswith(stem) else ""
        if rest and rest[0] in "._ /" and rest.lstrip("._ /") in SIBLINGS:
            return other
    return ""


def only_programs(values: ArrayLike) -> bool:
    """Return whether numbers cannot come from a rating scale or a mean of a few annotators.

    >>> only_programs([1, 2, 5, 4]), only_programs([1, 1.33, 4.67]), only_programs([0, 1, 1, 0])
    (False, False, False)
    >>> only_programs([0.512, 0.913, 0.27, 0.661]), only_programs([71.23, 40.18, 88.91])
    (True, True)
    """
    v = np.unique(np.asarray(values, np.float64))
    v = v[np.isfinite(v)]
    if len(v) <= 2:
        return False
    grids = [n for n in range(1, MAX_ANNOTATORS + 1) if np.all(np.abs(v - np.round(v * n) / n) <= 0.0051)]
    if not grids:
        return True
    # Between 0 and 1, as many values as a mean of votes cannot have, or values that a grid meets only by rounding.
    return bool(v.min() >= 0 and v.max() <= 1 and (len(v) > grids[0] + 1 or grids[0] > 10))


def likely_annotation(values: ArrayLike, rating: ArrayLike) -> str:
    """Return why a column is likely a human annotation or derived from the rating; empty if it may be a metric.

    A metric does not determine human ratings almost perfectly, nor does it have two values that never contradict them.

    >>> rating = [0, 0, 0, 1, 1, 1, 0, 1, 0, 1] * 3
    >>> likely_annotation([0, 1, 0, 1, 0, 1, 1, 1, 0, 1] * 3, rating)
    ''
    >>> likely_annotation([2 * r for r in rating], rating)
    'it determines the rating almost completely'
    """
    x, z = np.asarray(values, np.float64), np.asarray(rating, np.float64)
    both = np.isfinite(x) & np.isfinite(z)
    x, z = x[both], z[both]
    if len(np.unique(x[:FIRST_VALUES])) > MAX_LEVELS:  # most metrics: no need to sort all values
        return ""
    levels, codes, counts = np.unique(x, return_inverse=True, return_counts=True)
    graded = np.unique(z)
    if len(x) < MIN_ROWS or len(levels) < 2 or len(graded) < 2:
        return ""
    if len(levels) <= MAX_LEVELS:
        means = np.bincount(codes, z) / counts
        if ((z - means[codes]) ** 2).sum() <= (1 - EXPLAINED_VARIANCE) * ((z - z.mean()) ** 2).sum():
            return "it determines the rating almost completely"
        if len(levels) == 2 and counts.min() >= MIN_PER_LEVEL:
            low, high = z[codes == 0], z[codes == 1]
            if low.max() <= high.min() or high.max() <= low.min():
                return "it has two values and never contradicts the rating"
    return ""


def are_vote_shares(values: ArrayLike, rating: ArrayLike) -> bool:
    """Return whether values between 0 and 1 are shares of as many votes as those of the rating.

    >>> rating = [0, 1 / 3, 2 / 3, 1]
    >>> are_vote_shares([0, 0, 1 / 3, 1], rating), are_vote_shares([1, 4 / 3, 5, 2], rating)
    (True, False)
    """
    x, z = (np.asarray(v, np.float64) for v in (values, rating))
    x, z = (v[np.isfinite(v)] for v in (x, z))
    if len(np.unique(x[:FIRST_VALUES])) > MAX_ANNOTATORS + 1:
        return False
    x, z = np.unique(x), np.unique(z)
    if len(x) < 3 or len(x) > MAX_ANNOTATORS + 1 or x[0] < 0 or x[-1] > 1:
        return False
    fractions = z[z != np.round(z)]
    shared = np.isin(np.round(x, 9), np.round(z, 9))
    return bool(shared.mean() >= 0.8 and np.isin(np.round(x, 9), np.round(fractions, 9)).any())


def require_human(name: str, sources: Mapping[str, Provenance], aspects: Iterable[str]) -> None:
    """Refuse a decision on judgments that are only assumed to be human."""
    assumed = [a for a in aspects if a in sources and sources[a].assumed]
    if assumed:
        raise NeedsMissing(
            f"{name}: it is unknown whether {some(assumed)} {'is' if len(assumed) == 1 else 'are'} rated by humans. "
            f"Declare it with {option('human', assumed)}, or pass a file of human labels ({option('labels')})."
        )


def assumption(aspects: Sequence[str]) -> str:
    """Return the sentence that states which ratings are assumed to be human."""
    names = " and ".join(f"`{a}`" for a in aspects[:2]) if len(aspects) <= 2 else f"{len(aspects)} columns"
    are = "is a human rating" if len(aspects) == 1 else "are human ratings"
    return f"Assuming that {names} {are} (confirm with {option('human', list(aspects))})."


def separate_model_ratings(data: Dataset, humans: Iterable[str] = (), models: Iterable[str] = ()) -> Dataset:
    """Return the Dataset with the ratings of models as scores instead of ratings, each with a note.

    `humans` and `models` are annotators that the user declares as human or as models, regardless of their names.
    """
    others = [frame["rater"].drop_nulls().unique(maintain_order=True) for frame in (data.comparisons, data.spans)]
    raters = dict.fromkeys([*data.raters, *(rater for names in others for rater in names)])
    declared_human, declared_model = list(humans), list(models)
    for name in (*declared_human, *declared_model):
        if name not in raters:
            raise NameUnknown(
                f"{data.name}: no annotator '{name}'.{did_you_mean(name, list(raters))} Annotators: "
                f"{', '.join(raters) or 'none is named'}."
            )
    judges = {r for r in raters if r in data.models or r in declared_model or is_model(r)} - set(declared_human)
    if not judges:
        return replace(data, models=frozenset())
    by_model = pl.col("rater").is_in(sorted(judges)).fill_null(False)
    rated = data.ratings.filter(by_model)
    data = replace(data, models=frozenset(judges), ratings=data.ratings.filter(~by_model))
    return _as_scores(data, rated) if rated.height else data


def _as_scores(data: Dataset, rated: pl.DataFrame) -> Dataset:
    """Convert ratings by models to one metric column each, named `rater` or `rater:aspect`."""
    several = rated["aspect"].n_unique() > 1
    columns, notes, scales = [], [], dict(data.metric_scales)
    for (rater, aspect), part in rated.group_by("rater", "aspect", maintain_order=True):
        name = f"{rater}:{aspect}" if several else str(rater)
        name += " (ratings)" if name in data.metrics else ""
        of_classes = aspect in data.scales and data.scales[str(aspect)].unordered
        same = pl.when(pl.col("value").n_unique() == 1).then(pl.col("value").first())
        value = same if of_classes else pl.col("value").mean()  # codes of classes have no mean
        columns.append(part.group_by(KEY, maintain_order=True).agg(value.alias(name)))
        scales |= {name: data.scales[str(aspect)]} if of_classes else {}
    for rater in dict.fromkeys(rated["rater"]):
        notes.append(
            f"annotator '{rater}' is a model; its ratings are used as metric scores "
            f"(if it is human: {option('person_raters', rater)})"
        )
    for column in columns:
        data = data.with_scores(data.scores.join(column, on=KEY, how="full", coalesce=True, maintain_order="left"))
    return replace(data, notes=(*data.notes, *notes), metric_scales=scales)
