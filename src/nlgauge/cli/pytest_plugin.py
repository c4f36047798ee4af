"""pytest plugin, loaded automatically: tests that a judge agrees with human labels.

    @pytest.mark.judge_gate("answers.csv", "kappa=.6,tnr=.8", metrics="judge")
    def test_recorded_verdicts(): ...

    def test_my_judge(judge_gate):
        judge_gate("labels.csv", "kappa=.6", judge=my_judge)     # my_judge(row) -> bool or number

Other options of `nlgauge.gate` are passed on: `looks=12` where the labels grow and the test will run on twelve sets.
Where the labels leave it open the test fails, is an expected failure or warns: `judge_gate_undecided = fail` (xfail,
warn) in the ini file, `--judge-undecided` on the command line, `undecided=` at the gate itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.table import Table

WAYS = ("fail", "xfail", "warn")
LET_THROUGH = (
    "undecided fails here; --judge-undecided xfail (or warn), or judge_gate_undecided in the ini file, lets it through"
)


class JudgeUndecided(UserWarning):
    """The gate is undecided with these labels."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting for undecided gates."""
    told = "what a test does whose gate is undecided: fail, xfail or warn"
    parser.addini("judge_gate_undecided", f"nlgauge: {told}", default="fail")
    parser.getgroup("nlgauge").addoption("--judge-undecided", choices=WAYS, help=told)


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker `judge_gate`."""
    config.addinivalue_line(
        "markers", "judge_gate(data, minimum, **options): passes if a judge agrees with the human labels (nlgauge.gate)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the gates of a marked test before it runs."""
    for marker in item.iter_markers("judge_gate"):
        JudgeGate(item.config, item.path.parent)(*marker.args, **marker.kwargs)


@pytest.fixture
def judge_gate(request: pytest.FixtureRequest) -> JudgeGate:
    """Compare the verdicts of a judge, or of a function, with human labels; see `nlgauge.gate`."""
    return JudgeGate(request.config, request.path.parent)


class JudgeGate:
    """`nlgauge.gate` whose verdict is that of the test; paths are relative to the test file or the working "
    "directory."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self.config, self.folder = config, folder

    def __call__(
        self,
        data: Any,
        minimum: Any = None,
        *,
        judge: Callable[[dict[str, Any]], Any] | None = None,
        undecided: str | None = None,
        **options: Any,
    ) -> Table:
        # Imported late: every run of pytest imports this module, and few use the gate.
        from nlgauge.api.gate import gate
        from nlgauge.api.limits import FAILED, UNDECIDED
        from nlgauge.errors import NlgaugeError

        way = undecided or self.config.getoption("--judge-undecided") or self.config.getini("judge_gate_undecided")
        if way not in WAYS:
            pytest.fail(f"judge_gate_undecided '{way}': use {', '.join(WAYS)}.", pytrace=False)
        try:
            found = self._place(data)
            if judge is not None:
                found, options["metrics"] = judged(found, judge)
            table = gate(
                found,
                min=minimum,
                **{**options, **({"against": self._place(options["against"])} if "against" in options else {})},
            )
        except NlgaugeError as error:
            pytest.fail(str(error), pytrace=False)
        verdict = table.facts["verdict"]
        if verdict == FAILED:
            pytest.fail(str(table), pytrace=False)
        if verdict == UNDECIDED:
            if way == "fail":
                pytest.fail(f"{table}\n{LET_THROUGH}", pytrace=False)
            if way == "xfail":
                pytest.xfail(table.answers[0])
            warnings.warn(JudgeUndecided(table.answers[0]), stacklevel=2)
        return table

    def _place(self, data: Any) -> Any:
        if not isinstance(data, str | Path):
            return data
        beside = self.folder / data
        return beside if beside.exists() else data


def judged(data: Any, judge: Callable[[dict[str, Any]], Any]) -> tuple[Dataset, str]:
    """Return the data with the verdicts of a function on the labeled outputs, and the name of its column.

    The function gets a row with the columns of the file and with NLGauge's (output, source, …).
    """
    # Imported late: every run of pytest imports this module, and few use the gate.
    from nlgauge.api.questions import dataset
    from nlgauge.data.dataset import KEY
    from nlgauge.errors import DataError

    found = dataset(data)
    own = _own_names(data, found)
    name = getattr(judge, "__name__", type(judge).__name__)
    labeled = set(found.ratings.select(KEY).iter_rows())
    verdicts: list[float | None] = []
    for row in found.samples.iter_rows(named=True):
        if (row["system"], row["input"]) not in labeled:
            verdicts.append(None)
            continue
        said = judge({**row, **{ours: row[theirs] for ours, theirs in own.items()}})
        if said is not None and not isinstance(said, bool | int | float):
            raise DataError(f"{name}: a judge gives True, False, a number, or None for no verdict; found {said!r}.")
        verdicts.append(None if said is None else float(said))
    return found.with_scores({name: verdicts}), name


def _own_names(data: Any, found: Dataset) -> dict[str, str]:
    """Return the columns of a file whose names differ in the samples."""
    if not isinstance(data, str | Path):
        return {}
    # Imported late: every run of pytest imports this module, and few use the gate.
    from nlgauge.datasets.load import check

    return {row["column"]: row["role"] for row in check(data) if row.get("role") in found.samples.columns}
