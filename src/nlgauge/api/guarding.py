"""Guarding a judge in daily work: its biases, and whether it has drifted."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.api.questions import analyse, dataset, select
from nlgauge.errors import DataError, NeedsMissing

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.table import Table
    from nlgauge.types import Names

UNNAMED = "output"  # the only system of a results.json


def bias(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    family: str | Sequence[str] | Mapping[str, str] | None = None,
    reliability: float | None = None,
    level: float = 0.95,
) -> Table:
    """Which biases has a judge that people do not have? Place, length, layout, own family, leniency, spread, halo.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        With the judge's scores (or choices) and people's ratings of the same outputs.
    aspect, metrics : str or sequence of str, optional
        All by default; `metrics` are the judges. A column whose name holds that of an aspect is held against it only.
    family : str, sequence of str or mapping, optional
        'gpt-*=gpt-4o': systems gpt-* are of the family of the judge gpt-4o.
    reliability : float, optional
        Of people's ratings, where each output was rated once and it is known.
    level : float, default 0.95
        Share of data sets in which a judge without bias raises no alarm, over all its checks.

    Returns
    -------
    Table
        One row a judge, aspect and check: `judge` (its effect), `people` (what following people explains of it),
        `value` (the difference) with interval, `p_corrected`, `verdict` ('found', 'not found', 'cannot tell') and
        `detectable`, the smallest bias that would be found in four of five data sets.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rng = __import__("random").Random(1)
    >>> rows = []
    >>> for k in range(60):
    ...     good, words = rng.gauss(3, 1), rng.choice([5, 10, 20, 40])
    ...     rows.append({"id": k, "output": "word " * words, "human_1": good + rng.gauss(0, 0.3),
    ...                  "human_2": good + rng.gauss(0, 0.3), "judge": good + words / 20 + rng.gauss(0, 0.3)})
    >>> table = ng.bias(ng.load(rows, human=["quality=human_1+human_2"], metrics=["judge"]))
    >>> [(row["measure"], row["verdict"]) for row in table]
    [('length', 'found')]
    """
    return analyse("bias", data, aspect, metrics, family=family, reliability=reliability, level=level)


def drift(
    old: Any,
    new: Any,
    anchors: Any = None,
    *,
    aspect: Names = None,
    metrics: Names = None,
    looks: str | Path | None = None,
    level: float = 0.95,
) -> Table:
    """Has a judge drifted, or the data? Outputs that both runs judged separate the judge's shift from the data's.

    Parameters
    ----------
    old, new : path, data frame, rows or Dataset
        Scores of the same judge at two times, results.json of two runs, or two cards of the judge (the analysis
        judge-card written as .json), which show what changed in model, prompt and settings.
    anchors : path, data frame, rows or Dataset, optional
        Outputs of the old run judged by the new judge (or of the new run by the old one), in a table of their own.
        Without it: outputs that stand in both runs, by system and input, else by their text.
    aspect, metrics : str or sequence of str, optional
        All by default.
    looks : path, optional
        A file that keeps every look (JSON lines): the judge's shift then holds its error rate over all of them.
    level : float, default 0.95
        Share of unchanged judges without any alarm: over the checks of one comparison, or with `looks` over all looks.

    Returns
    -------
    Table
        `facts["verdict"]` is 'found' where a judge has shifted, else 'cannot tell' where anchors are missing or
        were selected by their score, else 'not found'; `facts["representative"]` is the p of the test for selection of
        each judge; `facts["made_otherwise"]` says what differs in model, prompt and settings, where they are known.

    Examples
    --------
    >>> import nlgauge as ng
    >>> old = [{"id": k, "output": f"answer {k}", "judge": k % 5 + 1} for k in range(40)]
    >>> new = [{**row, "judge": max(1, row["judge"] - 1)} for row in old]
    >>> table = ng.drift(ng.load(old, metrics=["judge"]), ng.load(new, metrics=["judge"]))
    >>> table.facts["verdict"], table.rows[1]["measure"], round(table.rows[1]["value"], 2)
    ('found', 'judge_shift', -0.8)
    """
    cards = [_card(data) for data in (old, new)]
    if cards[0] is not None and cards[1] is not None:
        from nlgauge.analyses.judges.judge_card import compare_cards

        return compare_cards(cards[0], cards[1], (Path(old).name, Path(new).name))
    given = (old, new, *([] if anchors is None else [anchors]))
    runs = [run_of_judge(data) for data in given]
    if len(known := {s for run in runs for s in run.systems} - {UNNAMED}) == 1:  # results.json has no name for its own
        runs = [run_of_judge(data, *known) for data in given]
    chosen = select(runs, aspect, metrics)
    if looks is None:
        return chosen.analyse("drift", level=level)
    path = Path(looks)
    earlier = _looks(path, level)
    table = chosen.analyse("drift", level=level, earlier=earlier)
    look = {"look": len(earlier) + 1, "date": datetime.date.today().isoformat(), "new": runs[1].name, "level": level,
            "metrics": table.facts["look"]}  # fmt: skip
    if earlier and all(earlier[-1][k] == look[k] for k in ("new", "metrics")):  # the same data again are no new look
        table = chosen.analyse("drift", level=level, earlier=earlier[:-1])
        table.notes.append(f"{path}: the same scores as at look {len(earlier)}, which is not counted again.")
        return table
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(look) + "\n")
    table.notes.append(f"look {look['look']}, kept in {path}.")
    return table


def _looks(path: Path, level: float) -> list[dict[str, Any]]:
    """Looks kept before; every complaint names the line."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), 1):
        try:
            look = json.loads(line)
            given = float(look["level"]), dict(look["metrics"]), look["new"]
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{path}, line {number}: not a look of `nlgauge drift --looks`.") from None
        if given[0] != level:
            raise DataError(f"{path}, line {number}: looked at with level {given[0]:g}, now {level:g}; keep one level.")
        found.append(look)
    return found


