"""What is there: metrics, measures, analyses, readers, judges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from nlgauge.metrics import Facts
    from nlgauge.table import Row

KINDS = ["metrics", "measures", "analyses", "readers", "judges"]


def command(
    what: Annotated[str, typer.Argument(help="metrics, measures, analyses, readers or judges.")] = "metrics",
    needs: Annotated[
        list[str] | None,
        typer.Option(
            "--needs", help="Only metrics that need this: references, source, context, control, none."
        ),
    ] = None,
    family: Annotated[str | None, typer.Option("--family", help="Only metrics of this family.")] = None,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    """What is there: metrics, measures, analyses, readers, judges; written from the code.

    [bold]Examples[/bold]

      nlgauge list metrics --needs source

      nlgauge list measures
    """
    from nlgauge import registry
    from nlgauge.errors import NameUnknown
    from nlgauge.table import Table

    rows: list[Row]
    if what in ("metric", "metrics"):
        rows = metric_rows(o.listed(needs), family)
    elif what in ("measure", "measures"):
        from nlgauge.stats.correlation.measure import all_measures

        rows = [{"measure": str(m), "definition": m.definition} for m in all_measures()]
    elif what in ("analysis", "analyses"):
        found = [registry.get("analysis", name) for name in registry.names("analysis")]
        rows = [{"analysis": a.name, "question": a.question, "paper": a.paper} for a in found]
    elif what in ("reader", "readers"):
        from nlgauge.cli.formats import format_rows

        rows = format_rows()
    elif what in ("judge", "judges"):
        from nlgauge.metrics.judge.task import load_task, shipped

        tasks = [load_task(name) for name in shipped()]
        rows = [
            {
                "judge": t.name,
                "judges": t.task,
                "shown": ", ".join(t.shows) or "–",
                "scale": t.scale,
                "aspects": ", ".join(t.aspects),
            }
            for t in tasks
        ]
    else:
        raise NameUnknown(
            f"cannot list '{what}'.{registry.did_you_mean(what, KINDS)} There are {', '.join(KINDS)}."
        )
    shown = ["metric", "needs", "better", "bounds", "extra", "what"] if rows and "metric" in rows[0] else []
    o.show([Table(what, rows, shown=shown, notes=weights_needed(rows))], format, out)


def metric_rows(needs: list[str] | None = None, family: str | None = None) -> list[Row]:
    """One row per metric, from its facts, ordered by family."""
    from nlgauge import registry
    from nlgauge.errors import NameUnknown
    from nlgauge.metrics.batch import NEEDS

    asked = set(needs or ())
    if unknown := sorted(asked - {*NEEDS, "none"}):
        hint = registry.did_you_mean(unknown[0], [*NEEDS, "none"])
        raise NameUnknown(f"--needs {unknown[0]}: no such need.{hint} There are {', '.join(NEEDS)}, none.")
    facts: list[Facts] = [registry.get("metric", name).facts for name in registry.names("metric")]
    families = sorted({f.family for f in facts})
    if family is not None and family not in families:
        hint = registry.did_you_mean(family, families)
        raise NameUnknown(f"--family {family}: no such family.{hint} There are {', '.join(families)}.")
    chosen = [f for f in facts if family in (None, f.family) and _meets(f, asked)]
    return [_row(f) for f in sorted(chosen, key=lambda f: (f.family, f.name))]


def weights_needed(rows: list[Row]) -> list[str]:
    """Which weights metrics need, those with the same ones together."""
    needed: dict[str, list[str]] = {}
    for row in rows:
        if row.get("weights", "–") != "–":
            needed.setdefault(str(row["weights"]), []).append(str(row["metric"]))
    return [f"weights of {', '.join(names)}: {weights}" for weights, names in needed.items()]


def _meets(facts: Facts, asked: set[str]) -> bool:
    wants = facts.needs - {"output"}
    return not wants if asked == {"none"} else asked - {"none"} <= facts.needs


def _row(facts: Facts) -> Row:
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
        "what": facts.summary,
        "cite": facts.cite,
    }


def _bound(value: float) -> str:
    return ("-" if value < 0 else "") + "∞" if math.isinf(value) else f"{value:g}"
