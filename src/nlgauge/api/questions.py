"""Questions one asks of data, a function each: the Python interface to the analyses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge import registry
from nlgauge.data.choice import listed
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.session import Selection, check_options

if TYPE_CHECKING:
    from nlgauge.analyses import Analysis
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Aggregate, Panel
    from nlgauge.table import Table
    from nlgauge.types import Names, Progress


def dataset(data: Any) -> Dataset:
    """Whatever holds data as a Dataset: a path, the name of a published set, 'example', a frame, rows, a Selection."""
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Panel

    if isinstance(data, Dataset):
        return data
    if isinstance(data, Selection):
        return data.data
    if isinstance(data, Panel):
        if data.data is None:
            raise NlgaugeError("found a Panel where a data set is needed; use panel.analyse(…).")
        return data.data
    if isinstance(data, str) and data == "example" and not Path(data).exists():
        from nlgauge.data.example import example

        return example()
    from nlgauge.datasets.load import load

    return load(data)


def _holds_numbers(values: Any) -> bool:
    """Whether these are the ratings of outputs rather than names of aspects."""
    if values is None or isinstance(values, str):
        return False
    return not (isinstance(values, Sequence) and all(isinstance(each, str) for each in values))


def select(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    by: Names = None,
    keep_people: bool = False,
    aggregate: Aggregate = "mean",
    seed: int = 0,
    cluster: str | None = None,
    family: str | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Choose what of the data every question is about.

    Parameters
    ----------
    data : path, data frame, rows, Dataset, list of Datasets or Selection
        A list of data sets, paths or names: each is analysed like the first. Or scores, with the ratings of the same
        outputs in place of `aspect`: two arrays of outputs, or of systems × inputs.
    aspect, metrics, by : str or sequence of str, optional
        Aspects and metrics to use (all by default), and columns whose values part the data.
    keep_people : bool, default False
        Keep outputs written by people among the systems.
    aggregate : {'mean', 'median', 'mace'}, default 'mean'
        How the ratings of one output become one.
    seed : int, default 0
        Of everything random.
    cluster : str, optional
        Column whose value several inputs share that are not independent, such as a document or a conversation.
    family : str, optional
        Column whose value several systems share that are not independent, such as the model behind them; or a regular
        expression with one group that finds it in their names, such as '^([a-z0-9]+)-'.
    progress : callable, optional
        Called with the analysis, the number of steps done, and of how many.

    Returns
    -------
    Selection
        Takes the place of the data in every other function, and remembers what it computed. Of a Selection, the
        same one, or with other aspects, metrics or groups a new one.

    Examples
    --------
    >>> import nlgauge as ng
    >>> chosen = ng.select(ng.example(), metrics=["unigram_f1", "char3_f1"], seed=1)
    >>> len(ng.correlate(chosen, measures="input/kendall"))
    2
    """
    from nlgauge.data.dataset import Dataset

    if _holds_numbers(aspect):
        from nlgauge.api.arrays import from_arrays

        data, aspect = from_arrays(data, aspect), None
    if isinstance(data, Selection):
        given = {"aspects": listed(aspect), "metrics": listed(metrics), "by": listed(by)}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return (replace(data, **changes) if changes else data).clustered(cluster).with_family(family)
    several = isinstance(data, list | tuple) and data and all(isinstance(d, Dataset | Path | str) for d in data)
    first, *others = [dataset(d) for d in data] if several else [dataset(data)]
    chosen = Selection(
        first, listed(aspect), listed(metrics), listed(by), keep_people, aggregate, seed, others, progress
    )
    return chosen.clustered(cluster).with_family(family)


