"""A short run of every fuzz target: whatever comes in, a value or one clear line goes out. `make fuzz` is the long
run.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fuzz.contract import Broken, Hang, Target, in_time, refused
from fuzz.mutate import mutated
from fuzz.runner import Outcome, keep, run_target
from fuzz.targets import find
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError

pytest.importorskip("yaml", reason="judge tasks need the extra 'judges'")
TARGETS = find()
FOUND = Path(__file__).with_name("found")
# Enough that each finding so far would come again within a few runs of CI's seed, few enough for seconds.
EXAMPLES = {
    "reader": 12,
    "table": 12,
    "load": 12,
    "metrics": 8,
    "measures": 20,
    "store": 8,
    "task": 12,
    "kernel": 30,
    "batches": 12,
    "stream": 5,
    "parts": 6,
    "verb": 6,
    "valid": 25,
}
LIMIT = 60.0  # seconds of the processor; a kernel may have to be compiled


def examples(name: str) -> int:
    return EXAMPLES.get(name, EXAMPLES.get(name.partition("-")[0], 60))


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_damaged_input_gives_a_value_or_one_line(target: Target) -> None:
    target.run(target.seeds[0])  # imports and compiles, which is no part of a case

    @settings(max_examples=examples(target.name), database=None)
    @given(st.integers(0, 2**32))
    @example(0)
    def holds(seed: int) -> None:
        data = mutated(target.seeds, random.Random(f"{target.name}/{seed}"), target.words)
        with in_time(LIMIT):
            target.run(data)

    holds()


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.bin")), ids=lambda p: p.stem)
def test_what_once_broke_a_target_holds_now(path: Path) -> None:
    (target,) = (t for t in TARGETS if t.name == path.stem.rpartition("-")[0])
    with in_time(LIMIT):
        target.run(path.read_bytes())


def test_a_target_that_breaks_is_found_told_and_kept(tmp_path: Path) -> None:
    def breaks(data: bytes) -> None:
        if b"{" in data:
            raise KeyError("x")

    outcome = run_target(Target("bad", breaks, [b"ab", b"cd"]), 400, 0, 5.0, 1 << 20, tmp_path)
    assert outcome.runs == 400
    ((times, name),) = outcome.found.values()
    assert int(times) > 1
    assert b"{" in (tmp_path / str(name)).read_bytes()
    assert "KeyError" in (tmp_path / f"{name}.txt").read_text()
    assert "broke in 1 ways" in outcome.line()


def test_two_inputs_that_break_in_one_place_are_one_finding(tmp_path: Path) -> None:
    outcome = Outcome("t")
    for data in (b"1", b"2"):
        try:
            int("x")
        except ValueError as error:
            keep(outcome, data, error, tmp_path)
    assert [v[0] for v in outcome.found.values()] == [2]


def test_a_case_that_does_not_end_is_stopped_and_no_handler_swallows_it() -> None:
    def endless() -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue

    with pytest.raises(Hang), in_time(0.2):
        endless()


def test_a_refusal_must_be_one_line() -> None:
    class Loud(NlgaugeError):
        def __str__(self) -> str:
            return "two\nlines"

    def loud() -> None:
        raise Loud

    def proper() -> None:
        raise NlgaugeError("one line about 'a\nb'" + "x" * 5000)

    with pytest.raises(Broken):
        refused(loud)
    assert refused(proper) is None
