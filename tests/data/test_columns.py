"""Columns get the role that people mean, or a line says what was made of them and how to correct it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nlgauge as ng
from nlgauge.data.card import card
from nlgauge.data.dataset import Dataset
from nlgauge.datasets.load import check
from nlgauge.errors import DataError

SYSTEMS, INPUTS = ("t5", "bart", "gpt-x"), 6
Cell = Callable[[int, int], Any]


def whole(s: int, i: int) -> int:
    return (3 * s + 2 * i + s * i) % 5 + 1


def other(s: int, i: int) -> int:
    return (2 * s + 3 * i) % 5 + 1


def real(s: int, i: int) -> float:
    return (s * 7 + i * 3) % 11 / 13


def rows(system: str | None = "system", given: str | None = "doc_id", **columns: Cell) -> list[dict[str, Any]]:
    """One row an output; a keyword's `__` stands for a blank."""
    return [
        ({system: name} if system else {})
        | ({given: f"d{i}"} if given else {})
        | {c.replace("__", " "): make(s, i) for c, make in columns.items()}
        for s, name in enumerate(SYSTEMS)
        for i in range(INPUTS)
    ]


def said(data: Dataset, *words: str) -> bool:
    return any(all(word in note for word in words) for note in data.notes)


# --- the system and the input ---


@pytest.mark.parametrize(
    "name",
    [
        "llm",
        "LLM Name",
        "llm_name",
        "Model",
        "MODEL NAME",
        "variant",
        "Engine",
        "candidate",
        "run",
        "agent",
        "assistant",
        "Bot",
        "checkpoint",
        "method",
        "System (anonymised)",
    ],
)
def test_systems_are_found_under_many_names(name: str) -> None:
    data = ng.load(rows(name, coherence=whole, bleu=real))
    assert data.systems == list(SYSTEMS)
    assert len(data.inputs) == INPUTS
    assert name.lower() in ("model",) or said(data, f"system = '{name}'")


def test_a_candidate_is_a_system_when_it_is_a_name_and_an_output_when_it_is_a_text() -> None:
    texts = rows("system", coherence=whole, bleu=real, candidate=lambda s, i: f"Text {i} of system {s}.")
    assert ng.load(texts).samples["output"][0] == "Text 0 of system 0."
    assert ng.load(rows("candidate", coherence=whole, bleu=real)).systems == list(SYSTEMS)


@pytest.mark.parametrize("with_output", [False, True])
def test_an_unknown_system_column_is_asked_for_and_no_advice_changes_the_answer(with_output: bool) -> None:
    more: dict[str, Cell] = {"output": lambda s, i: f"{s} says {i}"} if with_output else {}
    source = rows("origin", coherence=whole, bleu=real, flag=lambda s, i: "x", **more)
    with pytest.raises(DataError, match=r"no system column found.*if it is 'origin': system='origin'\.") as error:
        ng.load(source)
    assert "mean" not in str(error.value)
    assert ng.load(source, system="origin").systems == list(SYSTEMS)


def test_the_system_column_is_asked_for_also_of_two_rows() -> None:
    with pytest.raises(DataError, match=r"if it is 'origin': system='origin'"):
        ng.load([{"origin": o, "doc": "d1", "coherence": c, "bleu": b} for o, c, b in [("A", 4, 0.3), ("B", 2, 0.1)]])


def test_one_system_without_a_column_is_said_and_a_likely_column_named() -> None:
    source = rows("origin", None, coherence=whole, bleu=real)
    assert said(
        ng.load(source), "no system column: all rows are one system", "if 'origin' is the system: system='origin'"
    )


def test_raters_of_one_system_are_no_repeats() -> None:
    source = [{"input": i, "rater": r, "coherence": whole(r, i), "bleu": i / 7} for i in range(4) for r in range(2)]
    assert ng.load(source).panel().human.shape == (1, 4)


