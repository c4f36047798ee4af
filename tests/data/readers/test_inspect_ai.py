"""Inspect AI logs, as inspect_ai itself wrote them (tests/data/writers)."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from nlgauge.data.readers._archives import read_entries
from nlgauge.data.readers.logs.inspect_ai import SAMPLE

SCORES = ["includes", "model_graded_qa", "rubric.length", "rubric.polite"]


def repacked(source: Path, target: Path, change: Callable[[str, bytes], bytes | None] = lambda name, raw: raw) -> Path:
    """The entries of an .eval file in a new one, packed as Inspect did before it used zstd."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in read_entries(source, "header.json", SAMPLE):
            if (now := change(name, raw)) is not None:
                archive.writestr(name, now)
    return target


def test_grades_are_numbers_and_every_scorer_is_read(samples: Path) -> None:
    data = ng.load(samples / "inspect.eval")
    assert data.systems == ["mockllm/model"]
    assert data.metrics == SCORES
    by_input = {row["input"]: row for row in data.scores.iter_rows(named=True)}
    assert [by_input[i]["model_graded_qa"] for i in ("France", "Italy", "Spain", "Japan")] == [1, 0.5, 0, 1]
    assert [by_input[i]["includes"] for i in ("Italy", "Italy #2")] == [1, 0]
    assert by_input["Italy"]["rubric.length"] == len("Rome, I think.")
    sample = data.samples.filter(input="Italy").row(0, named=True)
    assert (sample["output"], sample["source"]) == ("Rome, I think.", "What is the capital of Italy?")
    assert (sample["references"], sample["task"], sample["epoch"]) == (["Rome"], "capitals", 1)


def test_precomputed_scores_of_people_are_ratings(samples: Path) -> None:
    data = ng.load(samples / "inspect.eval")
    rated = dict(data.ratings.select("input", "value").iter_rows())
    assert data.aspects == ["human_grade"]
    assert rated == {"France": 1, "Italy": 0.5, "Spain": 0, "France #2": 1, "Italy #2": 0}


def test_precomputed_scores_are_nobodys_ratings_until_declared(samples: Path) -> None:
    path = samples.parent / "no_humans" / "inspect_precomputed.eval"
    data = ng.load(path)
    assert (data.aspects, data.metrics) == ([], ["model_graded_qa", "precomputed_scores"])
    note = "Scores from an unknown source in this Inspect AI log: 'precomputed_scores' (change with human=)"
    assert note in data.notes
    assert ng.load(path, human="precomputed_scores").aspects == ["precomputed_scores"]


def test_a_chunked_log_is_read_as_any_other(samples: Path) -> None:
    """`inspect log convert-chunked` makes a folder of every sample, with its messages and events in entries."""
    whole, chunked = (ng.load(samples.parent / "no_humans" / f"inspect{kind}.eval") for kind in ("", "_chunked"))
    assert len(chunked) == 3
    assert chunked.samples.equals(whole.samples.head(3))
    assert chunked.scores.equals(whole.scores.head(3))


def test_the_notes_say_whose_judgements_they_are(samples: Path) -> None:
    data = ng.load(samples / "inspect.eval")
    assert (
        "Model judgments in this Inspect AI log: 'model_graded_qa' (mockllm/judge) (change with human=)" in data.notes
    )
    assert "values of 'model_graded_qa', 'human_grade': c = 1, p = 0.5, i = 0" in data.notes
    assert data.signatures == {"model_graded_qa": "Inspect AI|model:mockllm/judge"}


def test_an_output_without_a_grade_has_the_judges_reason(samples: Path) -> None:
    data = ng.load(samples / "inspect.eval")
    assert data.failures.rows() == [
        ("mockllm/model", "Japan #2", "model_graded_qa", "Grade not found in model output: GRADE: no grade")
    ]


def test_epochs_are_kept_or_averaged_and_it_is_said(samples: Path) -> None:
    kept = ng.load(samples / "inspect.eval")
    mean = ng.load(samples / "inspect.eval", repeats="mean")
    assert (len(kept), len(mean)) == (8, 4)
    assert any(n.startswith("4 inputs × 2 trials: the trials of one input") for n in kept.notes)
    assert any("4 further outputs" in n and "are averaged" in n for n in mean.notes)
    scores = dict(mean.scores.select("input", "includes").iter_rows())
    assert scores == {"France": 1, "Italy": 0.5, "Spain": 0.5, "Japan": 0.5}
    assert mean.ratings.filter(input="Italy")["value"].to_list() == [0.25]


def test_json_says_the_same_as_eval(samples: Path) -> None:
    data, packed = ng.load(samples / "inspect.json"), ng.load(samples / "inspect.eval")
    assert data.inputs == ["France", "Italy"]
    theirs = packed.scores.filter(input="France")
    assert data.scores.filter(input="France").rows() == theirs.rows()
    assert data.metrics == SCORES
    assert data.ratings["value"].to_list() == [1, 0.5]


