"""What takes long is begun in a thread: the same answers, errors reach who waits, and fewer draws are said."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from nlgauge.errors import NeedsMissing
from nlgauge.report.sections import Ask, Run, answer_all, sections
from nlgauge.table import Table


class Counted:
    """A source whose analyses are one row with their own name and options, counted."""

    def __init__(self, broken: str = "") -> None:
        self.broken = broken
        self.asked: list[str] = []
        self.data = SimpleNamespace(metrics=["a", "b", "c"], aspects=["fun"], __len__=lambda: 10)
        self.metrics = self.aspects = self.by = None

    def each(self, analysis: str, **options: Any) -> list[Table]:
        self.asked.append(analysis)
        if analysis == self.broken:
            raise RuntimeError(analysis)
        if analysis == "absent":
            raise NeedsMissing("nothing there")
        return [Table(analysis, [{"options": options}], kind=analysis)]


class OneByOne(Run):
    def ahead(self, asked: Sequence[Ask]) -> AbstractContextManager[None]:
        return nullcontext()


def test_what_was_begun_is_not_computed_again_and_errors_reach_who_waits() -> None:
    source: Any = Counted(broken="bad")
    run = Run(source)
    with run.ahead([("slow", {"draws": 3}), ("absent", {}), ("bad", {})]):
        (table,) = run.each("slow", draws=3)
        assert table.rows == [{"options": {"draws": 3}}]
        assert run.each("slow", draws=3)[0] is table
        with pytest.raises(NeedsMissing):
            run.each("absent")
        with pytest.raises(RuntimeError, match="bad"):
            run.each("bad")
        assert run.each("slow", draws=4)[0] is not table  # other options: another question
    assert source.asked.count("slow") == 2


class Held(Counted):
    """Its first analysis waits until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def each(self, analysis: str, **options: Any) -> list[Table]:
        self.begun.set()
        self.go.wait(30)
        return super().each(analysis, **options)


def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    source: Any = Held()
    run = Run(source)
    with pytest.raises(KeyError), run.ahead([("first", {}), ("second", {})]):
        source.begun.wait(30)
        raise KeyError
    source.go.set()
    first, second = run.begun.values()
    first.result(30)
    assert second.cancelled()
    assert source.asked == ["first"]


def test_the_report_is_the_same_one_by_one_and_what_is_begun_is_what_is_asked(example_run: Any) -> None:
    together, apart = example_run(Run), example_run(OneByOne)
    told: list[str] = []
    answered = answer_all(together, lambda a: told.append(a.section.key))
    assert [a.section for a in answered] == sections()
    assert told[-1] == "made"
    assert set(together.begun) <= set(together.known)  # nothing was computed for nobody
    for one, other in zip(answered, answer_all(apart), strict=True):
        assert [p.answer for p in one.found.parts] == [p.answer for p in other.found.parts]
        if one.section.key != "made":
            assert [t.to_dict() for t in one.tables] == [t.to_dict() for t in other.tables]


@pytest.fixture
def example_run() -> Any:
    from nlgauge.cli._data import Selection
    from nlgauge.data.card import card
    from nlgauge.data.example import example

    data = example()
    pick = Selection(data.name, data, None, None, None, False, 0, card(data), everything=[data])
    return lambda kind: kind(pick, quick=True)


def test_fewer_draws_than_wanted_are_said() -> None:
    class Many(SimpleNamespace):
        def __len__(self) -> int:
            return 1_000_000

    source: Any = SimpleNamespace(data=Many(metrics=["a", "b"]), metrics=None)
    run = Run(source)
    assert run.within(1000, 1) == 1000
    assert not run.left
    assert run.within(1000, 10) == 400
    assert run.left[0].startswith("400 draws instead of 1,000: there are 2 metrics and 1,000,000 outputs.")
    assert run.within(1000, 1e6) == 50
