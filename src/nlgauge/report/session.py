"""The report in a few lines for the terminal: can people agree, who is best, what to trust."""

from __future__ import annotations

from collections.abc import Iterator

from nlgauge.data.failed import headlines
from nlgauge.report.sections import Answered, Run
from nlgauge.report.sections.agreeing import ceiling_of, product, told
from nlgauge.report.sections.words import interval, missing, some, two
from nlgauge.table import Table

MOST = 6  # aspects that get lines of their own


def session(run: Run, answered: list[Answered]) -> list[str]:
    """Short answers, one line each; what could not be answered is one line too. Metrics that failed often stand first."""
    found = {a.section.key: a for a in answered}
    lines = [
        *_people(run, found["people"]),
        *_best(run, found["real"], found["agrees"]),
        *_trust(found["trust"]),
    ]
    return [
        *headlines(run.data),
        *lines,
        *(
            f"not answered: {a.section.question} {a.missing}"
            for a in answered
            if a.missing and a.section.key != "costs"
        ),
    ]


def _people(run: Run, people: Answered) -> Iterator[str]:
    alphas = [
        (p.about, t.rows[0]["value"]) for p in people.found.parts for t in p.tables if t.kind == "agreement"
    ]
    if not alphas:
        return
    said = ", ".join(f"{two(v)} ({about})" for about, v in alphas[:MOST])
    every = [ceiling_of(t, run.gate) for p in people.found.parts for t in p.tables if t.kind == "ceiling"]
    tops = [top for top in every if top is not None]
    ceiling = f"; ceiling of {product(run.gate)} {two(min(tops))}" if tops else ""
    if tops and two(max(tops)) != two(min(tops)):
        ceiling += f" to {two(max(tops))}"
    yield f"raters agree: alpha {said}{ceiling}"


def _best(run: Run, real: Answered, agrees: Answered) -> Iterator[str]:
    for part in real.found.parts[:MOST]:
        table = next(t for t in part.tables if t.kind == "ranking")
        yield f"best for {part.about or 'people'} ({table.rows[0]['measure']}): {_ranked(table, told(run, table))}"
    if real.missing:
        for part in agrees.found.parts[:MOST]:
            yield f"{part.about}: {part.answer}"


def _ranked(table: Table, can_tell: bool) -> str:
    rows = [r for r in table if not missing(r["value"])]
    if not rows:
        return "no metric has a value"
    first = [r for r in rows if r["rank"] == 1]
    best = f"{rows[0]['metric']} {interval(rows[0])}"
    if len(rows) == 1:
        return best
    if not can_tell:
        best += ", too few draws to tell whether it is better"
    elif len(first) > 1:
        others = [f"{r['metric']} {two(r['value'])}" for r in first[1:]]
        best += f", not clearly better than {some(others, 2)}"
        if not missing(first[0].get("p to next")):
            best += f" (p to next {two(first[0]['p to next'])})"
    else:
        best += ", clearly the best"
    return f"{best}; last {rows[-1]['metric']} {two(rows[-1]['value'])}"


def _trust(trust: Answered) -> Iterator[str]:
    """One line for all aspects that say the same."""
    said: dict[str, list[str]] = {}
    for part in trust.found.parts:
        said.setdefault(part.answer[:1].lower() + part.answer[1:], []).append(part.about)
    for answer, abouts in list(said.items())[:MOST]:
        if answer:
            yield f"{some(abouts, 4)}: {answer}"
