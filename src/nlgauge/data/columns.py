"""Which column means what: found by name, or said by the user.

The rules stand here as data, so that `nlgauge` can print what it understood and a reader of this page can see why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nlgauge.errors import DataError
from nlgauge.registry import did_you_mean

# In order of preference; compared after lower-casing and dropping everything but letters and digits.
NAMES: dict[str, tuple[str, ...]] = {
    "system": ("system", "systemid", "systemname", "sys", "model", "modelid", "modelname", "team", "generator", "mt",
               "summarizer", "systemorigincolutterance"),
    "input": ("input", "inputid", "segid", "seg", "segment", "segmentid", "docid", "doc", "documentid", "sampleid",
              "itemid", "item", "articleid", "contextid", "promptid", "promptidx", "questionid", "sourceid", "mrid",
              "inputindexorigincolsystem", "docindex", "exampleid", "instanceid", "topicid", "id", "i"),
    "output": ("output", "systemoutput", "hypothesis", "hyp", "candidate", "response", "generated", "generation",
               "generatedtext", "prediction", "decoded", "systemsummary", "syssumm", "sysref", "summary", "story",
               "translation", "target", "outputtext", "text", "answer"),
    "source": ("source", "src", "sourcetext", "article", "document", "original", "mr", "meaningrepresentation",
               "prompt", "prefix", "question", "triples", "instruction"),
    "context": ("context", "fact", "facts", "knowledge", "persona", "history", "dialoguehistory"),
    "control": ("control", "attribute", "targetstyle", "topic", "sentiment"),
    "rater": ("rater", "raterid", "annotator", "annotatorid", "annotatorname", "annotators", "worker", "workerid", "judge", "judgeid",
              "expert", "coder", "user", "userid"),
    "aspect": ("aspect", "dimension", "criterion", "criteria"),
    "rating": ("rating", "humanscore", "humanrating", "value", "score", "label"),
    "metric": ("metric", "metricname", "evaluator"),
    "score": ("metricscore", "metricvalue", "score", "value"),
}  # fmt: skip
REFERENCES = re.compile(r"^(references?|refs?|ref_?summs?|gold|golds?|target_?ref\w*)([ _.-]?\w{0,2})$", re.I)
# Several data sets in one file: their inputs must not be mixed.
SETS = ("dataset", "subset", "corpus", "lp", "langpair", "languagepair", "lang", "language", "task")
ASPECTS = frozenset(
    [
        "coherence",
        "coherent",
        "consistency",
        "consistent",
        "fluency",
        "fluent",
        "relevance",
        "relevant",
        "informativeness",
        "informative",
        "naturalness",
        "natural",
        "quality",
        "overall",
        "engagingness",
        "engaging",
        "engagement",
        "groundedness",
        "grounded",
        "understandability",
        "understandable",
        "maintainscontext",
        "useknowledge",
        "usesknowledge",
        "interestingness",
        "interesting",
        "adequacy",
        "grammaticality",
        "grammar",
        "readability",
        "correctness",
        "datacoverage",
        "coverage",
        "textstructure",
        "empathy",
        "surprise",
        "complexity",
        "factuality",
        "faithfulness",
        "accuracy",
        "helpfulness",
        "harmlessness",
        "preservation",
        "contentpreservation",
        "meaning",
        "simplicity",
        "styletransferintensity",
        "mqm",
        "da",
        "dasqm",
        "esa",
        "pyramid",
        "pyr",
        "responsiveness",
        "resp",
        "litepyramidrecall",
        "attributerelevance",
        "appropriateness",
        "humanlikeness",
        "sensibleness",
        "specificity",
        "diversity",
        "creativity",
        "toxicity",
        "conciseness",
        "completeness",
        "constructedquality",
        "satisfaction",
        "clarity",
        "repetitiveness",
        "nonredundancy",
        "focus",
        "structureandcoherence",
        "referentialclarity",
        "semanticadequacy",
        "mqmavgscore",
    ]
)
HUMAN_PREFIX = re.compile(
    r"^(human(?:s|_?mean|_?scores?|_?ratings?)?|h|ratings?|annotations?|released_mean|gold_scores?)[:._ ]+(?=\S)|^human(?=[A-Z])",
    re.I,
)
METRIC_PREFIX = re.compile(
    r"^(metrics?\w*|m|auto|automatic|predict(?:ed)?_?scores?|predictions?|metric_scores?)[:._ ]+(?=\S)", re.I
)
SCORES_PREFIX = re.compile(r"^(scores?)[:._ ]+(?=\S)", re.I)
ASIDE = re.compile(
    r"^(|row|index|idx|unnamed.*|no|number|line|position|seed|size|n_.*|num_.*|_.*|.*_?(id|idx|index))$", re.I
)
AFFIXES = frozenset(
    [
        "avg",
        "average",
        "mean",
        "median",
        "human",
        "humans",
        "rating",
        "ratings",
        "score",
        "scores",
        "annotation",
        "annotations",
        "annotator",
        "rater",
        "likert",
        "gold",
    ]
)
RATER_SUFFIX = re.compile(
    r"^(?P<aspect>.*?[^\W\d_])(?:[ _.-]+(?:rater|annotator|expert|judge|r|a|ann))?[ _.-]*(?P<rater>\d{1,2})$",
    re.I,
)


@dataclass(frozen=True)
class Roles:
    """The understanding of a table. `human` maps an aspect to its columns: (rater or None, column)."""

    system: str | None = None
    input: str | None = None
    output: str | None = None
    source: str | None = None
    context: str | None = None
    control: str | None = None
    references: tuple[str, ...] = ()
    rater: str | None = None
    aspect: str | None = None
    rating: str | None = None
    metric: str | None = None
    score: str | None = None
    sets: tuple[str, ...] = ()
    human: Mapping[str, tuple[tuple[str | None, str], ...]] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    aside: tuple[str, ...] = ()


def plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_roles(
    columns: Sequence[str],
    numeric: Iterable[str],
    lists: Iterable[str],
    said: Mapping[str, str | None],
    human: Mapping[str, str] | None,
    metrics: Mapping[str, str] | None,
    source: str,
) -> Roles:
    """Roles of the columns; `said`, `human` and `metrics` are the user's words and win over names."""
    numbers, many = set(numeric), set(lists)
    for name in [*said.values(), *(human or {}).values(), *(metrics or {}).values()]:
        if name is not None and name not in columns:
            raise DataError(
                f"{source}: no column '{name}'.{did_you_mean(name, columns)} Columns found: {', '.join(columns)}."
            )
    taken: dict[str, str] = {role: name for role, name in said.items() if name}
    used = {*taken.values(), *(human or {}).values(), *(metrics or {}).values()}
    for role in ("system", "input", "output", "source", "context", "control", "rater", "aspect", "metric"):
        if role not in said:
            # A number can name a system, an input or a rater, but not be a text; a list can be a text, but not a name.
            key = role in ("system", "input", "rater", "aspect", "metric")
            # A judge with numbers is a model that scores, not the name of a rater.
            scores = {c for c in numbers if plain(c) == "judge"} if role == "rater" else set()
            barred = used | scores | (many if key else numbers)
            found = _first(NAMES[role], [c for c in columns if c not in barred])
            if found and (role in ("system", "input", "rater") or found not in numbers):
                taken[role] = found
                used.add(found)
    long_ratings = "aspect" in taken or said.get("rating") is not None
    for role, on in (
        ("rating", long_ratings and human is None),
        ("score", "metric" in taken and not long_ratings),
    ):
        if on and role not in said and (found := _first(NAMES[role], [c for c in columns if c not in used])):
            taken[role] = found
            used.add(found)
    if "score" not in taken:
        used.discard(taken.pop("metric", ""))
    if "rating" not in taken:
        used.discard(taken.pop("aspect", ""))
    references = tuple(c for c in columns if c not in used and c not in numbers and REFERENCES.match(c))
    if "references" in taken:
        references = (taken.pop("references"),)
    used.update(references)
    sets = tuple(c for c in columns if c not in used and c not in many and plain(c) in SETS)
    used.update(sets)
    free = [c for c in columns if c in numbers and c not in used]
    people = (
        _human_columns(free, "rating" in taken)
        if human is None
        else {a: ((None, c),) for a, c in human.items()}
    )
    of_people = {c for pairs in people.values() for _, c in pairs}
    rest = [c for c in free if c not in of_people]
    if metrics is None:
        rest = [c for c in rest if c not in many and not ASIDE.match(c)]
        metrics = {METRIC_PREFIX.sub("", SCORES_PREFIX.sub("", c)): c for c in rest}
        if len(metrics) < len(rest):  # two prefixes, one name: keep them apart
            metrics = {c: c for c in rest}
    aside = tuple(c for c in columns if c not in used | of_people | set(metrics.values()))
    return Roles(**taken, references=references, sets=sets, human=people, metrics=dict(metrics), aside=aside)


