"""Dataset: samples, ratings, comparisons and metric scores, as tidy tables keyed by (system, input)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from nlgauge.data.card import card
from nlgauge.data.dataset_questions import AsksQuestions
from nlgauge.data.families import check_family
from nlgauge.data.files import refuse_patterns
from nlgauge.data.names import common_form
from nlgauge.data.panel import Aggregate, Panel
from nlgauge.data.units import KEY, has_unique_keys, trials_text
from nlgauge.errors import DataError, NameUnknown, code_of
from nlgauge.foreign_text import for_html
from nlgauge.number import count
from nlgauge.options import call, option
from nlgauge.registry import did_you_mean
from nlgauge.types import MAX_ORDINAL_LEVELS, AspectScale

if TYPE_CHECKING:
    from nlgauge.data.provenance import Provenance

__all__ = ["KEY", "ROW", "Dataset", "check_metrics"]
ROW = "__row__"  # of the table, while a Dataset is built
MAX_PANEL_OPTIONS = 4  # sets of options whose panels are cached; a panel may take hundreds of megabytes
_BUILDING = threading.RLock()  # concurrent callers wait for the panel that is being built
# Names that published sets give to human-written outputs.
HUMAN_SYSTEM = re.compile(r"(^|[\W_])(humans?|references?|ref([-_ ]?[A-D])?|gold|ground[ _-]?truth)([\W_\d]|$)", re.I)


def check_metrics(where: str, names: Iterable[str]) -> None:
    """Refuse metrics with the name of a key: scores are columns of the same table."""
    names = list(names)
    refuse_patterns(where, names)
    if taken := [name for name in names if name in (*KEY, ROW)]:
        raise DataError(f"{where}: a metric cannot have the name '{taken[0]}' of a key column; rename it.")


def _columns(names: str, **types: Any) -> dict[str, Any]:
    """Return the columns of a table with their types; columns without a type are text."""
    return dict.fromkeys(names.split(), pl.String) | types


@dataclass(frozen=True)
class Dataset(AsksQuestions):
    """Outputs with their ratings and scores. Build it with `nlgauge.load`, a reader, or `Dataset.of`.

    samples: system, input and, if available, output, source, context, references, control, plus every other column.
    ratings: one row per system, input, aspect and annotator (`rater` is null for an average or an anonymous rating).
    comparisons: one row per pairwise comparison of two outputs of one input, in presentation order.
    scores: one row per sample, one column per metric; null is missing, with its reason in `failures`.
    spans: one row per error that an annotator marked in an output (`data/readers/_spans.py`).
    """

    name: str
    samples: pl.DataFrame
    ratings: pl.DataFrame
    comparisons: pl.DataFrame
    scores: pl.DataFrame
    failures: pl.DataFrame
    spans: pl.DataFrame
    persons: bool = False
    human_systems: frozenset[str] = frozenset()
    lower: frozenset[str] = frozenset()
    notes: tuple[str, ...] = field(default=())
    rated_by: str = "humans"
    signatures: Mapping[str, str] = field(default_factory=dict)  # metric -> how its scores were computed, if known
    sources: Mapping[str, Provenance] = field(default_factory=dict)  # aspect -> who gave the judgments
    models: frozenset[str] = frozenset()  # annotators that are models
    metric_aspects: Mapping[str, str] = field(default_factory=dict)  # metric -> the one aspect it scores, if known
    scales: Mapping[str, AspectScale] = field(default_factory=dict)  # aspect -> its type, if values do not say it
    metric_scales: Mapping[str, AspectScale] = field(default_factory=dict)  # metric -> its classes, if it names some
    cluster: str = ""  # column of the independent unit, if named
    family: str = ""  # column of the systems' family, or pattern that finds it in their names, if named

    def __post_init__(self) -> None:
        # surrogates in the name of a file that is not UTF-8 cannot be written to other files
        object.__setattr__(self, "name", self.name.encode("utf-8", "backslashreplace").decode())

    RATINGS: ClassVar[dict[str, Any]] = _columns("system input aspect rater value", value=pl.Float64)
    COMPARISONS: ClassVar[dict[str, Any]] = _columns("input first second aspect rater preferred")
    FAILURES: ClassVar[dict[str, Any]] = _columns("system input metric reason")
    SPANS: ClassVar[dict[str, Any]] = _columns(
        "system input rater side start end severity category", start=pl.Int64, end=pl.Int64
    )

    @classmethod
    def of(
        cls,
        name: str,
        samples: pl.DataFrame,
        *,
        ratings: pl.DataFrame | None = None,
        comparisons: pl.DataFrame | None = None,
        scores: pl.DataFrame | None = None,
        failures: pl.DataFrame | None = None,
        spans: pl.DataFrame | None = None,
        persons: bool = False,
        human_systems: Iterable[str] | None = None,
        lower: Iterable[str] = (),
        notes: Iterable[str] = (),
        models: Iterable[str] = (),
        sources: Mapping[str, Provenance] | None = None,
        metric_aspects: Mapping[str, str] | None = None,
    ) -> Dataset:
        """Return a checked Dataset; human-written outputs are inferred from names of systems unless given."""
        if not has_unique_keys(samples):
            repeated = samples.filter(~samples.select(KEY).is_unique()).row(0, named=True)
            raise DataError(f"{name}: system '{repeated['system']}' has two outputs for input '{repeated['input']}'.")
        refuse_patterns(name, (*samples.columns, *(() if scores is None else scores.columns)))
        systems = samples["system"].unique(maintain_order=True)
        human = (
            [s for s in systems if HUMAN_SYSTEM.search(s)]
            if human_systems is None
            else [s for s in systems if s in set(human_systems)]
        )
        if len(human) == len(systems):
            human = []  # then the names are not informative
        return cls(
            name=name,
            samples=samples,
            ratings=ratings if ratings is not None else pl.DataFrame(schema=cls.RATINGS),
            comparisons=comparisons if comparisons is not None else pl.DataFrame(schema=cls.COMPARISONS),
            scores=scores if scores is not None else samples.select(KEY),
            failures=failures if failures is not None else pl.DataFrame(schema=cls.FAILURES),
            spans=spans if spans is not None else pl.DataFrame(schema=cls.SPANS),
            persons=persons,
            human_systems=frozenset(human),
            lower=frozenset(lower),
            notes=tuple(notes),
            models=frozenset(models),
            sources=sources or {},
            metric_aspects=metric_aspects or {},
        )

    def with_human_systems(self, human_systems: Iterable[str]) -> Dataset:
        """Return the same data with these systems as human-written; none if all are."""
        human = frozenset(human_systems) & frozenset(self.systems)
        return replace(self, human_systems=frozenset() if len(human) == len(self.systems) else human)

    # --- contents ---

    @property
    def assumed(self) -> list[str]:
        """Aspects whose ratings are only assumed to be human."""
        return [a for a in self.aspects if a in self.sources and self.sources[a].assumed]

    @property
    def systems(self) -> list[str]:
        """Systems, in the order of the data."""
        return self.samples["system"].unique(maintain_order=True).to_list()

    @property
    def inputs(self) -> list[str]:
        """Inputs, in the order of the data."""
        return self.samples["input"].unique(maintain_order=True).to_list()

    @property
    def aspects(self) -> list[str]:
        """Rated aspects, in the order of the data."""
        return self.ratings["aspect"].unique(maintain_order=True).to_list()

    @property
    def raters(self) -> list[str]:
        """Annotators, in the order of the data."""
        return self.ratings["rater"].drop_nulls().unique(maintain_order=True).to_list()

    @property
    def metrics(self) -> list[str]:
        """Metrics with scores."""
        return [c for c in self.scores.columns if c not in KEY]

    def __len__(self) -> int:
        return self.samples.height

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {count(len(self.systems), 'system')} × "
            f"{trials_text(self.samples) or count(len(self.inputs), 'input')}, {count(len(self), 'output')}, "
            f"aspects {self.aspects}, {count(len(self.raters), 'annotator')}, {count(len(self.metrics), 'metric')})"
        )

    # --- subsets ---

    def aspect(self, name: str | None = None) -> str:
        """Return the aspect of this name; without a name the only one, or raise an error that lists all."""
        if name is None and len(self.aspects) == 1:
            return self.aspects[0]
        name = name if name is None or name in self.aspects else common_form(name)
        if not self.aspects:
            raise DataError(self._unrated(), data=self.name, code="no_ratings")
        if name not in self.aspects:
            hint = did_you_mean(name, self.aspects) if name else " Choose one."
            raise NameUnknown(f"{self.name}: no aspect '{name}'.{hint} Aspects: {', '.join(self.aspects)}.")
        return name

    def _unrated(self) -> str:
        """Explain why there are no ratings to compare metrics with, and what is needed."""
        votes, models = self.comparisons.height, ", ".join(sorted(self.models))
        if human := self.voted(human=True).height:
            return (
                f"no ratings, only pairwise comparisons ({human:,}); {call('analyze rank FILE')} ranks the systems by "
                f"them, {call('analyze wins FILE')} compares metrics with them."
            )
        if self.models:
            rank = f" {call('analyze rank FILE')} shows its ranking of the systems and its position bias."
            return (
                f"only models judged these outputs ({models}). To evaluate them, human ratings are needed (name their "
                f"columns with {option('human')}), or human pairwise comparisons.{rank if votes else ''}"
            )
        note = next((note for note in self.notes if code_of(note) == "declare"), "")
        hint = f" Note: {note}." if note else ""
        return (
            f"no human ratings found; name their columns with {option('human')}, or their file with "
            f"{option('labels')}.{hint}"
        )

    def voted(self, human: bool) -> pl.DataFrame:
        """Return the comparisons by humans, or by models. An annotator without a name is taken for human."""
        machine = pl.col("rater").is_in(sorted(self.models)).fill_null(False)
        return self.comparisons.filter(~machine if human else machine)

    @property
    def voters_assumed(self) -> bool:
        """Whether comparisons are only assumed to be human, as no annotator is named."""
        votes = self.voted(human=True)
        return votes.height > 0 and votes["rater"].null_count() == votes.height and self.rated_by == "humans"

    def with_scores(self, values: Mapping[str, Sequence[float | None]] | pl.DataFrame) -> Dataset:
        """Return the data with new metric columns, ordered as `samples` or in a frame keyed by system and input."""
        if not isinstance(values, pl.DataFrame):
            check_metrics(self.name, values)
            values = self.samples.select(KEY).with_columns(
                pl.Series(name, column, pl.Float64, strict=False).fill_nan(None) for name, column in values.items()
            )
        else:
            refuse_patterns(self.name, values.columns)
        old = self.scores.drop([c for c in values.columns if c not in KEY], strict=False)
        joined = self.samples.select(KEY).join(old, on=KEY, how="left").join(values, on=KEY, how="left")
        return replace(self, scores=joined)

    def clustered(self, column: str) -> Dataset:
        """Return the same data with one value of the column (a document, a conversation) as the independent unit."""
        data = self._with_names(column)
        if column not in data.samples.columns:
            raise self.no_column(column)
        return replace(data, cluster=column)

    def with_family(self, family: str) -> Dataset:
        """Return the same data with the systems of one family (variants of one model) as not independent.

        Parameters
        ----------
        family : str
            A column that has one value per system, such as the model behind it; or a regular expression with one group
            that finds the family in the names of systems (upper and lower case alike). A system without a value, or
            that does not match, is a family of its own.

        Examples
        --------
        >>> import nlgauge as ng
        >>> rows = [{"system": s, "doc": d, "coherence": c, "bleu": b}
        ...         for s, d, c, b in [("gpt-4", 1, 4, .3), ("gpt-4o", 1, 5, .5), ("llama-3", 1, 2, .1)]]
        >>> ng.load(rows, name="mine").with_family("^([a-z]+)-").panel().families
        ('gpt', 'gpt', 'llama')
        """
        data = replace(self._with_names(family), family=family)
        check_family(data)
        return data

    def _with_names(self, column: str) -> Dataset:
        """Return the same data with the column as names instead of scores, because numbers that identify documents or
        models look like scores.
        """
        if column not in self.metrics:
            return self
        names = self.scores.select(*KEY, pl.col(column).cast(pl.String))
        samples = self.samples.drop(column, strict=False).join(names, on=KEY, how="left", maintain_order="left")
        return replace(self, samples=samples, scores=self.scores.drop(column))

    def no_column(self, name: str) -> NameUnknown:
        """Return the error for a column that does not exist, with the nearest names."""
        columns = [c for c in self.samples.columns if c not in ("output", "source", "references", "context")]
        hint = did_you_mean(name, columns)
        return NameUnknown(f"{self.name}: no column '{name}'.{hint} Columns: {', '.join(columns)}.")

    def only_metrics(self, names: Sequence[str]) -> Dataset:
        """Return the data with the scores of these metrics only."""
        names = [name if name in self.metrics else common_form(name) for name in names]
        for name in names:
            if name not in self.metrics:
                raise NameUnknown(
                    f"{self.name}: no scores of metric '{name}'.{did_you_mean(name, self.metrics)} "
                    f"Metrics with scores: {', '.join(self.metrics)}."
                )
        return replace(self, scores=self.scores.select([*KEY, *names]))

    @property
    def unordered(self) -> list[str]:
        """Aspects of classes or of sets of labels, whose values are codes."""
        return [a for a in self.aspects if a in self.scales and self.scales[a].unordered]

    def scale(self, aspect: str) -> AspectScale:
        """Return the scale of an aspect: the one that is known, or that of its values."""
        if aspect in self.scales:
            return self.scales[aspect]
        values = self.ratings.filter(pl.col("aspect") == aspect)["value"].drop_nulls().unique()
        few = 2 < len(values) <= MAX_ORDINAL_LEVELS and bool((values == values.round()).all())
        return AspectScale("binary" if len(values) == 2 else "ordinal" if few else "numeric")

    def class_labels(self, aspects: Iterable[str]) -> list[str]:
        """Return the distinct classes of these aspects in order; numeric aspects have none."""
        return list(dict.fromkeys(c for a in aspects if a in self.unordered for c in self.scales[a].labels))

    def of_scale(self, aspect: str) -> Dataset:
        """Return what has the scale of an aspect: one of classes and the judges that name them, or all numbers."""
        if not (self.unordered or self.metric_scales):
            return self
        if aspect in self.unordered:
            names = self.scales[aspect].names
            of = [m for m in self.metrics if m in self.metric_scales and self.metric_scales[m].names == names]
            return replace(
                self, ratings=self.ratings.filter(pl.col("aspect") == aspect), scores=self.scores.select([*KEY, *of])
            )
        return self.numeric()

    def numeric(self) -> Dataset:
        """Return the data without class aspects and without the judges that predict classes."""
        if not (self.unordered or self.metric_scales):
            return self
        return replace(
            self,
            ratings=self.ratings.filter(~pl.col("aspect").is_in(self.unordered)),
            scores=self.scores.drop([m for m in self.metrics if m in self.metric_scales]),
        )

    def where(self, rows: pl.DataFrame, name: str | None = None) -> Dataset:
        """Return the part of the data whose (system, input) is in `rows`."""
        keys = rows.select(KEY).unique()

        def part(frame: pl.DataFrame) -> pl.DataFrame:
            return frame.join(keys, on=KEY, how="semi")

        systems = set(keys["system"])
        inside = self.comparisons.filter(
            pl.col("input").is_in(keys["input"].to_list())
            & pl.col("first").is_in(list(systems))
            & pl.col("second").is_in(list(systems))
        )
        return replace(
            self,
            name=name or self.name,
            samples=part(self.samples),
            ratings=part(self.ratings),
            comparisons=inside,
            scores=part(self.scores),
            failures=part(self.failures),
            spans=part(self.spans),
            human_systems=self.human_systems & systems,
            notes=(),
        )

    def by(self, *columns: str) -> Iterator[tuple[dict[str, Any], Dataset]]:
        """Yield one Dataset per combination of values of the columns, in order of appearance.

        `column=value` makes two parts: those outputs, and all others ("not value").
        """
        samples = self.samples
        for column in columns:
            name, equals, value = column.partition("=")
            if column not in samples.columns and equals and name in samples.columns:
                same = (pl.col(name).cast(pl.String) == value).fill_null(False)
                if not samples.select(same.any()).item():
                    raise NameUnknown(f"{self.name}: column '{name}' has no value '{value}'.")
                names = pl.when(same).then(pl.lit(value)).otherwise(pl.lit(f"not {value}"))
                samples = samples.with_columns(names.alias(column))
            elif column not in samples.columns:
                raise self.no_column(column)
        for values, rows in samples.group_by(list(columns), maintain_order=True):
            group = dict(zip(columns, values, strict=True))
            yield group, self.where(rows, f"{self.name}: {', '.join(str(v) for v in values)}")

    def panel(
        self,
        aspect: str | None = None,
        *,
        metrics: Sequence[str] | None = None,
        keep_human: bool = False,
        aggregate: Aggregate = "mean",
        seed: int = 0,
        canonical: bool = False,
    ) -> Panel:
        """Return systems × inputs arrays for statistics; see `Panel.of`. `canonical`: ordered by content, for analyses.

        >>> import nlgauge as ng
        >>> ng.example().panel("constructed_quality").human.shape
        (8, 24)
        """
        requested = self.aspect(aspect)
        options: dict[str, Any] = {
            "metrics": None if metrics is None or list(metrics) == self.metrics else list(metrics),
            "keep_human": keep_human and bool(self.human_systems),
            "aggregate": aggregate,
            "seed": seed,
        }
        with _BUILDING:
            made = self._panels.setdefault(repr(options), {})
            if (requested, canonical) not in made:
                base = _of_other_aspect(made, requested, canonical)
                if base is None:
                    base = _of_other_aspect(made, requested, False) or self._plain_panel(requested, options)
                    base = base.canonical() if canonical else base
                made[requested, canonical] = base if base.aspect == requested else base.with_aspect(requested)
            while len(self._panels) > MAX_PANEL_OPTIONS:
                del self._panels[next(iter(self._panels))]
            return made[requested, canonical]

    def _plain_panel(self, aspect: str, options: dict[str, Any]) -> Panel:
        """Build a panel; a panel with fewer metrics is derived from the panel with all metrics if that exists."""
        every = self._panels.get(repr({**options, "metrics": None}), {})
        whole = _of_other_aspect(every, aspect, False)
        return Panel.of(self, aspect, **options) if whole is None else whole.with_metrics(options["metrics"], aspect)

    @cached_property
    def _panels(self) -> dict[str, dict[tuple[str, bool], Panel]]:
        """Options of a panel -> (aspect, canonical) -> panel, built once for all analyses."""
        return {}

    def _repr_html_(self) -> str:
        """Return the summary of the data as HTML for notebooks."""
        first, *rest = card(self)
        lines = "".join(f"<li>{for_html(line)}</li>" for line in rest)
        return f"<p><strong>{for_html(first)}</strong></p><ul>{lines}</ul>"


def _of_other_aspect(made: Mapping[tuple[str, bool], Panel], aspect: str, canonical: bool) -> Panel | None:
    """Return a panel with the same options that contains the aspect, or None."""
    return next((panel for (_, order), panel in made.items() if order == canonical and aspect in panel.humans), None)
