"""What there is: metrics, measures, analyses, readers, judges and formats, written from the code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from nlgauge import registry
from nlgauge.errors import NameUnknown
from nlgauge.session import listed
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    from nlgauge.metrics import Facts
    from nlgauge.types import Names


def available(what: str = "metrics", needs: Names = None, family: str | None = None) -> Table:
    """What there is of a kind, one row each.

    Parameters
    ----------
    what : {'metrics', 'measures', 'analyses', 'readers', 'judges', 'formats'}
    needs : str or sequence of str, optional
        Only metrics that need this: 'references', 'source', 'context', 'control', 'none'.
    family : str, optional
        Only metrics of this family.

    Examples
    --------
    >>> import nlgauge as ng
    >>> [row["measure"] for row in ng.available("measures")][:2]
    ['global/pearson', 'input/pearson']
    """
    if what == "formats":
        return Table("formats", format_rows(), notes=FORMAT_NOTES)
    kind = dict(zip(SINGULARS, KINDS, strict=True)).get(what, what)
    if kind not in KINDS:
        hint = registry.did_you_mean(what, list(KINDS))
        raise NameUnknown(f"cannot list '{what}'.{hint} There are {', '.join(KINDS)}.")
    rows = metric_rows(listed(needs), family) if kind == "metrics" else KINDS[kind]()
    shown = ["metric", "needs", "better", "bounds", "extra", "what"] if rows and kind == "metrics" else []
    return Table(what, rows, shown=shown, notes=weights_needed(rows))


def measure_rows() -> list[Row]:
    from nlgauge.stats.correlation.measure import all_measures

    return [{"measure": str(m), "definition": m.definition} for m in all_measures()]


def analysis_rows() -> list[Row]:
    found = [registry.get("analysis", name) for name in registry.names("analysis")]
    return [{"analysis": a.name, "question": a.question, "paper": a.paper} for a in found]


def judge_rows() -> list[Row]:
    from nlgauge.metrics.judge.task import load_task, shipped

    tasks = [load_task(name) for name in shipped()]
    return [
        {"judge": t.name, "judges": t.task, "shown": ", ".join(t.shows) or "–", "scale": t.scale,
         "aspects": ", ".join(t.aspects)}
        for t in tasks
    ]  # fmt: skip


def metric_rows(needs: list[str] | None = None, family: str | None = None) -> list[Row]:
    """One row per metric, from its facts, ordered by family."""
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


FORMAT_NOTES = [
    "a file is known by what is in it; --reader NAME chooses a format, --reader table reads it as a plain table",
    "in logs of evaluation tools --human NAME and --metric NAME say whose a judgement is",
]


def format_rows() -> list[Row]:
    """One row per reader, by name, and the plain table last."""
    from nlgauge.data.readers import TABLE, Takes

    known = [(name, registry.get("reader", name)) for name in registry.names("reader")]
    found = [(name, getattr(reader, "takes", Takes(_first_line(reader)))) for name, reader in known]
    return [
        {"format": name, "files": takes.files, "people": takes.people, "scores": takes.scores,
         "tested with": takes.tested or "–"}
        for name, takes in [*found, ("table", TABLE)]
    ]  # fmt: skip


def _first_line(reader: object) -> str:
    """A plugin's reader may say no more of itself than its docstring."""
    return " ".join((reader.__doc__ or "").strip().partition("\n\n")[0].split())


KINDS: dict[str, Callable[[], list[Row]]] = {
    "metrics": metric_rows,
    "measures": measure_rows,
    "analyses": analysis_rows,
    "readers": format_rows,
    "judges": judge_rows,
}
SINGULARS = ("metric", "measure", "analysis", "reader", "judge")
