"""The report in a few lines for the terminal: can people agree, who is best, what to trust."""

from __future__ import annotations

from collections.abc import Iterator

from nlgauge.data.failed_scores import headlines
from nlgauge.report.sections import Answered, Run
from nlgauge.report.sections.agreeing import ceiling_of, untested
from nlgauge.report.sections.choices import choice_lines
from nlgauge.report.sections.verdicts import lines_of
from nlgauge.report.sections.words import interval, some, two
from nlgauge.report.sections.words import missing as no_value
from nlgauge.table import Table

MOST = 6  # aspects that get lines of their own


def session(run: Run, answered: list[Answered]) -> list[str]:
    """Short answers, one line each; what could not be answered is one line too.

    Metrics that failed often stand first.
    """
    found = {a.section.key: a for a in answered}
    verdicts = found["verdicts"].found.parts[:MOST] if "verdicts" in found else []
    choices = choices_said(answered)
    if "people" not in found:
        return [*headlines(run.data), *choices]
    lines = [
        *choices,
        *(f"{part.about}: {line}" for part in verdicts for table in part.tables for line in lines_of(table)),
        *_people(run, found["people"]),
        *(() if verdicts and found["real"].missing else _best(run, found["real"], found["agrees"])),
        *(() if verdicts and len(run.data.systems) == 1 else _trust(run.gate, found["trust"])),
    ]
    missing = [a for a in answered if a.missing and a.section.key != "costs"]
    if verdicts and missing:  # one judge, one system: most other questions cannot be asked
        questions = " ".join(a.section.question for a in missing)
        unanswered = [f"not answered, for reasons that stand on the page: {questions}"]
    else:
        unanswered = [f"not answered: {a.section.question} {a.missing}" for a in missing]
    return [*headlines(run.data), *lines, *unanswered]


def choices_said(answered: list[Answered]) -> list[str]:
    """What choices between two outputs say, where there are any."""
    found = next((a for a in answered if a.section.key == "rank"), None)
    if found is None:
        return []
    parts = found.found.parts[:MOST]
    lines = [f"{p.about}: {line}" if len(parts) > 1 else line for p in parts for line in choice_lines(p.tables)]
    return [*lines, *([f"not answered: {found.section.question} {found.missing}"] if found.missing else [])]


def _people(run: Run, people: Answered) -> Iterator[str]:
    alphas = [(p.about, t.rows[0]["value"]) for p in people.found.parts for t in p.tables if t.kind == "agreement"]
    if not alphas:
        return
    said = ", ".join(f"{two(v)} ({about})" for about, v in alphas[:MOST])
    every = [ceiling_of(t, run.gate) for p in people.found.parts for t in p.tables if t.kind == "ceiling"]
    tops = [top for top in every if top is not None]
    ceiling = f"; ceiling of {run.gate} {two(min(tops))}" if tops else ""
    if tops and two(max(tops)) != two(min(tops)):
        ceiling += f" to {two(max(tops))}"
    yield f"raters agree: alpha {said}{ceiling}"


def _best(run: Run, real: Answered, agrees: Answered) -> Iterator[str]:
    for part in [p for p in real.found.parts if p.tables][:MOST]:
        table = next(t for t in part.tables if t.kind == "ranking")
        about, measure = part.about or "people", table.rows[0]["measure"]
        if untested(table):
            lead = f"; on these outputs {_first(table)} leads" if _first(table) else ""
            yield f"{about}: too few data to say which metric is best ({untested(table)}){lead}"
        else:
            word = "best" if table.rows[0].get("clearly_best") else "highest"
            yield f"{word} for {about} ({measure}): {_ranked(table)}"
    if real.missing:
        for part in agrees.found.parts[:MOST]:
            yield f"{part.about}: {part.answer}"


def _ranked(table: Table) -> str:
    """The first metric, and whether the tests support that it is the best."""
    rows = [r for r in table if not no_value(r["value"])]
    if not rows:
        return "no metric has a value"
    best = f"{rows[0]['metric']} {interval(rows[0])}"
    if len(rows) == 1:
        return best
    others = [f"{r['metric']} {two(r['value'])}" for r in rows[1:] if r["may_be_best"]]
    if rows[0]["clearly_best"]:
        best += ", clearly the best"
    else:
        best += f", but {some(others, 2)} may be as good"
    about = " (about these systems only)" if table.facts["these_systems_only"] else ""
    return f"{best}{about}; last {rows[-1]['metric']} {two(rows[-1]['value'])}"


def _first(table: Table) -> str:
    row = next((r for r in table if not no_value(r["value"])), None)
    return "" if row is None else f"{row['metric']} {two(row['value'])}"


def _trust(gate: str, trust: Answered) -> Iterator[str]:
    """One line for all aspects that say the same; where no measure is steady, the figures stand on the page."""
    said: dict[str, list[str]] = {}
    for part in (p for p in trust.found.parts if p.tables):
        answer = part.answer[:1].lower() + part.answer[1:]
        if not part.tables[0].facts["steady"]:
            answer = (
                "no measure is steady here: more inputs or systems would help, or metrics that differ more; they are "
                f"ranked by {gate} all the same, so read the order by the intervals"
            )
        said.setdefault(answer, []).append(part.about)
    for answer, abouts in list(said.items())[:MOST]:
        if answer:
            yield f"{some(abouts, 4)}: {answer}"
