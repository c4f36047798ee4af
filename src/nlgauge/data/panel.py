"""Panel: what is left for statistics. Float arrays systems × inputs, NaN where missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nlgauge.data.families import system_families
from nlgauge.data.units import KEY, units_of
from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.options import call, option
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.stats.resampling.canonical import canonical_order, rater_order
from nlgauge.table import Table
from nlgauge.types import Array, AspectScale, Ints

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

Aggregate = Literal["mean", "median", "mace"]
T = TypeVar("T")
MOST_CELLS = 50_000_000  # of raters × systems × inputs: 400 MB
MOST_LABELS = 20  # distinct ratings that still are categories to MACE


@dataclass(frozen=True)
class Panel:
    """One aspect of people's judgement beside every metric, on the same grid of systems × inputs.

    `humans` holds all aspects (N × M each), `raters` the single ratings (R × N × M, R as in `rater_names`) where there
    are two or more raters;
    `people` names the human-written outputs that were left out, so that whoever prints a number can say so.
    """

    name: str
    aspect: str
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    metrics: dict[str, Array]
    humans: dict[str, Array]
    raters: dict[str, Array]
    rater_names: tuple[str, ...] = ()
    persons: bool = False
    crowd: int = 0  # named raters, where they are too many to be kept apart
    people: tuple[str, ...] = ()
    lower: frozenset[str] = frozenset()
    rated_by: str = "humans"
    kept: tuple[str, ...] = ()  # people among the systems, by request
    aggregate: Aggregate = "mean"
    given: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # systems and inputs as they came, if reordered
    cluster_column: str = ""  # what several inputs belong to (`units_of`); "input" where they are trials
    cluster_names: tuple[str, ...] = ()  # of each input
    family_column: str = ""  # column or pattern that says which systems are variants of one model, if there is one
    family_names: tuple[str, ...] = ()  # of each system
    data: Dataset | None = field(default=None, repr=False, compare=False)  # from which it was made
    # Scores of metrics that are about another aspect (`Dataset.metric_aspects`): no part of this panel.
    other_metrics: dict[str, Array] = field(default_factory=dict, repr=False)
    _results: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        data: Dataset,
        aspect: str | None = None,
        *,
        metrics: Sequence[str] | None = None,
        keep_people: bool = False,
        aggregate: Aggregate = "mean",
        seed: int = 0,
    ) -> Panel:
        """The panel of a Dataset. People among the systems are left out unless `keep_people`.

        `aggregate` makes one rating of those of an output: their mean, their median, or the most probable label by
        MACE, which weighs raters by their competence (`seed` is for its random starts).
        """
        if aggregate not in get_args(Aggregate):
            raise NameUnknown(f"no aggregate '{aggregate}'; use {', '.join(get_args(Aggregate))}.")
        aspect = data.aspect(aspect)
        if metrics is not None:
            data = data.only_metrics(metrics)
        data = data.of_scale(aspect)
        unordered = aspect in data.scales and data.scales[aspect].unordered
        left_out = () if keep_people else tuple(s for s in data.systems if s in data.people)
        systems = [s for s in data.systems if s not in left_out]
        rated = data.ratings.filter(pl.col("system").is_in(systems))
        # Inputs that nobody rated on any aspect carry nothing; leaving them out keeps large sets small.
        known = set(rated["input"].unique().to_list())
        inputs = [i for i in data.inputs if i in known]
        if not inputs:
            raise DataError("no rated outputs are left.", data=data.name, code="no_ratings")
        grid = _Grid(systems, inputs)
        names = data.raters if rated["rater"].null_count() < rated.height else []
        persons, crowd = data.persons, 0
        if len(names) * len(systems) * len(inputs) > MOST_CELLS:
            crowd = len(names) if persons else 0
            rated, names, persons = _by_slot(rated)
        humans, raters = {}, {}
        for each in data.aspects:
            cube = grid.cube(rated.filter(pl.col("aspect") == each), names)
            named = cube[: len(names)]
            try:
                if aggregate == "mace":
                    humans[each] = _mace(named, persons, seed)
                else:
                    humans[each] = commonest(cube) if unordered else _combine(cube, aggregate)
            except NeedsMissing as error:
                if each == aspect:
                    code = error.refusals[0].code
                    raise NeedsMissing(str(error), data=data.name, aspect=each, code=code) from None
                continue  # another aspect, not asked for: it is not in this panel
            if (~np.isnan(named).all(axis=(1, 2))).sum() > 1:
                raters[each] = named
        units = units_of(data, inputs)
        return cls(
            name=data.name,
            aspect=aspect,
            systems=tuple(systems),
            inputs=tuple(inputs),
            metrics=grid.scores(data.scores, data.metrics),
            humans=humans,
            raters=raters,
            rater_names=tuple(names),
            persons=persons,
            crowd=crowd,
            people=left_out,
            lower=data.lower & set(data.metrics),
            rated_by=data.rated_by,
            kept=tuple(s for s in systems if s in data.people),
            aggregate=aggregate,
            cluster_column=units.column,
            cluster_names=units.names,
            **system_families(data, systems),
            data=data,
        ).with_aspect(aspect)

    @property
    def clusters(self) -> tuple[str, ...] | None:
        """The unit of each input (`units_of`) where several inputs share one; None where each is independent."""
        return self.cluster_names or None

    @property
    def units(self) -> tuple[str, ...]:
        """The independent unit of each input: its document or conversation, the input of a trial, or itself."""
        return self.cluster_names or self.inputs

    def unit_codes(self, inputs: Ints) -> NDArray[np.int64]:
        """Number the unit of each row, given the place of its input."""
        return np.unique(np.asarray(self.units), return_inverse=True)[1].reshape(-1)[inputs].astype(np.int64)

    def row_units(self, inputs: Ints) -> NDArray[np.str_] | None:
        """Name the unit of each row, given the place of its input; None where every row is a unit of its own."""
        return np.asarray(self.units)[inputs] if self.clusters or self.n_systems > 1 else None

    @property
    def families(self) -> tuple[str, ...] | None:
        """The family of each system; its members are not independent. None where each system stands alone."""
        return self.family_names or None

    @property
    def nameless(self) -> str:
        """Why a rating cannot be followed to a person; empty where it can."""
        if self.persons:
            return ""
        return f"the {self.crowd:,} raters are too many to be kept apart" if self.crowd else "the raters have no names"

    @property
    def scale(self) -> AspectScale:
        """The type of the aspect: numbers where nothing else is known."""
        return AspectScale("numeric") if self.data is None else self.data.scale(self.aspect)

    @property
    def human(self) -> Array:
        """Ratings of the aspect, systems × inputs."""
        return self.humans[self.aspect]

    @property
    def names(self) -> list[str]:
        """Names of the metrics."""
        return list(self.metrics)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    def stacked(self) -> Array:
        """All metrics as one array K × N × M."""
        self.require_metrics()
        return np.stack(list(self.metrics.values()))

    def require_metrics(self) -> None:
        """Raise an error that says what to do, where there are no metric scores."""
        if not self.metrics:
            raise DataError(
                f"no metric scores found; name their columns with {option('metrics')}, or run {call('score FILE')}.",
                data=self.name,
                code="no_scores",
            )

    def label(self, metric: str) -> str:
        """The name of a metric in a table; an arrow where less of it is better and its sign is turned."""
        return f"{metric} ↓" if metric in self.lower else metric

    def oriented(self) -> Array:
        """All metrics as K × N × M with more always better: those in `lower` change their sign.

        The one place where they do: whatever compares metrics with people or with each other starts from here.
        """
        signs = np.array([-1.0 if name in self.lower else 1.0 for name in self.metrics])
        return np.asarray(self.stacked() * signs[:, None, None])

    def output_lengths(self) -> Array | None:
        """The number of characters of each output (systems × inputs); None where there are no texts."""
        if self.data is None or "output" not in self.data.samples.columns:
            return None
        texts = self.data.samples.select(*KEY, pl.col("output").cast(pl.String).str.len_chars().alias("length"))
        if not texts["length"].null_count() < texts.height:
            return None
        return _Grid(self.systems, self.inputs).scores(texts, ["length"])["length"]

    def canonical(self) -> Panel:
        """The same panel with systems, inputs and raters ordered by content (`stats.canonical`): what is drawn by place
        then depends neither on the order of the file nor on names. Analyses work on this one; `given` and `listed` keep
        the order for people. Metrics and aspects stay where they are.
        """
        if self.given is not None:
            return self
        people = [self.raters.get(a, human) for a, human in self.humans.items()]
        # The means as well: some ratings have no rater and stand in no cube.
        people += [human for a, human in self.humans.items() if a in self.raters]
        order = canonical_order(people, self.oriented() if self.metrics else ())
        systems, inputs = order
        who = rater_order(self.raters.values(), order) if self.raters else None

        def placed(tables: dict[str, Array]) -> dict[str, Array]:
            return {name: table[..., systems, :][..., inputs] for name, table in tables.items()}

        return replace(
            self,
            systems=tuple(self.systems[i] for i in systems),
            inputs=tuple(self.inputs[j] for j in inputs),
            metrics=placed(self.metrics),
            humans=placed(self.humans),
            other_metrics=placed(self.other_metrics),
            raters={a: cube[who] for a, cube in placed(self.raters).items()},
            rater_names=self.rater_names
            if who is None or not self.rater_names
            else tuple(self.rater_names[r] for r in who),
            given=(self.systems, self.inputs),
            cluster_names=tuple(self.cluster_names[j] for j in inputs) if self.cluster_names else (),
            family_names=tuple(self.family_names[i] for i in systems) if self.family_names else (),
        )

    @property
    def listed(self) -> list[int]:
        """Places of the systems in the order in which they came: tables list systems so."""
        return [self.systems.index(s) for s in (self.given[0] if self.given else self.systems)]

    def with_aspect(self, aspect: str) -> Panel:
        """Return the panel of another aspect."""
        if aspect not in self.humans:
            raise NameUnknown(f"{self.name}: no aspect '{aspect}'. Aspects: {', '.join(self.humans)}.")
        about = {} if self.data is None else self.data.metric_aspects
        if not about:
            return replace(self, aspect=aspect)
        every = {**self.metrics, **self.other_metrics}
        names = [name for name in self.data.metrics if name in every] if self.data else list(every)
        here = {name: every[name] for name in names if about.get(name, aspect) == aspect}
        others = {name: every[name] for name in names if name not in here}
        return replace(self, aspect=aspect, metrics=here, other_metrics=others)

    def with_metrics(self, metrics: Sequence[str], aspect: str) -> Panel:
        """Return the same panel, as it came, of these metrics and this aspect."""
        assert self.data is not None
        data, every = self.data.only_metrics(metrics), {**self.metrics, **self.other_metrics}
        found = {name: every[name] for name in data.metrics}
        lower = data.lower & set(data.metrics)
        return replace(self, data=data, metrics=found, other_metrics={}, lower=lower).with_aspect(aspect)

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """What `compute` gives, computed once for this very panel: analyses of the same numbers share them."""
        if key not in self._results:
            self._results[key] = compute()
        found: T = self._results[key]
        return found

    def correlate(self, measures: str | Sequence[str] | None = None, *, sort: str | None = None) -> Table:
        """The metrics × measures table; the analysis `correlate`.

        >>> import nlgauge as ng
        >>> table = ng.example().panel().correlate(measures=["input/kendall"])
        >>> table.rows[0]["metric"]
        'unigram_f1'
        """
        return self.analyze("correlate", measures=measures, sort=sort)

    def analyze(self, name: str, **options: Any) -> Table:
        """Run the analysis of that name on this panel; one of a whole data set runs on that of this panel.

        >>> import nlgauge as ng
        >>> ng.example().panel().analyze("chance").kind
        'chance'
        """
        import nlgauge

        return nlgauge.analyze(name, self, **options)

    def _repr_html_(self) -> str:
        """As a notebook shows it: its size, and the metrics and aspects with the share of outputs that have a value."""
        rows = [
            {"of": kind, "name": name, "outputs with a value": int(np.isfinite(values).sum())}
            for kind, tables in (("metric", self.metrics), ("aspect", self.humans))
            for name, values in tables.items()
        ]
        title = f"{self.name}, {self.aspect}: {self.n_systems} systems × {self.n_inputs} inputs"
        return Table(title, rows)._repr_html_()


def _by_slot(rated: pl.DataFrame) -> tuple[pl.DataFrame, list[str], bool]:
    """Thousands of crowd workers would make a huge, empty cube: keep an output's ratings as 1st, 2nd, … instead."""
    slot = (pl.int_range(pl.len()).over([*KEY, "aspect"]) + 1).cast(pl.String)
    rated = rated.with_columns(pl.when(pl.col("rater").is_not_null()).then(slot).alias("rater"))
    return rated, rated["rater"].drop_nulls().unique(maintain_order=True).to_list(), False