def test_a_number_of_the_row_is_not_taken_for_the_input() -> None:
    numbered = rows(given=None, id=lambda s, i: 10 * s + i, prompt=lambda s, i: f"p{i}", coherence=whole, bleu=real)
    data = ng.load(numbered)
    assert len(data.inputs) == INPUTS
    assert said(data, "'id' numbers the rows, so 'prompt' is used as the input", "input='id'")
    (row,) = [r for r in check(numbered) if r["column"] == "id"]
    assert (row["why"], row["correction"]) == ("numbers the rows", "input='id'")
    both = rows(given=None, id=lambda s, i: 10 * s + i, i=lambda s, i: f"p{i}", coherence=whole, bleu=real)
    assert len(ng.load(both).inputs) == INPUTS


def test_systems_that_share_no_input_are_said_with_the_likely_column() -> None:
    data = ng.load(rows(given=None, id=lambda s, i: 10 * s + i, theme=lambda s, i: f"p{i}", coherence=whole, bleu=real))
    assert said(data, "no two systems share an input", "input='theme'")


def test_a_missing_input_column_is_asked_for_by_name() -> None:
    with pytest.raises(DataError, match=r"if it is 'theme': input='theme'"):
        ng.load(rows(given=None, theme=lambda s, i: f"p{i}", coherence=whole, bleu=real))


# --- words and commas ---


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("pass", "fail"),
        ("Yes", "No"),
        ("true", "false"),
        ("GOOD", "bad"),
        (True, False),
        ("correct", "wrong"),
        ("y", "n"),
    ],
)
def test_two_words_are_one_and_nought_and_said(good: Any, bad: Any) -> None:
    data = ng.load(rows(fluency=lambda s, i: good if whole(s, i) > 2 else bad, bleu=real))
    expected = [[float(whole(s, i) > 2) for i in range(INPUTS)] for s in range(3)]
    np.testing.assert_array_equal(data.panel("fluency").human, expected)
    assert said(data, f"{str(good).lower()} = 1, {str(bad).lower()} = 0", "'fluency'")


def test_pass_and_fail_may_be_scores() -> None:
    data = ng.load(rows(coherence=whole, tests=lambda s, i: "pass" if i % 2 else "fail"))
    assert data.metrics == ["tests"]
    assert data.scores["tests"].to_list()[:2] == [0.0, 1.0]


def test_yes_and_no_of_nothing_known_are_not_used_and_said() -> None:
    data = ng.load(rows(coherence=whole, bleu=real, flagged=lambda s, i: "yes" if i % 2 else "no"))
    assert data.metrics == ["bleu"]
    assert said(data, "not used: 'flagged'", "metrics='+flagged'")
    assert ng.load(rows(coherence=whole, flagged=lambda s, i: i % 2 == 1), metrics="flagged").metrics == ["flagged"]


def test_words_of_unknown_worth_are_refused_with_the_words_found() -> None:
    source = rows(coherence=lambda s, i: ("nice", "meh", "ugh")[whole(s, i) % 3], bleu=real)
    with pytest.raises(DataError, match=r"column 'coherence': found the labels .*expected numbers.*values=.*'nice': …"):
        ng.load(source, human="coherence")
    assert said(ng.load(source), "not used: 'coherence'", "values=", "'nice': ")
    with pytest.raises(DataError, match=r"no human ratings found.*'coherence' \(labels; map them.*values="):
        ng.load(source).panel()
    data = ng.load(source, values={"nice": 3, "meh": 2, "ugh": 1})
    assert set(data.ratings["value"]) == {1.0, 2.0, 3.0}
    assert said(data, "nice = 3, meh = 2, ugh = 1")


def test_whole_numbers_without_a_name_for_ratings_are_offered() -> None:
    with pytest.raises(
        DataError,
        match=r"if 'Ann', 'Bob' are human: human=\['Ann', 'Bob'\] \(as annotators.*human={'rating': \['Ann', 'Bob'\]}\)",
    ):
        ng.load(rows(Ann=whole, Bob=other, bleu=real)).panel()
    data = ng.load(rows(Ann=whole, Bob=other, bleu=real), columns="human.rating=Ann+Bob")
    assert (data.aspects, data.raters, data.metrics) == (["rating"], ["Ann", "Bob"], ["bleu"])


