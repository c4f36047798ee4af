"""People's labels from another file."""

from pathlib import Path

import polars as pl
import pytest

import nlgauge as ng
from nlgauge.errors import DataError, NlgaugeError

OUTPUTS = [
    {"id": f"q{i}", "output": f"text {i}", "uuid": f"u-{i:03}", "verdict": ["pass", "fail"][i % 2]} for i in range(8)
]


def labels(*pairs, **more):
    return [{"id": key, "label": value, **more} for key, value in pairs]


def rated(data):
    return {row["input"]: row["value"] for row in data.ratings.iter_rows(named=True)}


def note(data, words):
    found = [n for n in data.notes if words in n]
    assert len(found) == 1, data.notes
    return found[0]


def test_labels_are_joined_by_id_whatever_the_order_of_rows():
    data = ng.load(OUTPUTS, labels=labels(("q5", "fail"), ("q0", "pass"), ("q3", "pass")))
    assert rated(data) == {"q5": 0, "q0": 1, "q3": 1}
    assert data.aspects == ["label"] and data.metrics == ["verdict"]
    assert "3 rows joined by 'id'" in note(data, "human labels from")


def test_files_frames_and_datasets_of_labels_say_the_same(tmp_path):
    rows = labels(("q5", "fail"), ("q0", "pass"))
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "labels.csv")
    pl.DataFrame(OUTPUTS).write_csv(tmp_path / "outputs.csv")
    whole = ng.load(rows, human="label")
    for given in (rows, frame, frame.to_pandas(), tmp_path / "labels.csv", str(tmp_path / "labels.csv"), whole):
        data = ng.load(tmp_path / "outputs.csv", labels=given)
        assert rated(data) == {"q5": 0, "q0": 1}


def test_numbers_as_ids_match_whether_they_are_whole_numbers_floats_or_texts():
    outputs = [{"id": i, "output": "x", "judge": 1.0} for i in range(4)]
    for ids in ([1, 3], [1.0, 3.0], ["1", " 3 "]):
        data = ng.load(outputs, labels=[{"id": i, "label": 1} for i in ids])
        assert rated(data) == {"1": 1, "3": 1}


def test_ids_of_another_column_of_the_outputs_are_found_and_said():
    rows = [{"sample_id": "u-002", "label": "pass"}, {"sample_id": "u-004", "label": "fail"}]
    data = ng.load(OUTPUTS, labels=rows)
    assert rated(data) == {"q2": 1, "q4": 0}
    assert "'sample_id' (column 'uuid' of the outputs)" in note(data, "human labels from")


def test_labels_without_an_id_are_joined_by_the_text_of_the_output():
    data = ng.load(OUTPUTS, labels=[{"output": "text 6", "label": "pass"}, {"output": "text 1", "label": "fail"}])
    assert rated(data) == {"q6": 1, "q1": 0}


def test_a_column_of_ids_under_any_name_is_found_by_its_values():
    assert rated(ng.load(OUTPUTS, labels=[{"what": "q6", "label": "pass"}, {"what": "q1", "label": "fail"}])) == {
        "q6": 1,
        "q1": 0,
    }
    with pytest.raises(DataError, match=r"The labels have 'x6' \(column 'what'\)"):
        ng.load(OUTPUTS, labels=[{"what": "x6", "label": "pass"}])


def test_row_numbers_are_no_ids():
    outputs = [{"output": f"text {i}", "judge": i % 2} for i in range(4)]
    with pytest.raises(DataError, match="only row numbers"):
        ng.load(outputs, labels=labels(("0", 1), ("1", 0)))


def test_no_match_at_all_is_an_error_that_shows_an_id_of_each_file():
    with pytest.raises(DataError, match=r"labels have 'x1' \(column 'id'\), the outputs have 'q0'"):
        ng.load(OUTPUTS, labels=labels(("x1", 1), ("x2", 0)))


def test_rows_that_match_nothing_are_counted_and_shown():
    data = ng.load(OUTPUTS, labels=labels(("q1", 1), ("x1", 1), ("x2", 0)))
    assert rated(data) == {"q1": 1}
    assert "left out: 2 rows" in note(data, "match no output") and "x1, x2" in note(data, "match no output")


