"""Pairwise votes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nlgauge as ng


def test_votes_are_comparisons_in_the_order_shown(samples: Path) -> None:
    data = ng.load(samples / "pairwise.csv")
    found = data.comparisons.filter(aspect="preference").drop("aspect").rows()
    assert found == [
        ("p1", "PPLM", "GPT2", "w1", "first"),
        ("p1", "GPT2", "PPLM", "w2", "second"),
        ("p2", "PPLM", "GPT2", "w1", "tie"),
        ("p2", "PPLM", "CTRL", "w3", "tie"),
    ]
    assert data.comparisons.filter(aspect="fluency")["preferred"].to_list() == [
        "tie",
        "first",
        "second",
        "second",
        "first",
    ]
    assert data.persons


def test_what_is_lost_or_left_out_is_said(samples: Path) -> None:
    assert ng.load(samples / "pairwise.csv").notes == (
        "1 votes 'neither' are read as ties",
        "1 rows without a vote were left out",
        "1 votes 'both' are read as ties",
    )


def test_outputs_and_prompts_are_samples(samples: Path) -> None:
    data = ng.load(samples / "pairwise.csv")
    assert data.samples.filter(system="GPT2", input="p1").row(0, named=True) == {
        "system": "GPT2",
        "input": "p1",
        "output": "It is a lake.",
        "source": "The lake, said she",
    }


def test_conversations_of_the_arena_are_read(samples: Path) -> None:
    data = ng.load(samples / "arena.jsonl")
    assert data.comparisons.select("input", "first", "second", "rater", "preferred").rows() == [
        ("81 turn 1", "llama", "vicuna", "expert_1", "first"),
        ("81 turn 2", "llama", "vicuna", "expert_1", "second"),
        ("82 turn 1", "vicuna", "alpaca", "expert_2", "tie"),
    ]
    row = data.samples.row(0, named=True)
    assert (row["output"], row["source"], row["language"]) == ("Old pond", "Write a haiku", "English")


VOTES = [
    ("a", "first"), ("B", "second"), ("Tie", "tie"), ("both", "tie"), ("neither", "tie"), ("1", "first"),
    ("2", "second"), ("0", "tie"), ("left", "first"), ("Right", "second"), ("model_a", "first"),
    ("model_b", "second"), ("tie (bothbad)", "tie"), ("A is better", "first"), ("System 2", "second"),
    ("GPT2", "second"), ("PPLM", "first"),
]  # fmt: skip


@pytest.mark.parametrize(("vote", "meaning"), VOTES)
def test_every_usual_vote_is_understood(tmp_path: Path, vote: str, meaning: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"id,system_a,system_b,vote\n1,PPLM,GPT2,{vote}\n2,PPLM,GPT2,2\n")
    assert ng.load(path).comparisons["preferred"].to_list() == [meaning, "second"]


@pytest.mark.parametrize(
    "names", ["model1,model2,choice", "Left System,Right System,Preferred", "system_A,system_B,Winner"]
)
def test_usual_column_names_are_found(tmp_path: Path, names: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"doc_id,{names}\nd,X,Y,1\n")
    assert ng.load(path).comparisons.rows() == [("d", "X", "Y", "preference", None, "first")]


def test_one_column_per_outcome_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "kaggle.csv"
    path.write_text(
        "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
        "7,X,Y,p,a,b,0,1,0\n8,X,Y,q,c,d,0,0,1\n9,X,Y,q,c,d,0,0,0\n"
    )
    data = ng.load(path)
    assert data.comparisons["preferred"].to_list() == ["second", "tie"]
    assert data.notes == ("1 rows without a vote were left out",)


def test_parquet_is_recognized_too(samples: Path, tmp_path: Path) -> None:
    pl.read_csv(samples / "pairwise.csv").write_parquet(tmp_path / "p.parquet")
    assert ng.load(tmp_path / "p.parquet").comparisons.equals(ng.load(samples / "pairwise.csv").comparisons)


def test_zero_and_one_alone_are_not_guessed(tmp_path: Path, refused: Callable[..., str]) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("id,system_a,system_b,choice\n1,X,Y,0\n2,X,Y,1\n")
    assert refused(path) == (
        "votes.csv, column 'choice': has only 0 and 1, which is ambiguous; declare the meaning with "
        "reader=\"pairwise(votes='0=first,1=second')\"."
    )
    assert ng.load(path, votes="0=first,1=second").comparisons["preferred"].to_list() == ["first", "second"]


def test_a_name_that_reads_as_the_other_side_is_not_guessed(tmp_path: Path, refused: Callable[..., str]) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("id,system_a,system_b,winner\n1,B,A,B\n")
    assert "'B' names the first system but reads as the second side" in refused(path)


def test_a_strange_vote_is_named(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    path = edited("pairwise.csv", lambda text: text.replace("neither", "dunno"))
    assert refused(path).startswith("pairwise.csv, line 4, column 'winner': found a text ('dunno'), expected a, b, tie")
    assert ng.load(path, votes="dunno=tie").comparisons.height == 9


def test_a_named_reader_says_what_it_misses(samples: Path, refused: Callable[..., str]) -> None:
    message = refused(samples / "plain.csv", reader="pairwise")
    assert "expected columns such as system_a, system_b and winner. Columns: system, doc_id" in message


def test_votes_that_are_all_empty_are_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("id,system_a,system_b,winner\n1,A,B,\n")
    assert "no row has a preference" in refused(path, reader="pairwise")


def test_another_output_for_the_same_input_is_another_occurrence(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("id,model_a,model_b,text_a,text_b,winner\n1,X,Y,a,b,A\n1,X,Y,a,other,B\n1,X,Y,a,b,tie\n")
    data = ng.load(path)
    assert data.comparisons["input"].to_list() == ["1", "1 #2", "1"]
    assert len(data) == 4


def test_outputs_without_systems_are_named_by_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("id,output_a,output_b,vote\n1,x,y,a\n")
    data = ng.load(path)
    assert data.comparisons.rows() == [("1", "output_a", "output_b", "preference", None, "first")]
    assert "they are named output_a and output_b" in data.notes[0]


def test_a_blank_line_does_not_shift_the_line_numbers(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    path = edited("pairwise.csv", lambda text: text.replace("\np2", "\n\np2", 1).replace("both", "dunno"))
    assert "pairwise.csv, line 7, column 'winner': found a text ('dunno')" in refused(path)
    assert ng.load(path, votes="dunno=tie").comparisons.height == 9


def test_a_system_with_the_name_of_a_side_is_no_doubt_where_votes_name_sides(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("id,model_a,model_b,winner\n1,B,BC,A\n2,BC,B,B\n3,B,BC,B\n")
    assert ng.load(path).comparisons["preferred"].to_list() == ["first", "second", "second"]


PAIRS = [  # layouts of published sets and of forms
    ({"input": "p", "output_1": "x", "output_2": "y", "label": 2}, "output_2"),
    ({"prompt": "p", "response_0": "x", "response_1": "y", "better_response_id": 1}, "response_1"),
    ({"prompt": "p", "response_0": "x", "response_1": "y", "better_response_id": 0}, "response_0"),
    ({"id": 1, "summaries": [{"text": "x", "policy": "sup"}, {"text": "y", "policy": "ppo"}], "choice": 1}, "ppo"),
    ({"prompt": "p", "left": "GPT2", "right": "PPLM", "preferred": "PPLM"}, "PPLM"),
    ({"prompt": "p", "left": "one answer. " * 9, "right": "another answer. " * 9, "preferred": "left"}, "output_left"),
]


@pytest.mark.parametrize(("row", "preferred"), PAIRS)
def test_pairs_of_other_layouts_are_votes(tmp_path: Path, row: dict[str, Any], preferred: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    for data in (ng.load(path), ng.load([row])):
        (vote,) = data.comparisons.iter_rows(named=True)
        assert vote[vote["preferred"]] == preferred and vote["aspect"] == "preference"


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_what_the_user_says_of_0_and_1_holds_in_every_kind_of_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"votes.{suffix}"
    rows = [{"id": i, "system_a": "X", "system_b": "Y", "label": vote} for i, vote in enumerate((0, 1, 0.5))]
    frame = pl.DataFrame(rows, strict=False)
    path.write_text(frame.write_csv() if suffix == "csv" else frame.write_ndjson())
    data = ng.load(path, votes="0=second,0.5=tie,1=first")
    assert data.comparisons["preferred"].to_list() == ["second", "first", "tie"]


def test_two_systems_in_a_row_without_a_vote_are_refused_with_what_is_missing(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("id,model_a,model_b,result\n1,X,Y,X\n2,X,Y,Y\n")
    assert "two systems per row ('model_a', 'model_b'), but no column with the preference" in refused(path)