def test_systems_in_the_names_of_columns_are_said() -> None:
    source = [
        {
            "doc": i,
            "t5_coherence": whole(0, i),
            "bart_coherence": whole(1, i),
            "t5_bleu": real(0, i),
            "bart_bleu": real(1, i),
        }
        for i in range(INPUTS)
    ]
    with pytest.raises(DataError, match=r"'t5_coherence'.*look like one column per system; write one row per output"):
        ng.load(source).panel()


def test_a_metric_that_is_called_like_an_aspect_is_said() -> None:
    assert said(ng.load(rows(fluency=whole, toxicity=real)), "'toxicity' is not read as human", "human='+toxicity'")
    assert said(
        ng.load(rows(fluency=whole, toxicity=whole)), "'toxicity' is read as human ratings", "metrics='+toxicity'"
    )


def test_questions_of_a_form_are_understood() -> None:
    source = [
        {
            "Timestamp": f"2024/05/01 10:0{k}",
            "Email Address": who,
            "Which system wrote this?": s,
            "Text ID": f"t{i}",
            "How fluent is it? (1 = bad, 5 = good)": (whole if k else other)(n, i),
        }
        for k, who in enumerate(["a@x.org", "b@x.org"])
        for n, s in enumerate(SYSTEMS)
        for i in range(INPUTS)
    ]
    data = ng.load(source)
    assert (data.systems, len(data.inputs), data.raters) == (list(SYSTEMS), INPUTS, ["a@x.org", "b@x.org"])
    assert data.aspects == ["How fluent is it?"]


def test_raters_without_an_input_column_are_not_each_an_input() -> None:
    source = [{"rater": r, "piece": f"p{i}", "coherence": whole(r, i)} for r in range(2) for i in range(4)]
    with pytest.raises(DataError, match=r"several annotators; if it is 'piece': input='piece'"):
        ng.load(source)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,q1,4,0.25\nb,q1,3,0.5\n", "'0.25' is not a column name"),
        ("a.jpg\tb.jpg\t3\t3\nc.jpg\td.jpg\t1\t2\n", "'3' is not a column name"),
    ],
)
def test_a_table_without_a_header_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (path := tmp_path / "x.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        ng.load(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_and_blanks_around_names(tmp_path: Path, separator: str) -> None:
    head = ["system", " doc ", '"coherence, 1 to 5 (1-5)"', "bleu "]
    lines = [
        head,
        *([s, str(i), str(whole(k, i)), str(real(k, i))] for k, s in enumerate(SYSTEMS) for i in range(INPUTS)),
    ]
    (path := tmp_path / "x.csv").write_text("\n".join(separator.join(line) for line in lines) + "\n")
    data = ng.load(path)
    assert (data.aspects, data.metrics, len(data.inputs)) == (["coherence, 1 to 5"], ["bleu"], INPUTS)


def test_decimal_commas_are_read_when_the_column_says_so() -> None:
    comma = lambda v: str(v).replace(".", ",")  # noqa: E731
    data = ng.load(
        rows(coherence=whole, bleu=lambda s, i: comma(round(real(s, i), 3)), ter=lambda s, i: comma(i + 0.5))
    )
    np.testing.assert_allclose(data.panel().metrics["bleu"][1], [round(real(1, i), 3) for i in range(INPUTS)])
    np.testing.assert_array_equal(data.panel().metrics["ter"][0], np.arange(INPUTS) + 0.5)
    assert said(data, "'bleu'", "decimal commas")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.234,5", "17,25"], [1234.5, 17.25]),
        (["1,234.5", "17"], [1234.5, 17]),
        (["1,234,567", "1,000"], [1234567, 1000]),
        (["85%", "7.5%"], [85, 7.5]),
        (["4/5", "2/5"], [4, 2]),
        (["4 - good", "2 - poor"], [4, 2]),
        (["-0,5", "3"], [-0.5, 3]),
    ],
)
def test_numbers_in_other_clothes_are_read_and_said(cells: Sequence[str], values: Sequence[float]) -> None:
    data = ng.load(rows(coherence=whole, m=lambda s, i: cells[i % 2]))
    np.testing.assert_array_equal(data.panel().metrics["m"][0], [*values] * 3)
    assert said(data, "read in 'm'", cells[0].split()[0])