def test_rows_without_a_label_are_not_missed():
    data = ng.load(OUTPUTS, labels=labels(("q1", "pass"), ("x1", ""), ("q2", "n/a"), ("q3", "fail")))
    assert rated(data) == {"q1": 1, "q3": 0}
    assert not [n for n in data.notes if "match no output" in n]


def test_equal_labels_count_once_and_conflicting_ones_are_left_out_and_shown():
    data = ng.load(OUTPUTS, labels=labels(("q1", 1), ("q1", 1), ("q1", 1), ("q2", 1), ("q2", 0), ("q3", 0)))
    assert rated(data) == {"q1": 1, "q3": 0}
    assert note(data, "counted once").endswith("counted once: 2 (q1)")
    assert "q2 (1 and 0)" in note(data, "conflict") and "rater=" in note(data, "conflict")


def test_only_conflicting_labels_are_an_error():
    with pytest.raises(DataError, match=r"no labels left.*q2 \(1 and 0\)"):
        ng.load(OUTPUTS, labels=labels(("q2", 1), ("q2", 0)))


def test_several_people_are_raters_and_do_not_conflict():
    rows = [*labels(("q1", 1), ("q2", 1), annotator="ann"), *labels(("q1", 0), ("q2", 1), annotator="bob")]
    data = ng.load(OUTPUTS, labels=rows)
    assert data.raters == ["ann", "bob"] and data.ratings.height == 4 and data.persons
    one = ng.load(OUTPUTS, labels=[r | {"who did it": r.pop("annotator")} for r in rows], rater="who did it")
    assert one.raters == ["ann", "bob"]


def test_raters_in_columns_of_the_labels_are_raters():
    rows = [{"id": "q1", "ann_1": 1, "ann_2": 0}, {"id": "q2", "ann_1": 1, "ann_2": 1}]
    assert ng.load(OUTPUTS, labels=rows).ratings.height == 4


def test_a_model_among_the_raters_is_no_person():
    rows = [*labels(("q1", 1), ("q2", 0), annotator="ann"), *labels(("q1", 0), ("q2", 1), annotator="gpt-4")]
    data = ng.load(OUTPUTS, labels=rows)
    assert data.raters == ["ann"] and "gpt-4" in data.metrics
    assert ng.load(OUTPUTS, labels=rows, person_raters=["gpt-4"]).raters == ["ann", "gpt-4"]


def test_every_column_of_values_is_peoples_but_for_scores_of_the_outputs_and_of_models():
    rows = [
        {"id": "q1", "verdict": "fail", "style": 3, "ok": "yes", "gpt4_score": 5},
        {"id": "q2", "verdict": "pass", "style": 4, "ok": "no", "gpt4_score": 2},
    ]
    data = ng.load(OUTPUTS, labels=rows)
    assert sorted(data.aspects) == ["ok", "style"]
    assert "human='verdict'" in note(data, "'verdict' is a metric of the outputs")
    assert "the name of a model" in note(data, "'gpt4_score'")
    assert ng.load(OUTPUTS, labels=rows, human="verdict").aspects == ["verdict"]


def test_the_system_is_part_of_the_id_where_both_files_have_it():
    outputs = [{"system": s, "id": i, "judge": j} for s, i, j in [("A", 1, 1), ("A", 2, 0), ("B", 1, 0), ("B", 2, 1)]]
    rows = [{"model": "B", "id": 1, "label": 1}, {"model": "A", "id": 1, "label": 0}]
    data = ng.load(outputs, labels=rows)
    assert data.ratings.select("system", "input", "value").rows() == [("B", "1", 1.0), ("A", "1", 0.0)]
    with pytest.raises(DataError, match=r"'1' has outputs of several systems .*A, B.*system="):
        ng.load(outputs, labels=labels((1, 1)))
    with pytest.raises(DataError, match=r"the systems in column 'model' \(C\) do not match"):
        ng.load(outputs, labels=[{"model": "C", "id": 1, "label": 1}])


