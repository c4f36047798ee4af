"""What takes long is begun in a thread: the same answers, errors reach who waits, fewer draws are said, and an
aspect without an answer has the reason of its own question."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from nlgauge.data.example import example
from nlgauge.errors import NeedsMissing
from nlgauge.report.answer import answer_of
from nlgauge.report.effort import Effort
from nlgauge.report.sections import ReportContext, answer_all, sections
from nlgauge.report.write import report
from nlgauge.session import Answer, Ask, Session
from nlgauge.table import Table


class Counted(Session):
    """Its analyses are one row with their own options, counted; `Held` waits before it begins."""

    def __init__(self, broken: str = "") -> None:
        super().__init__(example())
        self.broken, self.computed = broken, list[str]()

    def _computed(self, name: str, options: dict[str, Any]) -> Answer:
        self.computed.append(name)
        if name == self.broken:
            raise RuntimeError(name)
        if name == "absent":
            raise NeedsMissing("nothing there")
        return [Table(name, [{"options": options}], kind=name)], []


def test_what_was_begun_is_not_computed_again_and_errors_reach_who_waits() -> None:
    chosen = Counted(broken="bad")
    with chosen.prefetch([("slow", {"draws": 3}), ("absent", {}), ("bad", {})]):
        (table,) = chosen.each("slow", draws=3)
        assert table.rows == [{"options": {"draws": 3}}]
        assert chosen.each("slow", draws=3)[0] is table
        with pytest.raises(NeedsMissing):
            chosen.each("absent")
        with pytest.raises(RuntimeError, match="bad"):
            chosen.each("bad")
        assert chosen.each("slow", draws=4)[0] is not table  # other options: another question
    assert chosen.computed.count("slow") == 2
    assert chosen.computed.count("absent") == 1


class Held(Counted):
    """Its first analysis waits until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def _computed(self, name: str, options: dict[str, Any]) -> Answer:
        self.begun.set()
        self.go.wait(30)
        return super()._computed(name, options)


def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    chosen = Held()
    with pytest.raises(KeyError), chosen.prefetch([("first", {}), ("second", {})]):
        chosen.begun.wait(30)
        raise KeyError
    chosen.go.set()
    chosen.each("first")
    time.sleep(0.05)
    assert chosen.computed == ["first"]


def test_an_option_that_is_no_plain_value_is_computed_each_time() -> None:
    chosen = Counted()
    for _ in range(2):
        chosen.each("mine", function=len)
    assert chosen.computed == ["mine", "mine"]


class OneByOne(Session):
    """Begins nothing in a thread."""

    def prefetch(self, asked: Sequence[Ask]) -> AbstractContextManager[None]:
        return nullcontext()


def test_the_report_is_the_same_one_by_one_and_what_is_begun_is_what_is_asked() -> None:
    together, apart = (ReportContext(kind(example()), quick=True) for kind in (Session, OneByOne))
    answered = answer_all(together, answer_of)
    assert [a.section for a in answered] == [s for s in sections() if s.applies is None or s.applies(together)]
    for one, other in zip(answered, answer_all(apart, answer_of), strict=True):
        assert [p.answer for p in one.found.parts] == [p.answer for p in other.found.parts]
        assert [t.to_dict() for t in one.tables] == [t.to_dict() for t in other.tables]
    # Nothing was computed for nobody: what the thread began is what sections ask for by themselves.
    assert set(together.source._answers) == set(apart.source._answers)


def test_fewer_draws_than_wanted_are_said() -> None:
    class Many(SimpleNamespace):
        def __len__(self) -> int:
            return 1_000_000

    source: Any = SimpleNamespace(data=Many(metrics=["a", "b"]), metrics=None)
    run = ReportContext(source)
    assert run.cap_draws(1000, 1) == 1000
    assert not run.warnings
    assert run.cap_draws(1000, 10) == 400
    assert run.warnings[0].startswith("The number of draws was reduced from 1,000 to 400 because there are 2 metrics")
    assert run.cap_draws(1000, 1e6) == 50


@pytest.mark.parametrize(("size", "words"), [((4, 5, 1), []), ((60, 2, 1), ["60 systems", "the 40 systems"])])
def test_time_memory_and_cheaper_methods_are_stated_before_the_start(
    size: tuple[int, int, int], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    class Begun(Exception):
        pass

    def begin(*_: object) -> None:
        raise Begun

    systems, inputs, metrics = size
    rows = [
        {
            "system": f"S{s}",
            "input": str(i),
            "human.quality": (s + i) % 3,
            **{f"m{m}": s * i + m for m in range(metrics)},
        }
        for s in range(systems)
        for i in range(inputs)
    ]
    monkeypatch.setattr("nlgauge.report.write.answer_all", begin)
    with pytest.raises(Begun):
        report(rows, tell=told.append)
    assert [all(word in line for word in words) for line in told] == [True] * bool(words)


def test_the_estimate_grows_with_everything_and_names_each_cheaper_method() -> None:
    sizes = {"outputs": 200_000, "systems": 500, "metrics": 500, "aspects": 50}
    small = Effort(1_000, 20, 3, 1)
    for name, size in sizes.items():
        grown: dict[str, Any] = {name: size}
        large = replace(small, **grown)
        assert large.seconds > 1.5 * small.seconds
        assert large.gigabytes >= small.gigabytes
        assert large.statement()
    assert replace(small, quick=True).seconds < small.seconds
    methods = Effort(1_000, 41, 21, 1).cheaper()
    assert [word in text for word, text in zip(("200 draws", "primary", "40 systems"), methods, strict=True)] == [
        True
    ] * 3


def test_an_aspect_that_a_section_cannot_answer_has_the_reason_of_that_section() -> None:
    rng = np.random.default_rng(12)
    quality = np.repeat(np.arange(6) * 0.4, 12) + rng.normal(size=72)
    ratings = np.clip(np.round(quality[:, None] + rng.normal(0, 0.5, (72, 2)) + 2), 1, 5)
    frame = pl.DataFrame(
        {
            "system": np.repeat([f"s{k}" for k in range(6)], 12),
            "doc": np.tile([f"d{k}" for k in range(12)], 6),
            "quality_1": ratings[:, 0],
            "quality_2": ratings[:, 1],
            "tone": [3] * 72,
            "bleu": quality + rng.normal(size=72),
            "rouge": quality + rng.normal(size=72),
        }
    )
    data = ng.load(frame, human=["quality_1", "quality_2", "tone"], metrics=["bleu", "rouge"])
    sections = answer_all(ReportContext(Session(data), quick=True), answer_of)
    said = {a.section.key: p.answer for a in sections for p in a.found.parts if p.about == "tone"}
    assert said["annotators"] == (
        "Not computed: agreement needs at least two annotators; annotator IDs are unknown (one rating per output)."
    )
    assert said["uses"] == "Not computed: human ratings do not differ between systems, outputs or levels of quality."