@pytest.mark.parametrize("cells", [["1,234", "2,500"], ["4/5", "7/10"], ["50%", "0.5"]])
def test_numbers_that_may_mean_two_things_are_refused(cells: Sequence[str]) -> None:
    with pytest.raises(DataError, match="column 'm': '"):
        ng.load(rows(coherence=whole, m=lambda s, i: cells[i % 2]))


def test_infinite_values_are_counted_as_what_they_are() -> None:
    data = ng.load(rows(coherence=whole, bleu=real, nll=lambda s, i: float("inf") if i == 1 else 0.5))
    assert said(data, "3 values are inf: left out", "'nll'")
    assert data.scores["nll"].null_count() == 3
    assert not said(ng.load(rows(coherence=whole, bleu=real)), " inf")


def test_infinite_ratings_in_lists_and_records_and_infinite_scores_are_counted() -> None:
    lists = rows(coherence=lambda s, i: [3, float("inf")] if i == 0 else [2, 4], bleu=real)
    assert said(ng.load(lists), "3 ratings are infinite; left out")
    records = rows(ratings=lambda s, i: [{"annotator": "r", "coherence": float("inf") if i == 0 else "4"}], bleu=real)
    data = ng.load(records)
    assert said(data, "3 ratings are infinite; left out")
    assert set(data.ratings["value"]) == {4.0}  # a number in quotes is one
    scored = ng.load(rows(coherence=whole, bleu=real)).with_scores({"nll": [float("inf"), *[0.5] * 17]})
    assert any("infinite scores: 1, excluded from all comparisons (in nll)" in line for line in card(scored))
    assert np.isnan(scored.panel().metrics["nll"]).sum() == 1


# --- people's columns ---


@pytest.mark.parametrize(
    "form", ["{aspect}_{who}", "{who}_{aspect}", "{aspect} ({who})", "human_{aspect}_{who}", "{aspect}-{who}"]
)
def test_raters_in_columns_are_raters(form: str) -> None:
    names = {(a, w): form.format(aspect=a, who=w) for a in ("coherence", "fluency") for w in ("ann", "Bob")}
    source = [
        {"system": s, "doc": i, "bleu": real(k, i)}
        | {n: (whole if w == "ann" else other)(k, i) for (_, w), n in names.items()}
        for k, s in enumerate(SYSTEMS)
        for i in range(INPUTS)
    ]
    data = ng.load(source)
    assert (data.aspects, data.raters, data.metrics) == (["coherence", "fluency"], ["ann", "Bob"], ["bleu"])
    assert data.persons
    assert said(data, "are read as the annotators ann, Bob of coherence", "metrics=")


def test_numbered_raters_have_no_names() -> None:
    data = ng.load(rows(rater1_coherence=whole, rater2_coherence=other, bleu=real))
    assert (data.aspects, len(data.raters), data.persons) == (["coherence"], 2, False)
    assert ng.load(rows(annotator_1=whole, annotator_2=other, bleu=real)).aspects == ["rating"]


def test_metrics_of_an_aspect_are_no_raters() -> None:
    data = ng.load(rows(coherence=whole, coherence_unieval=real, coherence_gpt4=other, coherence_bartscore=real))
    assert (data.raters, data.metrics) == ([], ["coherence_unieval", "coherence_gpt4", "coherence_bartscore"])


def test_columns_that_may_be_raters_or_metrics_are_said() -> None:
    source = rows(coherence_foo=real, coherence_bar=lambda s, i: real(i, s), bleu=real)
    data = ng.load(source)
    assert said(
        data,
        "are read as metrics; if they are annotators of coherence: human={'coherence': ['coherence_foo', 'coherence_bar']}",
    )
    data = ng.load(source, human={"coherence": ["coherence_foo", "coherence_bar"]})
    assert (data.aspects, data.raters, data.metrics) == (["coherence"], ["foo", "bar"], ["bleu"])