class _Grid:
    """Positions of systems and inputs, to scatter tidy rows into arrays."""

    def __init__(self, systems: Sequence[str], inputs: Sequence[str]) -> None:
        self.shape = (len(systems), len(inputs))
        self.rows = {name: k for k, name in enumerate(systems)}
        self.columns = {name: k for k, name in enumerate(inputs)}

    def _placed(self, frame: pl.DataFrame) -> tuple[Any, tuple[Any, Any]]:
        """Which rows have a place, and where. Beside the frame, not in it: a metric may be called anything."""
        row, column = (
            frame[key].replace_strict(places, default=-1, return_dtype=pl.Int64).to_numpy()
            for key, places in zip(KEY, (self.rows, self.columns), strict=True)
        )
        there = (row >= 0) & (column >= 0)
        return there, (row[there], column[there])

    def scores(self, frame: pl.DataFrame, names: Sequence[str]) -> dict[str, Array]:
        there, at = self._placed(frame)
        # An infinite score has no place in a mean or a correlation; the card counts it.
        values = {name: frame[name].cast(pl.Float64).to_numpy()[there] for name in names}
        return {name: self._filled(at, np.where(np.isinf(v), np.nan, v)) for name, v in values.items()}

    def cube(self, ratings: pl.DataFrame, raters: Sequence[str]) -> Array:
        """One slice per rater, and a last one for averages and lone ratings, which have no rater."""
        slots = {name: k for k, name in enumerate(raters)}
        there, (row, column) = self._placed(ratings)
        slot = ratings["rater"].replace_strict(slots, default=len(slots), return_dtype=pl.Int64).to_numpy()
        cube = np.full((len(slots) + 1, *self.shape), np.nan)
        cube[slot[there], row, column] = ratings["value"].to_numpy()[there]
        return cube

    def _filled(self, at: tuple[Any, Any], values: Array) -> Array:
        array = np.full(self.shape, np.nan)
        array[at] = values
        return array


