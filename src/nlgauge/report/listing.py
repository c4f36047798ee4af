"""Lists of the available metrics, measures, analyses, figures, readers, judges and formats.

It stands in `report`, the room above all that it lists.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from nlgauge import registry
from nlgauge.api.guide import GUIDES, guide_text
from nlgauge.api.installation import environment
from nlgauge.data.choice import listed
from nlgauge.data.readers import TABLE, Takes
from nlgauge.errors import NameUnknown
from nlgauge.metrics import Facts
from nlgauge.metrics.batch import NEEDS
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.task import load_task, shipped
from nlgauge.options import option
from nlgauge.stats.correlation.measure import all_measures
from nlgauge.table import CommandOutput, Row, Table, grouped, joined
from nlgauge.terminal import wrapped
from nlgauge.types import Names

SHORT = 46  # signs of a metric's summary in the list


def formats() -> Table:
    """List the formats that can be read, and which of their fields become human ratings and which become scores.

    Examples
    --------
    $ nlgauge data formats -f md -o formats.md
    """
    return Table("formats", format_rows(), notes=FORMAT_NOTES, kind="formats")


def available(
    what: str = "metrics", names: Names = None, *, needs: Names = None, family: str | None = None, long: bool = False
) -> Table | str:
    """List metrics, measures, analyses, figures, file readers or judges; show the environment or a guide for AI agents.

    Parameters
    ----------
    what : str, default 'metrics'
        What to list: metrics, measures, analyses, figures, readers, judges, formats or environment; or one of the
        guides llms, skill, schema and columns.
    names : str or sequence of str, optional
        Metrics to describe in full, or judges whose settings to show.
    needs : str or sequence of str, optional
        Only metrics that need this kind of text: references, source, context, control or none.
    family : str, optional
        Only metrics of this family.
    long : bool, default False
        Show the full description of each metric.

    Returns
    -------
    Table or str
        One row each; or the text.

    Examples
    --------
    >>> [row["measure"] for row in available("measures")][:2]
    ['global/pearson', 'input/pearson']

    $ nlgauge list metrics --needs source

    $ nlgauge list metrics bleu chrf

    $ nlgauge list judges gao2025

    $ nlgauge list environment   (versions, optional dependencies, external tools, and cache paths)

    $ nlgauge list llms   (all commands with their options and examples, in one document)

    $ nlgauge list skill > SKILL.md

    $ nlgauge list schema > output.schema.json   (JSON schema of the --format json output of all commands)
    """
    if what == "environment":
        return environment()
    if what in GUIDES:
        return guide_text(what)
    if what == "formats":
        return formats()
    kind = dict(zip(SINGULARS, KINDS, strict=True)).get(what, what)
    if kind not in KINDS:
        known_kinds = [*KINDS, "formats", "environment", *GUIDES]
        hint = registry.did_you_mean(what, known_kinds)
        raise NameUnknown(f"cannot list '{what}'.{hint} There are {', '.join(known_kinds)}.")
    if kind != "metrics":
        if names and kind == "judges":
            return judge_settings(listed(names) or [])
        if names:
            raise NameUnknown(f"list {what}: only metrics can be named; `nlgauge list {what}` shows them all.")
        return Table(what, KINDS[kind](), kind="formats" if kind == "readers" else f"list-{kind}")
    rows = metric_rows(listed(needs), family)
    if asked := listed(names):
        known = {row["metric"]: row for row in rows}
        for name in asked:
            if name not in known:
                raise registry.unknown("metric", name)
        rows = [known[name] for name in asked]
    families = grouped(rows, "family").values()
    parts = [Table(what, rows_of, shown=["metric", "what"], cells={"what": _short}) for rows_of in families]
    found = joined(parts, by=["family"]) if parts else Table(what, [])
    found.title, found.notes, found.kind = what, [f"{len(rows)} metrics"], "list-metrics"
    if not names and not long:
        found.notes[0] += "; a name, or everything (long), shows all about a metric; needs and family narrow the list"
    return found


def _answer_list(what: str = "metrics", names: Names = None, *, long: bool = False, **options: Any) -> Any:
    """Return the lines that the command prints: all facts about the named metrics, one fact per line."""
    answer = available(what, names, long=long, **options)
    if isinstance(answer, str):
        return CommandOutput(
            [Table("nlgauge docs", [{"name": what, "text": answer}], kind="docs")], answer.splitlines()
        )
    if answer.kind == "list-metrics" and (names or long):
        return CommandOutput([answer], [line for row in answer for line in _facts(row)])
    return answer


available.answer = _answer_list  # type: ignore[attr-defined]


def _facts(row: Row, width: int = 100) -> list[str]:
    """Return all facts about a metric, one fact per line."""
    facts = [(name, str(value)) for name, value in row.items() if name != "metric" and value not in (None, "", "–")]
    side = max(len(name) for name, _ in facts) + 4
    lines = [row["metric"]]
    for name, text in facts:
        first, *more = wrapped(text, width - side)
        lines += [f"  {name:{side - 2}}{first}", *(" " * side + line for line in more)]
    return [*lines, ""]


def _short(row: Row) -> str:
    """Return the beginning of a metric's summary, cut to fit on a line."""
    said = str(row["what"])
    if len(said) <= SHORT:
        return said.rstrip(".")
    return said[: said.rindex(" ", 0, SHORT)].rstrip(" ,;:–") + " …"


def measure_rows() -> list[Row]:
    """Return one row per measure of agreement: name and definition."""
    return [{"measure": str(m), "definition": m.definition} for m in all_measures()]