def test_columns_named_one_by_one_are_raters_when_they_are_called_so() -> None:
    data = ng.load(rows(coherence_foo=real, coherence_bar=real, x=whole), human=["coherence_foo", "coherence_bar", "x"])
    assert (data.aspects, data.raters) == (["coherence", "x"], ["foo", "bar"])


@pytest.mark.parametrize(
    ("columns", "aspects", "metrics"),
    [
        ({"mos": whole, "score": real}, ["mos"], ["score"]),
        ({"Your__rating__(1-5)": whole, "bleu": real}, ["Your rating"], ["bleu"]),
        ({"How__clear__is__it?__(1__to__5)": whole, "bleu__(0-100)": real}, ["How clear is it?"], ["bleu (0-100)"]),
        ({"stars": whole, "bleu": real}, ["stars"], ["bleu"]),
        ({"preference": whole, "bleu": real}, ["preference"], ["bleu"]),
        ({"z_coherence": real, "bleu": real}, ["z_coherence"], ["bleu"]),
        ({"coherence__zscore": real, "bleu": real}, ["coherence zscore"], ["bleu"]),
        ({"zscore": real, "bleu": real}, ["zscore"], ["bleu"]),
        ({"coherence": whole, "fluency_mean": real, "bleu": real}, ["coherence", "fluency"], ["bleu"]),
        ({"label": lambda s, i: "pass" if i % 2 else "fail", "bleu": real}, ["label"], ["bleu"]),
    ],
)
def test_ratings_are_known_by_many_names(columns: dict[str, Cell], aspects: list[str], metrics: list[str]) -> None:
    data = ng.load(rows(**columns))
    assert (data.aspects, data.metrics) == (aspects, metrics)


def test_peoples_z_scores_and_spreads_are_no_metrics_and_said() -> None:
    data = ng.load(rows(coherence=whole, coherence_z=real, coherence_std=real, bleu=real))
    assert (data.aspects, data.metrics) == (["coherence"], ["bleu"])
    assert said(data, "not used: 'coherence_z'", "z-scores", "metrics='+coherence_z'")
    assert said(data, "not used: 'coherence_std'", "spread")


# --- nothing numeric without a line ---


def test_every_number_that_is_not_used_has_a_line_with_the_words_that_use_it() -> None:
    source = rows(
        coherence=whole, bleu=real, seed=other, row=other, temperature=real, ratio=lambda s, i: "x" if i < 3 else "0.5"
    )
    data = ng.load(source)
    assert data.metrics == ["bleu"]
    for column in ("seed", "row", "temperature", "ratio"):
        assert said(data, "not used", f"'{column}'")
    assert ng.load(source, metrics="+seed").metrics == ["bleu", "seed"]
    assert ng.load(source, human="+seed").aspects == ["seed", "coherence"]
    with pytest.raises(DataError, match=r"put \+ before all"):
        ng.load(source, metrics=["+seed", "row"])


# --- frames ---


def frame() -> pd.DataFrame:
    return pd.DataFrame(rows(coherence=whole, bleu=real))


def same(data: Dataset) -> bool:
    expected = ng.load(frame()).panel()
    found = data.panel()
    return found.systems == expected.systems and np.array_equal(found.human, expected.human)


def test_an_index_with_names_is_data() -> None:
    assert same(ng.load(frame().set_index(["system", "doc_id"])))
    assert same(ng.load(frame().set_index("doc_id")))
    assert same(ng.load(pa.Table.from_pandas(frame().set_index(["system", "doc_id"]))))
    assert same(ng.load(frame().set_index("system", drop=False)))


