"""Columns of classes and of sets of labels: which they are, that names survive, and that no mean is made of codes."""

import random

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from nlgauge.data.export import export
from nlgauge.errors import DataError, NeedsMissing

WORDS = ("supported", "contradicted", "unrelated")


def rows_of(n=30, seed=0, **more):
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        human = rng.choice(WORDS)
        judge = human if rng.random() < 0.7 else rng.choice(WORDS)
        rows.append({"id": f"q{i}", "human_label": human, "judge_label": judge, **more})
    return rows


def classes_of(data, aspect, rater=None):
    names = data.scales[aspect].names
    rated = data.ratings.filter(pl.col("aspect") == aspect)
    return {i: names[int(v)] for i, v in rated.select("input", "value").iter_rows()}


def test_words_that_a_human_and_a_judge_share_are_classes_and_keep_their_names():
    rows = rows_of()
    data = ng.load(rows, name="mine")
    assert data.scales["label"].kind == "nominal" and set(data.scales["label"].names) == set(WORDS)
    assert classes_of(data, "label") == {r["id"]: r["human_label"] for r in rows}
    assert data.metric_scales["judge_label"].names == data.scales["label"].names
    assert any("classes without an order (inferred)" in note for note in data.notes)


def test_a_judge_that_only_says_known_words_has_the_code_book_of_the_human():
    rows = [{"id": i, "human_label": ("Yes", "No", "Unsure")[i % 3], "judge": ("yes", "no")[i % 2]} for i in range(30)]
    data = ng.load(rows, name="mine")
    assert data.metric_scales["judge"].names == data.scales["label"].names
    assert [name.lower() for name in data.scales["label"].names] == ["no", "unsure", "yes"]


def test_known_words_stay_pass_and_fail_and_ordered_words_stay_numbers():
    for words in (("pass", "fail"), ("low", "medium", "high")):
        rows = [
            {"id": i, "human_label": words[i % len(words)], "judge_label": words[i // 2 % len(words)]}
            for i in range(24)
        ]
        assert not ng.load(rows, name="mine").scales


def test_columns_of_numbers_are_classes_only_where_the_user_says_so():
    rows = [{"id": i, "human_label": i % 3, "judge_label": (i + i // 7) % 3} for i in range(30)]
    assert not ng.load(rows, name="mine").scales
    data = ng.load(rows, name="mine", nominal=["human_label", "judge_label"])
    assert data.scales["label"].names == ("0", "1", "2") and data.scales["label"].declared
    assert ng.load(rows, name="mine", columns="nominal=human_label+judge_label").scales == data.scales
    with pytest.raises(DataError, match="no column 'humna'"):
        ng.load(rows, name="mine", nominal="humna")


def test_sets_of_labels_are_read_from_lists_and_from_texts():
    lists = [
        {"id": i, "human_labels": [["a"], ["a", "b"], []][i % 3], "judge_labels": [["a"], ["b"]][i % 2]}
        for i in range(24)
    ]
    texts = [{k: "|".join(v) if isinstance(v, list) else v for k, v in row.items()} for row in lists]
    for row in texts:
        row["human_labels"] = row["human_labels"] or "[]"
    of_lists = ng.load(lists, name="mine")
    of_texts = ng.load(texts, name="mine", multilabel=["human_labels", "judge_labels"])
    for data in (of_lists, of_texts):
        (aspect,) = data.aspects
        assert data.scales[aspect].kind == "multilabel" and data.scales[aspect].labels == ("a", "b")
        assert classes_of(data, aspect) == {str(r["id"]): "; ".join(r["human_labels"]) for r in lists}


def test_classes_survive_writing_and_reading(tmp_path):
    data = ng.load(rows_of(), name="mine")
    for suffix in (".jsonl", ".csv", ".parquet"):
        export(data, tmp_path / f"d{suffix}")
        back = ng.load(tmp_path / f"d{suffix}")
        assert classes_of(back, "label") == classes_of(data, "label"), suffix
        assert ng.verdicts(back).rows[0]["value"] == ng.verdicts(data).rows[0]["value"]


def test_no_analysis_takes_codes_for_numbers():
    data = ng.load(rows_of(), name="mine")
    for name in ("correlate", "compare", "uses", "threshold", "intervals", "stability", "ceiling"):
        with pytest.raises(NeedsMissing, match="no mean or rank"):
            ng.analyze(name, data)
    rows = [{**r, "human_quality": i % 5, "bleu": i * 7 % 11 / 11} for i, r in enumerate(rows_of())]
    mixed = ng.load(rows, name="mine")
    assert mixed.panel("quality").names == ["bleu"] and list(mixed.panel("quality").humans) == ["quality"]
    assert mixed.panel("label").names == ["judge_label"]
    assert {r["metric"] for r in ng.correlate(mixed)} == {"bleu"}


def test_the_commonest_class_counts_and_a_split_is_left_out():
    rows = [
        {"id": f"q{i}", "annotator": f"r{k}", "label": WORDS[0] if k < i % 4 else WORDS[1], "judge": WORDS[0]}
        for i in range(20)
        for k in range(3 if i else 2)
    ]
    panel = ng.load(rows, name="mine", metrics="judge", human="label").panel()
    votes = [i % 4 for i in range(20)]
    expected = [panel.scale.names.index(WORDS[0] if v > 1 else WORDS[1]) for v in votes]
    assert panel.human[0].tolist() == expected


def test_different_classes_of_one_annotator_leave_nothing():
    rows = rows_of()
    twice = [{**r, "annotator": "r1", "system": "a"} for r in rows] + [
        {**rows[0], "annotator": "r1", "system": "a", "human_label": w} for w in WORDS
    ]
    data = ng.load(twice, name="mine")
    assert rows[0]["id"] not in classes_of(data, "label") and len(classes_of(data, "label")) == len(rows) - 1
    assert not np.isnan(data.panel().human).all()


def test_labels_of_another_file_share_the_code_book_of_the_judge(tmp_path):
    rows = rows_of(40)
    outputs, labels = tmp_path / "outputs.csv", tmp_path / "labels.csv"
    outputs.write_text(
        "id,text,judge_label\n" + "".join(f"{r['id']},some words here,{r['judge_label']}\n" for r in rows)
    )
    labels.write_text("id,human_label\n" + "".join(f"{r['id']},{r['human_label']}\n" for r in reversed(rows)))
    data = ng.load(outputs, labels=labels)
    assert classes_of(data, "label") == {r["id"]: r["human_label"] for r in rows}
    same = {r["measure"]: r["value"] for r in ng.verdicts(ng.load(rows, name="mine"))}
    found = {r["measure"]: r["value"] for r in ng.verdicts(data)}
    assert found["kappa"] == same["kappa"] and found["recall:unrelated"] == same["recall:unrelated"]
    assert ng.load(outputs, labels=labels, nominal="judge_label").scales["label"].declared