def _first(names: Sequence[str], columns: Sequence[str]) -> str | None:
    for name in names:
        for column in columns:
            if plain(column) == name or (plain(column.rsplit(".", 1)[-1]) == name and "." in column):
                return column
    return None


def _human_columns(columns: Sequence[str], long: bool) -> dict[str, tuple[tuple[str | None, str], ...]]:
    """Aspect -> columns. `coherence_1`, `coherence_2` are two raters of one aspect."""
    if long:
        return {}
    # `avg_fluency_rating` is taken for a rating only where nothing is named more plainly.
    named = _plainly_human(columns) or {c: name for c in columns if (name := _loosely_human(c))}
    stems: dict[str, list[tuple[str, str]]] = {}
    for column in columns:
        name = named.get(column, column)
        if match := RATER_SUFFIX.match(name):
            stem = match["aspect"]
            if column in named or plain(stem) in ASPECTS:
                stems.setdefault(stem, []).append((match["rater"], column))
    people: dict[str, tuple[tuple[str | None, str], ...]] = {}
    several = {stem: pairs for stem, pairs in stems.items() if len(pairs) > 1}
    raters = {c for pairs in several.values() for _, c in pairs}
    for column, name in named.items():
        if column not in raters and name not in several:
            people[name] = (*people.get(name, ()), (None, column))
    for stem, pairs in several.items():
        people[stem] = tuple(pairs)
    return people


def _plainly_human(columns: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for column in columns:
        rest = HUMAN_PREFIX.sub("", column)
        whole = plain(column) in ("human", "humanscore", "humanrating")
        if rest != column or whole or _is_aspect(column):
            named[column] = SCORES_PREFIX.sub("", rest)
    return named


def _loosely_human(column: str) -> str | None:
    """The aspect in a name such as `avg_fluency_rating` or `fluency (human)`."""
    words = [w for w in re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).lower()) if w]
    kept = [w for w in words if w not in AFFIXES]
    if len(kept) < len(words) and (not kept or plain("".join(kept)) in ASPECTS):
        return "_".join(kept) or column
    return None


def _is_aspect(column: str) -> bool:
    if METRIC_PREFIX.match(column):
        return False
    return plain(SCORES_PREFIX.sub("", column)) in ASPECTS
