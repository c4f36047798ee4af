"""What an output is held against: the right text, by the catalogue, by name or as the user says, and said beside the
score.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import nlgauge as ng
from nlgauge.cli import build
from nlgauge.datasets import load_set
from nlgauge.errors import NeedsMissing
from nlgauge.metrics import metric_from_spec
from nlgauge.scoring.plan import check_needs, there
from nlgauge.scoring.score import run

DIALOGUE = [
    "fed",
    "follow-up",
    "unieval(task='dialogue',aspect='overall')",
    "unieval(task='dialogue',aspect='groundedness')",
    "ctc(aspect='groundedness')",
    "ctc(aspect='engagingness')",
    "usr-mlm",
    "usr-dr(x='c')",
    "usr-dr(x='f')",
]


@pytest.mark.real
@pytest.mark.parametrize(
    "name", ["usr-persona", "usr-topical", "checklist-usr-pc", "checklist-usr-tc", "checklist-unieval-tc"]
)
def test_dialogue_sets_give_the_history_as_source_and_the_fact_as_context(real_data: Path, name: str) -> None:
    data = load_set(name, real_data)
    row = data.samples.row(0, named=True)
    assert "\n" in row["source"]  # turns
    assert "your persona" in row["context"] if name.endswith(("persona", "pc")) else len(row["context"]) > 50
    assert "fact" not in data.samples.columns
    check_needs(data, [metric_from_spec(spec) for spec in DIALOGUE])


ROWS = [
    {
        "system": s,
        "id": i,
        "context": f"hello {i}\nhow are you {i}",
        "fact": f"it rains in town {i}",
        "response": f"rain, says {s} {i}",
    }
    for s in "AB"
    for i in range(3)
]


def test_a_context_beside_a_fact_is_the_dialogue_and_it_is_said() -> None:
    data = ng.load(ROWS, name="d")
    row = data.samples.row(0, named=True)
    assert (row["source"], row["context"]) == ("hello 0\nhow are you 0", "it rains in town 0")
    assert any(
        "'context' is read as the dialogue history" in note and "context='context'" in note for note in data.notes
    )
    other = ng.load(ROWS, name="d", source="fact", context="context").samples.row(0, named=True)
    assert (other["source"], other["context"]) == ("it rains in town 0", "hello 0\nhow are you 0")


def test_a_history_is_the_source_and_a_context_alone_stays_one() -> None:
    rows = [{"history" if k == "context" else k: v for k, v in row.items()} for row in ROWS]
    row = ng.load(rows, name="d").samples.row(0, named=True)
    assert (row["source"], row["context"]) == ("hello 0\nhow are you 0", "it rains in town 0")
    alone = [{k: v for k, v in row.items() if k != "fact"} for row in ROWS]
    assert ng.load(alone, name="d").samples.columns == ["system", "input", "output", "context"]


def test_a_missing_or_empty_field_is_named_with_its_option() -> None:
    empty = [{**row, "fact": " "} for row in ROWS]
    data = ng.load(empty, name="d", source="context", context="fact")
    assert there(data) == {"output", "source"}
    with pytest.raises(NeedsMissing, match=r"needs contexts, .* context= says which column holds them"):
        check_needs(data, [metric_from_spec("ctc(aspect='groundedness')")])


@pytest.mark.parametrize("batch", [[], ["--batch", "2"]])
def test_score_takes_the_columns_that_the_user_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "store.sqlite"))
    rows = [{"system": "A", "id": i, "said": "a b c", "paper": "a b c d", "golden": "a b x"} for i in range(3)]
    pl.DataFrame(rows).write_csv("odd.csv")
    words = [
        "--columns",
        "output=said,source=paper,references=golden",
        "-m",
        "coverage,token-f1",
        "-o",
        "out.csv",
        "-f",
        "json",
    ]
    ran = CliRunner().invoke(build("score"), ["score", "odd.csv", *words, *batch])
    assert ran.exit_code == 0, ran.output
    assert '"against": "source"' in ran.stdout and '"against": "references"' in ran.stdout
    found = pl.read_csv("out.csv")
    assert found["metric.coverage"].to_list() == [1.0] * 3
    assert found["metric.token-f1"].to_list() == pytest.approx([2 / 3] * 3, abs=0.2)


def test_the_table_of_scores_says_what_each_metric_looked_at() -> None:
    table = run(ng.example(), ["len", "rouge-l"]).table
    assert {r["metric"]: r["against"] for r in table} == {"len": "–", "rouge-l": "references"}
