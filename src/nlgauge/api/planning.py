"""Sample size planning."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from nlgauge.analyses.design.labels_needed import Aim
from nlgauge.api.questions import question, select, with_companions
from nlgauge.docstrings import completed, defaults_of
from nlgauge.errors import NlgaugeError
from nlgauge.options import option
from nlgauge.table import CommandOutput, Table
from nlgauge.types import Names

STUDIES, LABELS = "plan", "labels-needed"  # the analyses behind the verb


def with_options_of(*names: str) -> Callable[[Callable[..., Table]], Callable[..., Table]]:
    """Add the options of analyses and their descriptions to a function of data, as a decorator."""

    def decorate(function: Callable[..., Table]) -> Callable[..., Table]:
        analyses = [question(name) for name in names]
        own = {p.name: p for p in inspect.signature(function, eval_str=True).parameters.values() if p.name != "options"}
        of_all = {p.name: p for each in reversed(analyses) for p in inspect.signature(each).parameters.values()}
        parameters = sorted({**of_all, **own}.values(), key=lambda p: (p.kind, p.name not in own))
        function.__signature__ = inspect.Signature(parameters, return_annotation=Table)  # type: ignore[attr-defined]
        documents = (each.__doc__ or "" for each in analyses)
        function.__doc__ = completed(function.__doc__ or "", defaults_of(function), *documents)
        return function

    return decorate


@with_options_of(STUDIES, LABELS)
def plan(data: Any, aspect: Names = None, metrics: Names = None, *, goal: Aim | None = None, **options: Any) -> Table:
    """Plan the sample size: the power of a comparison of two metrics, or the number of labels for a goal.

    `measure`, `axis`, `how` and `level` belong to the comparison of two metrics, which is planned without a goal.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session
        Data of a pilot study, or a log with labels of a few outputs.
    metrics : str or sequence of str, optional
        The two metrics to compare, or the judge that assists the labels.
    goal : {'estimate', 'gate', 'compare', 'delegate'}, optional
        What labels are needed for: an estimate, a gate, a comparison of two systems, or a judge that decides alone
        (`analyze delegate`). Without it, the study compares two metrics.
    power : float, default 0.8
        Power: the probability of a significant difference, or of reaching the goal.
    sizes : sequence of int, optional
        Sample sizes to simulate, such as 20,40,80. Default: doubled until the power is reached.

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
    return answer_plan(data, aspect, metrics, goal=goal, **options).tables[0]


def answer_plan(data: Any, aspect: Names = None, metrics: Names = None, **options: Any) -> CommandOutput:
    """Return the plan with the tables that the command shows after it."""
    session = select(data, aspect, metrics)
    if options.get("goal") is not None:
        return with_companions(LABELS, session, **options)
    if len(session.metrics or session.data.metrics) != 2:
        raise NlgaugeError(
            f"plan compares two metrics: select them with {option('metrics', 'a,b', choice=True)}, or set "
            f"{option('goal', 'estimate')} for a number of labels. Metrics with scores: "
            f"{', '.join(session.data.metrics)}."
        )
    return with_companions(STUDIES, session, **{name: value for name, value in options.items() if name != "goal"})


plan.answer = answer_plan  # type: ignore[attr-defined]  # what the command line shows