def _card(data: Any) -> list[dict[str, Any]] | None:
    """The rows of a judge's card, if the data are the path of one."""
    from nlgauge.analyses.judges.judge_card import card_rows

    path = Path(data) if isinstance(data, str | Path) else None
    if path is None or path.suffix.lower() != ".json" or not path.is_file():
        return None
    try:
        return card_rows(json.loads(path.read_text(encoding="utf-8")))
    except ValueError:
        return None  # whatever reads it as data says what is wrong


def run_of_judge(data: Any, system: str = UNNAMED) -> Dataset:
    """A run of a judge: a score table, or what results.json keeps of one; there a single system has no name."""
    import polars as pl

    from nlgauge.data.dataset import Dataset
    from nlgauge.results_file import is_results, read_results

    path = Path(data) if isinstance(data, str | Path) else None
    if path is None or path.suffix.lower() != ".json" or not path.exists() or not is_results(path):
        return dataset(data)
    results = read_results(path)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    ratings = []
    for aspect, found in {**results["one_system"], **results["verdicts"]}.items():
        keys = found.get("rows") or [[system, i] for i in found["inputs"]]
        for k, (who, given) in enumerate(keys):
            scores = {name: values[k] for name, values in found.get("judges", found.get("metrics", {})).items()}
            rows.setdefault((str(who), str(given)), {}).update(scores)
            ratings.append((str(who), str(given), aspect, None, float(found["people"][k])))
    if not rows:
        raise NeedsMissing(
            f"{path}: results of several systems keep no score of single outputs; give the score table itself to drift."
        )
    keys_frame = pl.DataFrame(list(rows), schema={"system": pl.String, "input": pl.String}, orient="row")
    names = dict.fromkeys(name for scores in rows.values() for name in scores)
    made = Dataset.of(path.name, keys_frame, ratings=pl.DataFrame(ratings, schema=Dataset.RATINGS, orient="row"))
    if units := results["per_input"]["units"]:
        names_of = [units.get(i, i) for i in keys_frame["input"]]
        made = replace(made, samples=made.samples.with_columns(pl.Series("unit", names_of)), cluster="unit")
    made = made.with_scores({name: [scores.get(name) for scores in rows.values()] for name in names})
    return replace(made, signatures=results["signatures"])


def jury(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    cost: str | Sequence[str] | Mapping[str, float] | None = None,
    budget: float | None = None,
    size: int = 5,
    measure: str | None = None,
    people_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    prices: str | Path | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Is a panel of judges better than the best single judge, and which cheap one?

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        With people's labels or ratings of some rows, and the verdicts or scores of two or more judges.
    aspect, metrics : str or sequence of str, optional
        All by default; `metrics` are the judges.
    cost : mapping, str or sequence of str, optional
        {'gpt-4o': 2.5, 'small': 0.1} or 'gpt-4o=2.5,small=0.1'; else from columns such as 'gpt-4o cost', or from the
        replies in the store; else 1 each.
    budget : float, optional
        The most that a chosen panel may cost.
    size : int, default 5
        The most judges of a chosen panel.
    measure : str, optional
        Of pass and fail a figure of `verdicts` (kappa by default), of scores a measure (input/kendall, or
        global/pearson for one system).
    people_pass_from, judge_pass_from : float, optional
        The lowest value that passes, where there are more than two.
    prices : path, optional
        JSON with prices of a million tokens, for judges whose replies are in the store.
    level : float, default 0.95
        Share inside the intervals.
    seed : int, default 0
        Of the folds.

    Returns
    -------
    Table
        A row for every judge, for all of them by each vote, and for the chosen panel, which was held against people on
        rows that did not choose it: `value` with interval, `difference` to the best single judge, `verdict` ('better',
        'worse', 'cannot tell'). How alike their errors are: `analyse('jury-errors', data)`.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rng = __import__("random").Random(1)
    >>> rows = [{"id": k, "label": k % 2, **{f"judge_{j}": (k + (rng.random() > 0.8)) % 2 for j in range(5)}}
    ...         for k in range(300)]
    >>> table = ng.jury(ng.load(rows, human=["label"], metrics=[f"judge_{j}" for j in range(5)]))
    >>> [(row["vote"], row["verdict"]) for row in table if row["size"] > 1]
    [('majority', 'better'), ('dawid-skene', 'better'), ('mace', 'better'), ('chosen', 'better')]
    """
    return analyse(
        "jury", data, aspect, metrics, cost=cost, budget=budget, size=size, measure=measure,
        people_pass_from=people_pass_from, judge_pass_from=judge_pass_from, prices=prices, level=level, seed=seed,
    )  # fmt: skip
