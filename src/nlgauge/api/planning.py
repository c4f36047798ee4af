"""Sample size planning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Unpack

from nlgauge.analyses.design.labels_needed import Aim
from nlgauge.analyses.design.planning import Swapped
from nlgauge.api.questions import ChoiceOptions, select, with_companions
from nlgauge.errors import NlgaugeError
from nlgauge.options import option
from nlgauge.stats.design.planning import Axis
from nlgauge.table import CommandOutput, Table
from nlgauge.types import Bounds, Names

OF_LABELS = ("width", "gate", "systems", "share", "error", "people_pass_from", "judge_pass_from")
OF_STUDIES = ("measure", "axis", "how", "level")


def plan(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    goal: Aim | None = None,
    width: float | None = None,
    gate: str = "kappa=.6",
    systems: Sequence[str] | None = None,
    share: float = 0.5,
    error: float = 0.05,
    people_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    measure: str = "input/kendall",
    axis: Axis = "inputs",
    how: Swapped = "systems",
    level: float = 0.05,
    power: float = 0.8,
    sizes: Sequence[int] | None = None,
    trials: Annotated[int, Bounds(1)] = 100,
    **choice: Unpack[ChoiceOptions],
) -> Table:
    """Plan the sample size: power of a comparison of two metrics, or number of labels for a goal.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session
        A pilot study, or a log with labels of a few outputs.
    aspect : str or sequence of str, optional
        Aspects to use; all by default.
    metrics : str or sequence of str, optional
        The two metrics to distinguish, or the judge that helps to reach the goal.
    goal : {'estimate', 'gate', 'compare', 'delegate'}, optional
        What labels are needed for: an estimate, a gate, a comparison of two systems, or a judge that decides alone
        (`analyze delegate`). Without it, the study
        compares two metrics.
    width : float, optional
        Goal estimate: width of the confidence interval. Default: 10% of the range of the ratings.
    gate : str, default 'kappa=.6'
        Goal gate: statistic of `analyze verdicts` and the lowest value that it must reach.
    systems : sequence of str, optional
        Goal compare: two systems. Default: the two with the highest ratings.
    share : float, default 0.5
        Goal delegate: share of the outputs that the judge should decide alone.
    error : float, default 0.05
        Goal delegate: maximum error rate of the verdicts that the judge decides alone (90% confidence).
    people_pass_from : float, optional
        Goals gate and delegate: lowest human rating that counts as pass.
    judge_pass_from : float, optional
        Goal gate: lowest score of the judge that counts as pass.
    measure : str, default 'input/kendall'
        Of two metrics: measure of agreement with human ratings.
    axis : {'inputs', 'systems', 'raters'}, default 'inputs'
        Of two metrics: what there is to be more of.
    how : {'systems', 'both', 'inputs'}, default 'systems'
        Of two metrics: what the test swaps; systems generalizes to other systems.
    level : float, default 0.05
        Of two metrics: significance level.
    power : float, default 0.8
        Chance to find the difference, or to reach the goal.
    sizes : sequence of int, optional
        Sample sizes to try, as in 20,40,80; by default found by doubling.
    trials : int, default 100
        Simulated studies per size.
    **choice
        As in `ChoiceOptions`.

    Returns
    -------
    Table
        Power, or the chance to reach the goal, at each size.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.plan(ng.example(), metrics=["unigram_f1", "random"], trials=5)
    >>> table.kind
    'plan'

    $ nlgauge plan pilot.csv --metrics bleu,bertscore --measure input/kendall --power .8

    $ nlgauge plan pilot.csv --metrics bleu,bertscore --axis systems --trials 500

    $ nlgauge plan pilot.csv --goal estimate --width .2 --metrics judge

    $ nlgauge plan log.csv --goal estimate --width .1 --cluster conversation_id

    $ nlgauge plan pilot.csv --goal gate --gate kappa=.6

    $ nlgauge plan pilot.csv --goal delegate --share .5 --error .05
    """
    given: dict[str, Any] = {
        "goal": goal,
        "width": width,
        "gate": gate,
        "systems": systems,
        "share": share,
        "error": error,
        "people_pass_from": people_pass_from,
        "judge_pass_from": judge_pass_from,
        "measure": measure,
        "axis": axis,
        "how": how,
        "level": level,
        "power": power,
        "sizes": sizes,
        "trials": trials,
        **choice,
    }
    tables = answer_plan(data, aspect, metrics, **given).tables
    return tables[0]


def answer_plan(data: Any, aspect: Names = None, metrics: Names = None, **options: Any) -> CommandOutput:
    """Return the plan with the tables that the command shows after it."""
    session = select(data, aspect, metrics)
    unused = OF_STUDIES if options.get("goal") else (*OF_LABELS, "goal")
    options = {name: value for name, value in options.items() if name not in unused}
    if "goal" in options:
        return with_companions("labels-needed", session, **options)
    if len(session.metrics or session.data.metrics) != 2:
        raise NlgaugeError(
            f"plan compares two metrics: select them with {option('metrics', 'a,b', choice=True)}, or set "
            f"{option('goal', 'estimate')} for a number of labels. Metrics with scores: "
            f"{', '.join(session.data.metrics)}."
        )
    return with_companions("plan", session, **options)


plan.answer = answer_plan  # type: ignore[attr-defined]  # what the command line shows