def test_an_index_without_a_name_is_refused_or_said() -> None:
    with pytest.raises(DataError, match="level 1 of its index has no name"):
        ng.load(frame().set_index(["system", "doc_id"]).rename_axis([None, None]))
    with pytest.raises(DataError, match="its index has no name"):
        ng.load(frame().set_index("system").rename_axis(None))
    assert said(ng.load(frame().iloc[::-1]), "unnamed index of the frame is not used")
    assert not said(ng.load(frame()), "index")
    mixed = frame().set_index("system", drop=False)
    mixed.index = mixed.index[::-1]
    with pytest.raises(DataError, match="'system' is in the index and in a column"):
        ng.load(mixed)


def test_column_names_of_several_levels_are_joined_and_doubles_refused() -> None:
    levels = frame()
    levels.columns = pd.MultiIndex.from_tuples(
        [("system", ""), ("doc_id", ""), ("human", "coherence"), ("metric", "bleu")]
    )
    assert same(ng.load(levels))
    double = frame()
    double.columns = pd.Index(["system", "doc_id", "bleu", "bleu"])
    arrow = pa.table([pa.array(["a"]), pa.array(["b"]), pa.array([1])], names=["system", "bleu", "bleu"])
    for bad in (double, arrow):
        with pytest.raises(DataError, match="two columns have the name 'bleu'"):
            ng.load(bad)


def test_a_dict_of_lists_is_a_table() -> None:
    assert same(ng.load(frame().to_dict("list")))


# --- means ---


def test_means_of_repeated_rows_keep_ties(tmp_path: Path) -> None:
    values = [0.1, 0.2, 0.3, 0.7, 1 / 3, 0.1 + 0.2]
    source = [
        {"system": s, "input": i, "coherence": i % 3, "bleu": v, "n": k}
        for s in SYSTEMS
        for i, v in enumerate(values)
        for k in range(3)
    ]
    data = ng.load(source, repeats="mean", metrics=["bleu"])
    assert data.scores["bleu"].n_unique() == 5  # 0.3 and 0.1 + 0.2 are one value
    assert {0.1, 0.2, 0.7, 1 / 3} <= set(data.scores["bleu"])
    assert said(data, "36 rows repeat a system and input", "means")
    orders = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]]
    sums = [
        {"system": s, "input": i, "rater": "r", "coherence": v}
        for s in SYSTEMS
        for i, o in enumerate(orders)
        for v in o
    ]
    assert ng.load(sums).ratings["value"].n_unique() == 1


def test_long_scores_that_repeat_are_refused_or_averaged_and_said(tmp_path: Path) -> None:
    long = pl.DataFrame(
        {"system": ["a", "a", "b"], "input": [1, 1, 1], "metric": ["bleu"] * 3, "score": [0.1, 0.5, 0.2]}
    )
    with pytest.raises(DataError, match=r"metric 'bleu' has another value in row 0 \(0.5, before 0.1\)"):
        ng.load(long)
    data = ng.load(long, repeats="mean")
    assert data.scores["bleu"].to_list() == [0.3, 0.2]
    assert said(data, "1 scores repeat the same output and metric: their mean is used")


def test_a_document_of_several_segments_is_no_input_where_the_segment_is_named() -> None:
    rows = [
        {"system": s, "documentID": f"d{i // 3}", "itemID": i, "start_time": 1.5, "quality": i % 4, "bleu": i / 9}
        for s in "AB"
        for i in range(6)
    ]
    data = ng.load(rows)
    assert len(data) == 12 and len(data.inputs) == 6 and data.metrics == ["bleu"]
    assert any(
        "'documentID' has several rows per system, so 'itemID' is used as the input" in note for note in data.notes
    )
    assert len(ng.load(rows, input="documentID", repeats="mean").inputs) == 2


@pytest.mark.parametrize("name", ["doc", "input"])
def test_a_text_is_the_source_and_a_name_is_the_input(name: str) -> None:
    texts = [{name: f"a long text with many words, number {i}", "id": f"q{i}", "label": i % 2} for i in range(6)]
    data = ng.load(texts)
    assert data.inputs[0] == "q0" and data.samples["source"][0] == texts[0][name]
    assert ng.load([{name: f"d{i}", "label": i % 2, "bleu": i} for i in range(6)]).inputs[0] == "d0"