def _mace(ratings: Array, persons: bool, seed: int) -> Array:
    """The most probable label of each output. Not the expected value: it would break ties by 1e-9 of doubt."""
    # Imported late: it loads scipy.
    from nlgauge.stats.agreement.mace import mace

    if not persons or (~np.isnan(ratings).all(axis=(1, 2))).sum() < 2:
        raise NeedsMissing(
            "MACE weighs persons and needs the ratings of at least two of them, with names.", code="too_few_raters"
        )
    labels = len(np.unique(ratings[~np.isnan(ratings)]))
    if labels > MOST_LABELS:
        raise NeedsMissing(
            f"MACE takes ratings as categories, at most {MOST_LABELS}; found {labels} distinct values. Use mean "
            "or median.",
            code="unsuited_option",
        )
    order = canonical_order([ratings])
    at = np.ix_(rater_order([ratings], order), *order)
    found = mace(ratings[at], np.random.default_rng(np.random.SeedSequence(seed)))
    labels_found = np.empty(ratings.shape[1:])
    labels_found[np.ix_(*order)] = np.asarray(found.consensus).reshape(ratings.shape[1:])
    return labels_found


def commonest(cube: Array) -> Array:
    """Return the commonest code of each output; NaN where two are equally common.

    >>> commonest(np.array([[0.0, 1.0, 2.0], [0.0, 2.0, np.nan], [1.0, 1.0, np.nan]])).tolist()
    [0.0, 1.0, 2.0]
    """
    codes = np.unique(cube[np.isfinite(cube)])
    if not len(codes):
        return np.full(cube.shape[1:], np.nan)
    counts = np.stack([(cube == code).sum(axis=0) for code in codes])
    most = counts.max(axis=0)
    alone = ((counts == most).sum(axis=0) == 1) & (most > 0)
    return np.where(alone, codes[counts.argmax(axis=0)], np.nan)


def _combine(cube: Array, aggregate: Aggregate) -> Array:
    there = ~np.isnan(cube).all(axis=0)
    combined = np.full(cube.shape[1:], np.nan)
    function = np.nanmean if aggregate == "mean" else np.nanmedian
    combined[there] = function(cube[:, there], axis=0)
    # Means of equal ratings may differ in the last bit; ties between people's judgements must survive.
    return snap(combined, scale=largest(cube, axis=0))