def analyse(name: str, data: Any, aspect: Names = None, metrics: Names = None, **options: Any) -> Table:
    """Any analysis of `nlgauge list analyses`, with its options.

    Parameters
    ----------
    name : str
        Of the analysis, or file.py@name for one of your own.
    data : path, data frame, rows, Dataset, list of Datasets, Selection or Panel
    aspect, metrics : str or sequence of str, optional
        All by default.
    **options
        Of the analysis; an unknown one is answered with those there are.

    Returns
    -------
    Table
        With several aspects or groups the rows follow each other; `Table.parts` are the single tables.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.analyse("inter-metric", ng.example(), measure="global/spearman")
    >>> table.kind, len(table) > 0
    ('inter-metric', True)
    """
    from nlgauge.data.panel import Panel

    if isinstance(data, Panel):
        return _of_panel(name, data if aspect is None else data.with_aspect(str(aspect)), metrics, options)
    return select(data, aspect, metrics).analyse(name, **options)


def _of_panel(name: str, panel: Panel, metrics: Names, options: dict[str, Any]) -> Table:
    """An analysis of this very panel; one of a whole data set is run on that of the panel."""
    run: Analysis = registry.get("analysis", name, allow_code=True)
    if run.takes == "panel" and metrics is None:
        check_options(run, options)
        return run(panel, **options)
    if panel.data is None or run.takes == "datasets":
        asked = "data sets" if run.takes == "datasets" else "a data set"
        raise NeedsMissing(f"'{name}' is asked of {asked}, not of one panel: nlgauge.analyse('{name}', data).")
    fewer = panel.names if set(panel.names) != set(panel.data.metrics) else None
    chosen = select(panel.data, panel.aspect, metrics or fewer, keep_people=bool(panel.kept), aggregate=panel.aggregate)
    return chosen.analyse(name, **options)


def correlate(
    data: Any, aspect: Names = None, metrics: Names = None, *, measures: Names = None, sort: str | None = None
) -> Table:  # fmt: skip
    """Which metric agrees with people? The metrics × measures table.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        Or scores, with the ratings of the same outputs as second argument: `correlate(scores, ratings)`.
    aspect, metrics : str or sequence of str, optional
        All by default.
    measures : str or sequence of str, optional
        Such as 'input/kendall'; the twelve by default.
    sort : str, optional
        Measure by which the metrics are sorted.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.correlate(ng.example(), measures=["input/kendall", "system/pearson"])
    >>> [(row["metric"], row["measure"], round(row["value"], 2)) for row in table][:2]
    [('unigram_f1', 'input/kendall', 0.78), ('unigram_f1', 'system/pearson', 0.94)]
    >>> round(ng.correlate([0.1, 0.4, 0.3, 0.9], [1, 3, 2, 5], measures="global/kendall").rows[0]["value"], 2)
    1.0
    """
    return analyse("correlation", data, aspect, metrics, measures=listed(measures), sort=sort)


def compare(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    measure: str = "input/pairwise-accuracy",
    test: Literal["auto", "permutation", "williams", "bootstrap"] = "auto",
    correction: Literal["simultaneous", "holm", "bh", "none"] | None = None,
    draws: int | None = None,
    pairs: bool = False,
) -> Table:
    """Is one metric really better than another? Ranks with significance, or all pairs.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect, metrics : str or sequence of str, optional
        All by default.
    measure : str, default 'input/pairwise-accuracy'
    test : {'auto', 'permutation', 'williams', 'bootstrap'}
        'auto' asks whether a difference would hold for systems and inputs like these.
    correction : {'simultaneous', 'holm', 'bh', 'none'}, optional
        For many pairs.
    draws : int, optional
        Random draws of the test.
    pairs : bool, default False
        One row per pair of metrics (the analysis 'significance') instead of one per metric ('ranking').

    Examples
    --------
    >>> import nlgauge as ng
    >>> [(row["metric"], row["rank"]) for row in ng.compare(ng.example())]
    [('unigram_f1', 1), ('char3_f1', 1), ('source_overlap', 1), ('length_ratio', 1), ('random', 4)]
    """
    name = "significance" if pairs else "ranking"
    return analyse(name, data, aspect, metrics, measure=measure, test=test, correction=correction, draws=draws)