@pytest.mark.parametrize("name", ["inspect_0.3.60.eval", "inspect_0.3.60.json"])
def test_logs_of_an_older_version_are_read(samples: Path, name: str) -> None:
    data = ng.load(samples / name)
    assert data.metrics == SCORES
    assert data.scores.filter(input="France").row(0)[2:] == (1, 1, 6, 1)
    assert set(data.ratings["value"]) == {1}


def test_a_folder_of_logs_is_read(samples: Path, tmp_path: Path) -> None:
    def other_model(name: str, raw: bytes) -> bytes:
        return raw.replace(b'"model":"mockllm/model"', b'"model":"mockllm/other"').replace(
            b'"model": "mockllm/model"', b'"model": "mockllm/other"'
        )

    shutil.copy(samples / "inspect.eval", tmp_path / "one.eval")
    repacked(samples / "inspect.eval", tmp_path / "two.eval", other_model)
    both = ng.load(tmp_path)
    assert both.systems == ["mockllm/model", "mockllm/other"]
    assert len(both.inputs) == 8


def test_the_user_says_whose_a_judgement_is(samples: Path, refused: Callable[..., str]) -> None:
    data = ng.load(samples / "inspect.eval", human="includes", metrics=["human_grade"])
    assert data.aspects == ["includes"]
    assert "human_grade" in data.metrics
    message = refused(samples / "inspect.eval", human="include")
    assert "no judgment 'include' in this log. Did you mean 'includes'?" in message


def test_words_are_worth_what_the_user_says(samples: Path) -> None:
    data = ng.load(samples / "inspect.eval", values="P=0.8")
    assert data.ratings.filter(input="Italy")["value"].to_list() == [0.8]


def changed(key: str, value: Any) -> Callable[[Any], Any]:
    def change(log: dict[str, Any]) -> dict[str, Any]:
        return {**log, key: value}

    return change


def test_samples_with_errors_are_left_out_and_counted(edited: Callable[..., Path]) -> None:
    def fail(log: dict[str, Any]) -> dict[str, Any]:
        log["samples"][0]["error"] = {"message": "timed out"}
        return log

    data = ng.load(edited("inspect.json", fail))
    assert data.inputs == ["Italy"]
    assert "not read: 1 samples that ended in an error" in data.notes


def test_the_scorers_own_value_is_read_where_a_score_was_edited(edited: Callable[..., Path]) -> None:
    def edit(log: dict[str, Any]) -> dict[str, Any]:
        score = log["samples"][0]["scores"]["includes"]
        score["history"] = [{"value": score["value"]}, {"value": "I", "provenance": {"author": "ann"}}]
        score["value"] = "I"
        return log

    data = ng.load(edited("inspect.json", edit))
    assert data.scores["includes"].to_list() == [1, 1]
    assert "1 scores were edited after the run; the scorer's original value is read" in data.notes


def test_what_is_not_understood_is_refused(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    assert "Inspect log of version 1; expected version 2" in refused(edited("inspect.json", changed("version", 1)))
    assert "no readable outputs" in refused(edited("inspect.json", changed("samples", [])))
    assert "key 'samples': found a number (3), expected a list." in refused(
        edited("inspect.json", changed("samples", 3))
    )


def test_a_run_that_did_not_finish_is_read_as_far_as_it_went(
    edited: Callable[..., Path], samples: Path, tmp_path: Path
) -> None:
    data = ng.load(edited("inspect.json", changed("status", "cancelled")))
    assert "inspect.json: run status 'cancelled'; outputs may be missing" in data.notes
    killed = tmp_path / "killed.eval"  # the header is written last; the journal has what is known at the start
    with zipfile.ZipFile(killed, "w") as archive:
        for name, raw in read_entries(samples / "inspect.eval", "_journal/start.json", SAMPLE):
            if "Japan" not in name:
                archive.writestr(name, raw)
    data = ng.load(killed)
    assert len(data) == 6
    assert "killed.eval: run status 'started'; outputs may be missing" in data.notes


def test_a_bomb_a_cut_file_and_a_changed_byte_are_refused(
    samples: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    bomb = repacked(
        samples / "inspect.eval",
        tmp_path / "bomb.eval",
        lambda name, raw: raw if name == "header.json" else b'{"id": "' + b"0" * (12 << 20) + b'"}',
    )
    assert "refused as a decompression bomb" in refused(bomb)
    raw = (samples / "inspect.eval").read_bytes()
    cut = tmp_path / "cut.eval"
    cut.write_bytes(raw[:9000])
    assert "the zip file is damaged" in refused(cut, reader="inspect-ai")
    at = raw.index(b"samples/France_epoch_1.json") + 400
    torn = tmp_path / "torn.eval"
    torn.write_bytes(raw[:at] + bytes([raw[at] ^ 255]) + raw[at + 1 :])
    assert "the zip file is damaged" in refused(torn)


def test_a_large_log_is_still_known_by_its_beginning(edited: Callable[..., Path]) -> None:
    def grow(log: dict[str, Any]) -> dict[str, Any]:
        log["samples"][0]["store"] = {"x": "y" * (1 << 19)}
        return log

    path = edited("inspect.json", grow)
    assert path.stat().st_size > 1 << 19
    assert ng.load(path).metrics == SCORES
    assert json.loads(path.read_text())["version"] == 2