def test_labels_without_systems_fit_where_each_id_is_of_one_system():
    outputs = [{"system": s, "id": i, "judge": j} for s, i, j in [("A", 1, 1), ("A", 2, 0), ("B", 3, 0), ("B", 4, 1)]]
    assert ng.load(outputs, labels=labels((1, 1), (3, 0))).ratings["system"].to_list() == ["A", "B"]


def test_words_that_are_not_known_are_asked_for():
    with pytest.raises(DataError, match=r"no column with labels found.*values="):
        ng.load(OUTPUTS, labels=labels(("q1", "meh"), ("q2", "wow"), ("q3", "meh")))
    data = ng.load(OUTPUTS, labels=labels(("q1", "meh"), ("q2", "wow"), ("q3", "meh")), values="meh=0,wow=1")
    assert rated(data) == {"q1": 0, "q2": 1, "q3": 0}


def test_ratings_that_the_outputs_have_already_are_kept_beside_the_labels():
    outputs = [row | {"human_label": "pass" if i < 3 else None} for i, row in enumerate(OUTPUTS)]
    data = ng.load(outputs, labels=labels(("q0", "pass"), ("q1", "fail"), ("q6", "fail")))
    assert rated(data) == {"q0": 1, "q2": 1, "q6": 0}
    assert "q1 (1 and 0)" in note(data, "conflict")


SAMPLES = Path(__file__).parent / "samples"


def test_labels_are_joined_to_the_logs_of_other_tools():
    data = ng.load(SAMPLES / "deepeval.json", labels=labels(("Italy", "fail"), ("France", "pass")))
    assert rated(data) == {"Italy": 0, "France": 1} and "Correctness" in data.metrics


def test_several_outputs_of_one_id_are_told_apart_by_their_names_or_by_the_epoch_of_the_log():
    path = SAMPLES / "inspect.eval"
    with pytest.raises(DataError, match=r"'Italy' has several outputs in .*Italy #2.*epoch"):
        ng.load(path, labels=labels(("Italy", "fail")))
    named = ng.load(path, labels=labels(("Italy #2", "fail")))
    told = ng.load(path, labels=[{"id": "Italy", "epoch": 2, "label": "fail"}])
    for data in (named, told):
        assert data.ratings.filter(aspect="label").select("input", "value").rows() == [("Italy #2", 0.0)]
    mean = ng.load(path, repeats="mean", labels=labels(("Italy", "fail")))
    assert mean.ratings.filter(aspect="label")["input"].to_list() == ["Italy"]


def test_ids_of_several_tasks_are_told_apart_by_the_task():
    rows = [{"task": t, "id": i, "judge": 1} for t in ("qa", "sums") for i in range(3)]
    with pytest.raises(DataError, match=r"'1' has several outputs in .*qa: 1, sums: 1.*task"):
        ng.load(rows, labels=labels((1, 1)))
    data = ng.load(rows, labels=[{"task": "sums", "id": 1, "label": 1}])
    assert data.ratings["input"].to_list() == ["sums: 1"]


def test_a_published_sets_name_or_a_missing_file_of_labels_is_an_error_in_one_line(tmp_path):
    with pytest.raises(NlgaugeError, match=r"no such file|cannot be"):
        ng.load(OUTPUTS, labels=tmp_path / "none.csv")


def test_ids_that_are_there_of_other_systems_only_are_no_match():
    outputs = [{"system": s, "id": i, "judge": 1} for s, i in [("A", 1), ("B", 2), ("B", 3)]]
    with pytest.raises(DataError, match="no label matches an output"):
        ng.load(outputs, labels=[{"system": "A", "id": 2, "label": 1}])


def test_lists_in_the_outputs_are_no_ids():
    outputs = [row | {"task": ["a", "b"], "epoch": [1, 2]} for row in OUTPUTS]
    assert rated(ng.load(outputs, labels=labels(("q1", 1)))) == {"q1": 1}


def test_an_aspect_without_a_name_is_refused_with_its_row():
    rows = [{"id": "q1", "aspect": "style", "rating": 1}, {"id": "q2", "aspect": None, "rating": 0}]
    with pytest.raises(DataError, match="row 1, column 'aspect': is empty"):
        ng.load(OUTPUTS, labels=rows)