def analysis_rows() -> list[Row]:
    """Return one row per analysis: name, question and paper."""
    found = [registry.get("analysis", name) for name in registry.names("analysis")]
    return [{"analysis": a.name, "question": a.question, "paper": a.paper} for a in found]


def figure_rows() -> list[Row]:
    """Return one row per drawing function, in the order of its first analysis."""
    drawn: dict[str, Row] = {}
    for analysis in registry.names("figure"):
        draw = registry.get("figure", analysis)
        row = drawn.setdefault(draw.__name__, {"figure": draw.__name__, "analysis": "", "what": _first_line(draw)})
        row["analysis"] += f", {analysis}" if row["analysis"] else analysis
    return list(drawn.values())


def judge_rows() -> list[Row]:
    """Return one row per task that a judge can be given."""
    tasks = [load_task(name) for name in shipped()]
    return [
        {
            "judge": t.name,
            "judges": t.task,
            "shown": ", ".join(t.shows) or "–",
            "scale": t.scale,
            "settings": len(t.named_settings()),
            "aspects": ", ".join(t.aspects),
        }
        for t in tasks
    ]


def judge_settings(names: list[str]) -> Table:
    """Return the settings of the built-in judges and their prompts."""
    rows: list[Row] = []
    for name in names:
        task = load_task(name)
        for setting in task.named_settings() or [""]:
            said = Judge(task=name, setting=setting, aspect=next(iter(task.aspects))).decided()
            rows.append(
                {
                    "judge": name,
                    "setting": setting or "–",
                    "model": said.model or "–",
                    "scale": str(said.scale),
                    "replies": said.n,
                    "temperature": said.temperature,
                    "mode": said.mode,
                    "without_a_rating": "random rating" if said.fill else "unscored",
                }
            )
    alone = list(dict.fromkeys(s for name in names for s in load_task(name).settings))
    notes = [f"with a model of your own: {option('model')} and {option('setting', alone)}"] if alone else []
    return Table(
        "judges",
        rows,
        heads={"without_a_rating": "without a rating"},
        kind="list-judge-settings",
        notes=notes,
        cells={"temperature": lambda row: f"{row['temperature']:g}"},
        method="several replies: their ratings are averaged.",
    )


def metric_rows(needs: list[str] | None = None, family: str | None = None) -> list[Row]:
    """Return one row per metric, from its facts, ordered by family."""
    asked = set(needs or ())
    if unknown := sorted(asked - {*NEEDS, "none"}):
        hint = registry.did_you_mean(unknown[0], [*NEEDS, "none"])
        raise NameUnknown(f"{option('needs', unknown[0])}: no such need.{hint} There are {', '.join(NEEDS)}, none.")
    facts: list[Facts] = [registry.get("metric", name).facts for name in registry.names("metric")]
    families = sorted({f.family for f in facts})
    if family is not None and family not in families:
        hint = registry.did_you_mean(family, families)
        raise NameUnknown(f"{option('family', family)}: no such family.{hint} There are {', '.join(families)}.")
    chosen = [f for f in facts if family in (None, f.family) and _meets(f, asked)]
    return [_row(f) for f in sorted(chosen, key=lambda f: (f.family, f.name))]


def _meets(facts: Facts, asked: set[str]) -> bool:
    wants = facts.needs - {"output"}
    return not wants if asked == {"none"} else asked - {"none"} <= facts.needs


def _row(facts: Facts) -> Row:
    options = dataclasses.fields(registry.get("metric", facts.name))
    return {
        "metric": facts.name,
        "family": facts.family,
        "needs": ", ".join(sorted(facts.needs - {"output"})) or "–",
        "better": "lower" if facts.lower else "higher",
        "bounds": f"{_bound(facts.bounds[0])} to {_bound(facts.bounds[1])}",
        "year": facts.year,
        "extra": facts.extra or "–",
        "longest": facts.longest or None,
        "weights": facts.weights or "–",
        "options": ", ".join(f"{f.name}={f.default!r}" for f in options if f.init) or "–",
        "what": facts.summary,
        "cite": facts.cite,
    }


def _bound(value: float) -> str:
    return ("-" if value < 0 else "") + "∞" if math.isinf(value) else f"{value:g}"


FORMAT_NOTES = [
    "a file is known by what is in it; the option `reader` chooses a format; `table` is a plain table",
    "in logs of evaluation tools declared columns (`human`, `metrics`) say whose a judgment is",
]


def format_rows() -> list[Row]:
    """Return one row per reader, by name, with the plain table last."""
    known = [(name, registry.get("reader", name)) for name in registry.names("reader")]
    found = [(name, getattr(reader, "takes", Takes(_first_line(reader)))) for name, reader in known]
    return [
        {
            "format": name,
            "files": takes.files,
            "human": takes.human,
            "scores": takes.scores,
            "tested_with": takes.tested or "–",
        }
        for name, takes in [*found, ("table", TABLE)]
    ]


def _first_line(thing: object) -> str:
    """Return the first paragraph of the docstring of a figure or reader."""
    return " ".join((thing.__doc__ or "").strip().partition("\n\n")[0].split())


KINDS: dict[str, Callable[[], list[Row]]] = {
    "metrics": metric_rows,
    "measures": measure_rows,
    "analyses": analysis_rows,
    "figures": figure_rows,
    "readers": format_rows,
    "judges": judge_rows,
}
SINGULARS = ("metric", "measure", "analysis", "figure", "reader", "judge")
