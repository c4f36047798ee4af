"""Analyses may be asked by several threads at once, and share their work among several: the table stays the same."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.api.questions import select
from nlgauge.engines import Local, using
from test_api import MORE

# `make stress` asks for 50 rounds with 1, 2 and 8 threads (minutes). Else one round on the most threads, without the
# analyses that take longest.
MANY = int(os.environ.get("NLGAUGE_STRESS_ROUNDS", "1"))
ROUNDS = [(threads, MANY) for threads in ((1, 2, 8) if MANY > 1 else (8,))]
LONG = ("robustness", "predictability", "inter-aspect", "progress", "agreement", "measures")


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads change places as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def answers(names: list[str], threads: int) -> dict[str, str]:
    """Everything in the table of each analysis, all asked at once of data sets that they share."""
    shared: dict[Callable[[], ng.Dataset], ng.Dataset] = {}
    for name in names:
        made = MORE.get(name, (ng.example, {}))[0]
        if made not in shared:
            shared[made] = made()

    def asked(name: str) -> str:
        made, options = MORE.get(name, (ng.example, {}))
        chosen: dict[str, Any] = {k: options.get(k) for k in ("by", "metrics")}
        rest = {k: v for k, v in options.items() if k not in chosen}
        with using(Local(threads)):
            table = select(shared[made], **chosen).analyze(name, **rest)
        return repr((table.rows, table.facts, table.answers, table.notes, table.method, str(table)))

    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(names, pool.map(asked, names), strict=True))


@pytest.mark.parametrize(("threads", "rounds"), ROUNDS)
def test_every_analysis_gives_the_same_table_whatever_runs_beside_it(hasty: None, threads: int, rounds: int) -> None:
    names = [name for name in registry.names("analysis") if rounds > 1 or name not in LONG]
    alone = answers(names, 1)
    assert len(alone) >= 40
    for _ in range(rounds):
        together = answers(names, threads)
        assert [name for name in names if together[name] != alone[name]] == []
