"""Rankings from choices: who is told apart, what has no finite strength, place and style, people beside a judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.errors import NeedsMissing
from nlgauge.table import Row, Table

Strength = dict[str, float]


def choices(
    strength: Strength,
    n: int = 400,
    inputs: int = 100,
    place: float = 0.0,
    words: float = 0.0,
    seed: int = 0,
    column: str = "winner",
) -> list[dict[str, Any]]:
    """Rows of a file of votes; `words` is what a word more is worth."""
    rng = np.random.default_rng(seed)
    names, rows = list(strength), []
    for k in range(n):
        a, b = rng.choice(names, 2, replace=False)
        long = rng.integers(5, 40, 2)
        eta = strength[a] - strength[b] + place + words * float(long[0] - long[1])
        weights = np.array([np.exp(eta / 2), np.exp(-eta / 2), 0.5])
        won = ["model_a", "model_b", "tie"][int(rng.choice(3, p=weights / weights.sum()))]
        texts = {f"response_{s}": "word " * n for s, n in zip("ab", long, strict=True)}
        rows.append({"question_id": f"q{k % inputs}", "model_a": a, "model_b": b, column: won, **texts})
    return rows


def by(table: Table, *columns: str) -> dict[Any, Row]:
    return {tuple(r[c] for c in columns) if len(columns) > 1 else r[columns[0]]: r for r in table}


CLEAR = {"A": 2.0, "B": 0.1, "C": -0.1, "D": -2.0}


def test_tiers_part_the_systems_that_differ_and_join_those_that_do_not() -> None:
    found = by(ng.rank(choices(CLEAR, 800)), "system")
    assert [found[s]["tier"] for s in "ABCD"] == [1, 2, 2, 3]
    assert (found["B"]["rank_low"], found["B"]["rank_high"]) == (2, 3)
    for name, true in CLEAR.items():
        assert found[name]["low"] < true < found[name]["high"]
        assert found[name]["win_low"] < found[name]["win_chance"] < found[name]["win_high"]


def test_sandwich_and_bootstrap_say_nearly_the_same() -> None:
    data = ng.load(choices(CLEAR, 800))
    one, two = (by(ng.rank(data, interval=i), "system") for i in ("sandwich", "bootstrap"))
    for name in CLEAR:
        assert two[name]["low"] == pytest.approx(one[name]["low"], abs=0.12)
        assert two[name]["high"] == pytest.approx(one[name]["high"], abs=0.12)


def test_one_who_won_all_has_a_penalised_value_a_limit_and_a_reason() -> None:
    rows = choices({"B": 0.3, "C": 0.0}, 60, 60)
    rows += [
        {
            "question_id": f"z{k}",
            "model_a": "A",
            "model_b": "BC"[k % 2],
            "winner": "model_a",
            "response_a": "x y",
            "response_b": "z",
        }
        for k in range(30)
    ]
    table = ng.rank(rows)
    best = by(table, "system")["A"]
    assert best["measure"] == "penalized strength" and np.isfinite(best["value"]) and np.isnan(best["low"])
    assert best["reason"] == "won all 30 comparisons"
    assert best["win_low"] == pytest.approx(0.025 ** (1 / 30))
    assert "no finite strength (A won all 30 comparisons)" in " ".join(table.notes)
    assert "inf" not in str(table).lower().replace("infer", "")
    assert best["tier"] == 1 and by(table, "system")["B"]["tier"] == 2


def test_one_who_won_all_is_first_though_others_are_not_told_apart() -> None:
    """A strength without an upper end over its error would leave places 1 to 3 open."""
    rng = np.random.default_rng(0)
    rows = []
    for k in range(120):
        a, b = (str(s) for s in rng.choice(list("ABCDEFGH"), 2, replace=False))
        won = "model_a" if a == "A" or (b != "A" and rng.random() < 0.5) else "model_b"
        rows.append({"question_id": f"q{k}", "model_a": a, "model_b": b, "winner": won})
    table = ng.rank(rows)
    best = by(table, "system")["A"]
    assert best["losses"] == 0 and best["wins"] > 20
    assert (best["rank_low"], best["rank_high"], best["tier"]) == (1, 1, 1)
    assert "score tests" in " ".join(table.notes)


def test_groups_without_a_comparison_between_them_are_ranked_apart() -> None:
    rows = choices({"A": 0.5, "B": 0.0}, 60, 60) + choices({"C": 0.4, "D": 0.0, "E": -0.4}, 90, 60, seed=1)
    table = ng.rank(rows)
    assert {r["system"]: r["group"] for r in table} == {"C": 1, "D": 1, "E": 1, "A": 2, "B": 2}
    assert "not connected by comparisons" in " ".join(table.notes)
    people = "Human votes (assumed: no annotator is named)"
    assert [text.partition(", group")[0] for text in table.answers] == [people, people]
    assert "group" in ng.analyze("rank-effects", rows).shown


def test_few_inputs_get_no_interval_and_the_number_needed() -> None:
    table = ng.rank(choices({"A": 0.2, "B": 0.0, "C": -0.1}, 40, 9))
    assert all(np.isnan(r["low"]) and r["tier"] is None and r["reason"] == "9 inputs" for r in table)
    assert "on at least 10" in " ".join(table.notes)


def test_the_first_place_is_found_and_taken_out() -> None:
    data = ng.load(choices(CLEAR, 1500, 500, place=0.8))
    (row,) = ng.analyze("rank-effects", data)
    assert row["measure"] == "first_place" and row["low"] < 0.8 < row["high"] and row["p"] < 0.001


def test_pairs_in_one_order_leave_the_first_place_open_and_say_so() -> None:
    rows = [{**r, "model_a": "A", "model_b": "B"} for r in choices({"A": 0.5, "B": 0.0}, 80, 80)]
    table = ng.rank(rows)
    assert "shown in one order only" in " ".join(table.notes)
    with pytest.raises(NeedsMissing, match="one order only"):
        ng.analyze("rank-effects", rows)


def test_style_that_moves_the_choices_is_told_from_strength() -> None:
    """B writes longer and is no better: with length in the model it is no longer ahead."""
    rng = np.random.default_rng(5)
    rows = []
    for k in range(900):
        a, b = ("A", "B") if k % 2 else ("B", "A")
        long = [int(rng.integers(5, 40)) + 15 * (s == "B") for s in (a, b)]
        won = rng.random() < 1 / (1 + np.exp(-3.0 * (long[0] - long[1]) / (long[0] + long[1])))
        rows.append(
            {
                "question_id": f"q{k}",
                "model_a": a,
                "model_b": b,
                "winner": "model_a" if won else "model_b",
                "response_a": "w " * long[0],
                "response_b": "w " * long[1],
            }
        )
    data = ng.load(rows)
    plain, styled = (by(ng.rank(data, adjust=adjust), "system") for adjust in ("first", "style"))
    assert plain["B"]["low"] > 0
    assert styled["B"]["low"] < 0 < styled["B"]["high"]
    effects = by(ng.analyze("rank-effects", data, adjust="style"), "measure")
    assert effects["length"]["p"] < 0.001 < effects["first_place"]["p"]


def test_style_needs_texts() -> None:
    rows = [{k: v for k, v in r.items() if "response" not in k} for r in choices(CLEAR)]
    with pytest.raises(NeedsMissing, match="requires the texts"):
        ng.rank(rows, adjust="style")


def two_sides(judge: Strength) -> ng.Dataset:
    people, model = (
        choices(CLEAR, 900, 300, column="human_winner"),
        choices(judge, 900, 300, column="gpt4_winner", seed=1),
    )
    none = {"human_winner": None, "gpt4_winner": None}
    return ng.load([{**none, **r} for r in people] + [{**none, **r} for r in model])


def test_a_judge_that_turns_two_systems_round_is_named_with_the_pair() -> None:
    table = ng.analyze("rank-sides", two_sides({"A": -0.1, "B": 2.0, "C": 0.1, "D": -2.0}))
    found = by(table, "system", "other")
    assert found["A", "B"]["verdict"] == "opposite order" and found["A", "B"]["p"] < 0.001
    assert found["A", "D"]["verdict"] in ("same order", "different gap")
    assert "1 in opposite orders (A/B)" in table.answers[0]


def test_a_judge_like_people_turns_nothing_round() -> None:
    table = ng.analyze("rank-sides", two_sides(CLEAR))
    assert {r["verdict"] for r in table} <= {"same order", "not significant"}


def with_annotators(annotators: int, spread: float = 0.7, n: int = 600) -> list[dict[str, Any]]:
    """Votes on four systems by annotators to whom a system is worth more or less than to others."""
    rng = np.random.default_rng(4)
    worth, rows = rng.normal(0, spread, (annotators, 4)), []
    for k in range(n):
        who, (a, b) = int(rng.integers(annotators)), rng.choice(4, 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp(0.6 * (a - b) + worth[who, b] - worth[who, a]))
        rows.append(
            {
                "question_id": f"q{k % 150}",
                "model_a": "ABCD"[a],
                "model_b": "ABCD"[b],
                "winner": "model_a" if won else "model_b",
                "annotator": f"w{who}",
                "dataset": f"d{k % 50}",
            }
        )
    return rows


def anonymous(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "annotator"} for row in rows]


@pytest.mark.parametrize("interval", ["sandwich", "bootstrap"])
def test_known_annotators_widen_intervals_and_leave_strengths_as_they_are(interval: str) -> None:
    rows = with_annotators(6)
    known, unknown = (ng.rank(r, interval=interval) for r in (rows, anonymous(rows)))
    for name, row in by(known, "system").items():
        other = by(unknown, "system")[name]
        assert row["value"] == other["value"]
        assert row["high"] - row["low"] > 1.5 * (other["high"] - other["low"])
        assert row["win_high"] - row["win_low"] > 1.3 * (other["win_high"] - other["win_low"])
    assert "annotator" in known.method and "annotator" not in unknown.method
    assert not any("nnotator" in text for text in [*known.notes, *known.answers[1:]])


def test_unknown_annotators_are_assumed_to_be_many_and_a_note_says_so() -> None:
    rows = with_annotators(6)
    label = [{**row, "annotator": "human"} for row in rows]  # what somebody is, not who
    for table in (ng.rank(anonymous(rows)), ng.rank(label), ng.analyze("rank-effects", label)):
        assert sum(note.startswith("Annotator IDs are unknown") for note in table.notes) == 1
        assert "assumed to be independent" in " ".join(table.notes)


def test_votes_without_an_annotator_among_others_are_counted() -> None:
    rows = with_annotators(6)
    rows = [{**row, "annotator": None if k < 30 else row["annotator"]} for k, row in enumerate(rows)]
    table = ng.rank(rows)
    assert "30 of 600 human votes have no annotator ID" in " ".join(table.notes)
    assert "annotator" in table.method


def test_a_group_of_systems_whose_votes_lack_annotators_has_no_sentence_about_them() -> None:
    rows = with_annotators(6)
    apart = {"model_a": str.lower, "model_b": str.lower, "question_id": str.upper}
    other = [{name: apart.get(name, str)(value) for name, value in row.items()} for row in anonymous(rows)]
    table = ng.rank([*rows, *({**row, "annotator": None} for row in other)])
    assert {r["group"] for r in table} == {1, 2}
    assert not any("these annotators only" in text for text in table.answers)
    assert "600 of 1,200 human votes have no annotator ID" in " ".join(table.notes)


def test_few_annotators_speak_for_themselves_only() -> None:
    rows = with_annotators(3)
    table, alone = ng.rank(rows), ng.rank(anonymous(rows))
    assert [(r["low"], r["tier"]) for r in table] == [(r["low"], r["tier"]) for r in alone]
    assert table.answers[-1] == (
        "With 3 annotators (at least 4 are required), human results hold for these annotators only and do not generalize "
        "to other annotators."
    )
    assert not any("IDs are unknown" in note for note in table.notes)


def test_many_annotators_of_whom_one_cast_most_votes_are_few() -> None:
    rows = [{**row, "annotator": "w0" if k % 4 else row["annotator"]} for k, row in enumerate(with_annotators(12))]
    assert "12 annotators whose votes are so uneven" in ng.rank(rows).answers[-1]


def test_a_named_cluster_and_annotators_are_taken_together() -> None:
    data = ng.load(with_annotators(12))
    one, two = ng.rank(data), ng.rank(data.clustered("dataset"))
    assert "clustered by dataset and, for human votes, by annotator" in two.method
    assert [r["value"] for r in two] == [r["value"] for r in one]
    assert [r["low"] for r in two] != [r["low"] for r in one]


def test_a_difference_to_a_judge_counts_what_annotators_differ_by() -> None:
    rows = with_annotators(6)
    judged = [{**row, "gpt4_winner": row["winner"], "human_winner": row.pop("winner")} for row in rows]
    judged = [{**row, "gpt4_winner": "model_a" if k % 3 else row["gpt4_winner"]} for k, row in enumerate(judged)]
    one, two = (by(ng.analyze("rank-sides", r), "system", "other") for r in (judged, anonymous(judged)))
    for pair, row in one.items():
        assert row["value"] == two[pair]["value"]
        assert row["high"] - row["low"] > 1.5 * (two[pair]["high"] - two[pair]["low"])


def test_metrics_choose_the_higher_score_where_they_are_asked_for() -> None:
    data = ng.load(choices(CLEAR, 400, 400))
    length = data.samples["output"].str.len_chars().cast(float)
    found = ng.rank(data.with_scores({"length": length.to_list()}), metrics="length")
    assert {r["side"] for r in found} == {"Human", "length"}


def test_without_choices_the_line_says_what_is_needed() -> None:
    with pytest.raises(NeedsMissing, match="there are no pairwise comparisons"):
        ng.rank(ng.example())
