"""A model's judgement is never people's: ratings and choices carry who made them, from file to page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.analyses.checklist.wins import wins
from nlgauge.analyses.judges.position import position
from nlgauge.data.card import card
from nlgauge.data.provenance import is_model
from nlgauge.data.tidy import write_tidy
from nlgauge.errors import DataError, NameUnknown


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4",
        "gpt4",
        "GPT-4o-mini",
        "chatgpt",
        "claude",
        "claude-3-opus",
        "gemini-pro",
        "llama3",
        "my-judge",
        "gpt4_annotator",
        "LLM",
        "llm judge",
        "qwen2.5-72b",
        "judge(aspect='coherence',model='m')",
        "['gpt-4', 'pair-v2']",
        "G-Eval",
        "ai judge",
    ],
)
def test_names_of_language_models_are_models(name: str) -> None:
    assert is_model(name)


@pytest.mark.parametrize(
    "name",
    [
        "ann",
        "judge 1",
        "judge_2",
        "expert-judge",
        "human judge",
        "human",
        "arena_user_99",
        "author_2",
        "Gemma",
        "Paige",
        "rater 3",
        "worker-17",
        "people vs gpt4",
        "Ai",
        "A1B2C3",
        "allman",
    ],
)
def test_other_names_are_persons(name: str) -> None:
    assert not is_model(name)


def votes(folder: Path, columns: str, *rows: str) -> Path:
    path = folder / "votes.csv"
    path.write_text("\n".join([f"input,system_a,system_b,{columns}", *rows]) + "\n")
    return path


PAIRS = [f"i{k},x,y,{'a' if k % 3 else 'b'},{'a' if k % 4 else 'tie'}" for k in range(24)]


def test_two_columns_of_winners_are_people_and_a_judge_on_one_question(tmp_path: Path) -> None:
    data = ng.load(votes(tmp_path, "human_winner,gpt4_winner", *PAIRS))
    assert data.models == {"gpt4"}
    assert data.comparisons["aspect"].unique().to_list() == ["preference"]
    assert data.voted(human=True).height == data.voted(human=False).height == 24
    said = "\n".join(card(data))
    assert "pairwise comparisons by humans: 24" in said and "pairwise comparisons by the model gpt4: 24" in said
    table = wins(data)
    assert list(dict.fromkeys(r["side"] for r in table)) == ["Human", "gpt4"]
    human = next(r for r in table if (r["side"], r["first"], r["second"]) == ("Human", "x", "y"))
    assert human["n"] == 24 and human["value"] == pytest.approx(16 / 24)
    # people choose y at every third, the judge a tie at every fourth: 12 are the same
    assert any("gpt4 agrees with the annotators in 12 of 24" in note for note in table.notes)


def test_two_systems_compared_twice_on_one_input_are_two_comparisons_and_not_four(tmp_path: Path) -> None:
    # As in arenas: one question, the same two models, other outputs. Both orders are shown.
    rows = [f"i{k % 6},{'x,y' if k % 2 else 'y,x'},a,{'a' if k % 4 else 'b'}" for k in range(24)]
    data = ng.load(votes(tmp_path, "human_winner,gpt4_winner", *rows))
    table = wins(data)
    assert any("gpt4 agrees with the annotators in 18 of 24" in note for note in table.notes)
    merged = wins(data, merge=True)
    assert {(r["side"], r["n"]) for r in merged if r["first"] != r["second"]} == {("Human", 24), ("gpt4", 24)}


def test_a_question_before_the_word_winner_is_still_a_question(tmp_path: Path) -> None:
    data = ng.load(votes(tmp_path, "coherence_winner,fluency_winner", *PAIRS))
    assert data.comparisons["aspect"].unique(maintain_order=True).to_list() == ["coherence", "fluency"]
    assert data.models == frozenset()


def test_a_judge_column_tells_models_from_persons_and_the_user_has_the_last_word(tmp_path: Path) -> None:
    rows = [f"i{k},x,y,a,{'gpt-4' if k % 2 else 'author_1'}" for k in range(10)]
    path = votes(tmp_path, "winner,judge", *rows)
    assert ng.load(path).models == {"gpt-4"}
    assert {r["rater"]: r["who"] for r in position(ng.load(path))} == {"author_1": "human", "gpt-4": "model"}
    assert ng.load(path, person_raters=["gpt-4"]).models == frozenset()
    assert ng.load(path, model_raters=["author_1"]).models == {"gpt-4", "author_1"}
    with pytest.raises(NameUnknown, match="no annotator 'gtp-4'"):
        ng.load(path, person_raters=["gtp-4"])


def test_votes_of_a_judge_alone_get_an_answer_that_says_what_is_needed(tmp_path: Path) -> None:
    data = ng.load(votes(tmp_path, "winner,judge", *[f"i{k},x,y,a,gpt-4" for k in range(10)]))
    with pytest.raises(DataError, match=r"only models judged these outputs \(gpt-4\).*human ratings"):
        data.aspect()
    table = wins(data)
    assert {r["side"] for r in table} == {"gpt-4"} and "by models only" in table.title
    assert "Only models made comparisons (gpt-4), so their agreement with humans is unknown" in table.answers[0]
    with pytest.raises(DataError, match="there are no human pairwise comparisons"):
        wins(data, source="comparisons")


def test_choices_of_unnamed_raters_say_that_nobody_is_named(tmp_path: Path) -> None:
    data = ng.load(votes(tmp_path, "winner", *["i1,x,y,a", "i2,x,y,b"]))
    assert any("pairwise comparisons by humans (assumed: no annotator is named)" in line for line in card(data))
    with pytest.raises(DataError, match=r"no ratings, only pairwise comparisons"):
        data.aspect()


def rated() -> list[dict[str, object]]:
    return [
        {
            "system": s,
            "doc": i,
            "annotator": who,
            "coherence": 1 + (i * k + n) % 5,
            "fluency": 1 + (i + k) % 5,
            "bleu": 0.1 * ((i + n) % 7),
        }
        for n, s in enumerate("ABC")
        for i in range(8)
        for k, who in enumerate(["ann", "bob", "gpt-4"])
    ]


def test_ratings_of_a_model_are_scores_and_not_people_s() -> None:
    data = ng.load(rated(), name="d")
    assert data.raters == ["ann", "bob"] and data.models == {"gpt-4"}
    assert data.metrics == ["bleu", "gpt-4:coherence", "gpt-4:fluency"]
    assert any("annotator 'gpt-4' is a model" in line and "person_raters=" in line for line in card(data))
    ours = data.scores.filter(system="B", input="3")["gpt-4:coherence"].item()
    assert ours == 1 + (3 * 2 + 1) % 5
    panel = data.panel("coherence")
    assert panel.rater_names == ("ann", "bob")
    whole = ng.load(rated(), name="d", person_raters=["gpt-4"])
    assert whole.raters == ["ann", "bob", "gpt-4"] and whole.metrics == ["bleu"]


def test_ratings_of_models_only_leave_nothing_that_is_called_people() -> None:
    data = ng.load([r for r in rated() if r["annotator"] == "gpt-4"], name="d")
    with pytest.raises(DataError, match="only models judged these outputs"):
        data.panel()
    assert not any("human ratings" in line for line in card(data))


def test_who_made_a_judgement_survives_the_tidy_file(tmp_path: Path) -> None:
    data = ng.load(votes(tmp_path, "winner,judge", "i1,x,y,a,ann", "i1,x,y,b,house-7"), model_raters=["house-7"])
    path = write_tidy(data, tmp_path / "votes.jsonl")
    assert ng.load(path).models == {"house-7"}
    header, *lines = path.read_text().splitlines()
    old = {k: v for k, v in json.loads(header).items() if k != "models"}  # a file of an earlier version
    path.write_text("\n".join([json.dumps(old), *lines]).replace("house-7", "judge(model='m')"))
    assert ng.load(path).models == {"judge(model='m')"}


def test_every_analysis_of_a_dataset_keeps_models_out_of_people() -> None:
    data = ng.load(rated(), name="d")
    table = registry.get("analysis", "agreement")(data.panel("coherence"))
    assert "gpt-4" not in str(table)


@pytest.mark.parametrize(
    ("people", "model"),
    [
        ("coherence_human", "coherence_gpt4"),
        ("human_coherence", "gpt4_coherence"),
        ("rating_human", "rating_gpt4"),
        ("human_score", "gpt4_score"),
        ("human_rating", "llm_judge_rating"),
        ("coherence (human)", "coherence (gpt-4)"),
        ("coherence", "judge"),
    ],
)
def test_a_column_of_a_model_s_ratings_is_a_metric_beside_people_s(people: str, model: str) -> None:
    rows = [
        {"system": s, "doc": i, people: 1 + (i + n) % 5, model: 1 + (i * n) % 5}
        for n, s in enumerate("ABC")
        for i in range(8)
    ]
    data = ng.load(rows, name="d")
    assert len(data.aspects) == 1 and data.metrics == [model]
    assert data.panel().human[1, 2] == 1 + (2 + 1) % 5