def test_rows_that_differ_in_what_is_not_used_are_not_called_repeats() -> None:
    rows = [
        {"system": "A", "doc": i // 2, "half": f"part {'ab'[i % 2]}", "quality": i // 2, "bleu": i // 2}
        for i in range(6)
    ]
    assert "3 rows repeat another row in all but 'half', which is not used: they count once" in ng.load(rows).notes
    twice = [{"system": "A", "doc": i % 3, "quality": i % 3, "bleu": i % 3} for i in range(6)]
    assert [note for note in ng.load(twice).notes if "repeat" in note] == ["3 rows repeat another row and count once"]


def test_a_judges_words_are_no_raters() -> None:
    rows = [{"id": i, "judge": "oui" if i % 3 else "non", "human": "oui" if i % 2 else "non"} for i in range(12)]
    data = ng.load(rows, values="oui=1,non=0")
    assert (data.aspects, data.metrics, data.raters) == (["human"], ["judge"], [])
    assert not any("rater = 'judge'" in note for note in ng.load(rows).notes)


def test_one_row_a_system_is_read_as_means_and_said() -> None:
    rows = [{"system": s, "human": h, "bleu": b} for s, h, b in [("A", 3.2, 0.3), ("B", 2.1, 0.2), ("C", 2.8, 0.4)]]
    data = ng.load(rows)
    assert len(data.inputs) == 1 and any("read as system means" in note for note in data.notes)
    (row,) = data.correlate(measures=["system/pearson"]).rows
    assert row["value"] == pytest.approx(np.corrcoef([3.2, 2.1, 2.8], [0.3, 0.2, 0.4])[0, 1])


def test_columns_called_like_models_are_not_offered_as_people() -> None:
    rows = [{"doc": i, "gpt-4": i % 5, "claude": (i + 1) % 5, "lead3": 3 + i % 2} for i in range(20)]
    (line,) = [note for note in ng.load(rows).notes if "per system" in note]
    assert line.startswith("'gpt-4', 'claude', 'lead3' look like one column per system or per judge")
    scored = [{"id": i, "gpt4_score": 1 + i % 5, "FactCC": i % 2} for i in range(20)]
    assert not any("people rated" in note for note in ng.load(scored).notes)


def test_numbers_whose_square_is_none_and_columns_without_any_are_said_and_do_no_harm(tmp_path: Path) -> None:
    rows = [
        {"system": s, "doc": d, "quality": (d + ord(s)) % 5, "m": d * 1e300 + 1, "none": None, "bleu": d / 9}
        for s in "ABCDEF"
        for d in range(12)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"none": pl.Float64})
    data = ng.load(frame, metrics=["m", "none", "bleu"])
    assert said(data, "66 values are beyond 1e+150: left out", "'m'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ng.report(data, out=tmp_path / "r.html", quick=True).lines


def test_records_about_the_sentences_of_an_output_are_no_raters() -> None:
    rows = [
        {
            "id": i,
            "output": "One thing. Another thing.",
            "annotations": [{"text": "One thing.", "relevant": 1}, {"text": "Another thing.", "relevant": 0}],
        }
        for i in range(4)
    ]
    data = ng.load(rows)
    assert data.ratings.is_empty() and said(data, "parts of an output", "'annotations'")
    for row in rows:
        row["annotations"] = [{"text": "I liked it", "stars": 4}, {"text": "Not me", "stars": 1}]  # comments
    assert ng.load(rows).aspects == ["stars"]


@pytest.mark.parametrize(("again", "words"), [(4, "with the same value and count once"), (2, "their mean is used")])
def test_a_rater_who_rates_twice_is_averaged_and_said(again: int, words: str) -> None:
    rows = [{"system": "A", "doc": d, "rater": r, "quality": 4} for d in range(3) for r in ("ann", "bob")]
    data = ng.load([*rows, {**rows[0], "quality": again}])
    assert said(data, "1 ratings repeat the same annotator, output and aspect", words)
    assert data.ratings.height == 6 and data.ratings["value"].min() == (4 + again) / 2