def agreement(
    data: Any,
    aspect: Names = None,
    *,
    level: Literal["nominal", "ordinal", "interval", "ratio"] = "interval",
    draws: int = 1000,
    bootstrap: Literal["units", "pairs"] = "units",
) -> Table:
    """Can people agree? Krippendorff's alpha, ICC and kappa with intervals.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect : str or sequence of str, optional
        All by default.
    level : {'nominal', 'ordinal', 'interval', 'ratio'}
        Scale of the ratings.
    draws : int, default 1000
        Bootstrap draws.
    bootstrap : {'units', 'pairs'}
        What alpha's interval resamples.

    Examples
    --------
    >>> import nlgauge as ng
    >>> round(ng.agreement(ng.example(), draws=200).rows[0]["value"], 2)
    0.79
    """
    return analyse("agreement", data, aspect, level=level, draws=draws, bootstrap=bootstrap)


def stability(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    measures: Names = None,
    test: Literal["permutation", "williams"] = "permutation",
    draws: int = 1000,
    trials: int = 1000,
    profile: str = "nlgauge",
) -> Table:
    """Which measure can be trusted on these data? Discriminative power and ranking consistency of the measures.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect, metrics : str or sequence of str, optional
        All by default.
    measures : str or sequence of str, optional
        The twelve by default.
    test : {'permutation', 'williams'}
    draws, trials : int, default 1000
        Draws of each test, and random halves of the inputs.
    profile : str, default 'nlgauge'
        Conventions of another tool.

    Examples
    --------
    >>> import nlgauge as ng
    >>> len(ng.stability(ng.example(), measures=["input/kendall", "system/kendall"], draws=50, trials=50))
    2
    """
    options = {"measures": listed(measures), "test": test, "draws": draws, "trials": trials, "profile": profile}
    return analyse("stability", data, aspect, metrics, **options)


def verdicts(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    people_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    level: float = 0.95,
) -> Table:
    """Does a judge say pass and fail as people do? Shares and coefficients with intervals.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect, metrics : str or sequence of str, optional
        All by default; `metrics` are the judges.
    people_pass_from, judge_pass_from : float, optional
        The lowest value that passes, where there are more than two values.
    level : float, default 0.95
        Share inside the intervals.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.verdicts(ng.example(), metrics="unigram_f1", people_pass_from=4, judge_pass_from=0.5)
    >>> table.kind
    'verdicts'
    """
    options = {"people_pass_from": people_pass_from, "judge_pass_from": judge_pass_from, "level": level}
    return analyse("verdicts", select(data, aspect, metrics).declared(), None, None, **options)


def estimate(
    data: Any,
    aspect: Names = None,
    *,
    judge: Names = None,
    method: Literal["ppi++", "ppi", "labels"] = "ppi++",
    part: Literal["means", "differences", "ranks"] = "means",
    people_pass_from: float | None = None,
    probability: str | None = None,
    strata: str | None = None,
    margin: float | None = None,
) -> Table:
    """How good would people find these outputs? From their labels of a few and a judge's scores of all.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect : str or sequence of str, optional
        All by default.
    judge : str or sequence of str, optional
        Metrics whose scores help; all by default. Several become one prediction.
    method : {'ppi++', 'ppi', 'labels'}
        Of differences and ranks; the means show all.
    part : {'means', 'differences', 'ranks'}
        Means of the systems, their differences or their ranks.
    people_pass_from : float, optional
        The lowest rating that passes, to estimate a pass rate from ratings with more values.
    probability, strata : str, optional
        Columns with the probability, or the stratum, by which labelled rows were drawn; at random without them.
    margin : float, optional
        Largest difference of the judge's mean error between two systems that does not matter, in units of the labels:
        the margin of the equivalence test that audits systems with few labels. 5% of the human scale by default.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.estimate(ng.example(), judge="unigram_f1", part="ranks")
    >>> table.rows[0]["measure"], len(table)
    ('rank', 8)
    """
    options = {"method": method, "part": part, "people_pass_from": people_pass_from, "probability": probability}
    chosen = select(data, aspect, judge).declared()
    return analyse("estimate", chosen, None, None, **options, strata=strata, margin=margin)
