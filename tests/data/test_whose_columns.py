"""Which column is people's and which the judge's, in the tables that people bring."""

import pytest

import nlgauge as ng
from nlgauge.datasets.load import check
from nlgauge.errors import DataError

ROWS = 40
PF, YN, TF, NUM, LIKERT, UNIT, CI = ("pass fail", "yes no", "true false", "1 0", "5 4 3 2 1", ".9 .2 .7 .4 .35", "C I")
ALL, FEW = 1, 4  # every row has a value, every fourth has


def table(columns):
    """Rows with an id, a text, and the columns: name → (values, in every how manieth row)."""
    rows = []
    for i in range(ROWS):
        row = {"id": f"q{i}", "output": f"answer number {i}"}
        for k, (name, (values, each)) in enumerate(columns.items()):
            words = values.split()
            value = words[(i * 7 + i // 4 + i // 9 * k) % len(words)]
            row[name] = None if i % each else float(value) if value[0] in "0123456789." else value
        rows.append(row)
    return rows


# people's columns | the judge's or metrics | a column: its values and every how manieth row has one
HEADERS = [
    ("human_label", "judge_verdict", {"human_label": (PF, FEW), "judge_verdict": (PF, ALL)}),
    ("label", "verdict", {"label": (PF, FEW), "verdict": (PF, ALL)}),
    ("label", "verdict", {"verdict": (PF, ALL), "label": (PF, ALL)}),
    ("label", "score", {"score": (UNIT, ALL), "label": (NUM, FEW)}),
    ("annotation", "llm_judge", {"llm_judge": (YN, ALL), "annotation": (YN, FEW)}),
    ("annotation", "passed", {"passed": (TF, ALL), "annotation": (TF, FEW)}),
    ("reviewer", "judge", {"judge": (PF, ALL), "reviewer": (PF, FEW)}),
    ("expert", "gpt4_score", {"gpt4_score": (LIKERT, ALL), "expert": (LIKERT, FEW)}),
    ("gold", "judge", {"gold": (PF, FEW), "judge": (PF, ALL)}),
    ("gold_label", "score", {"gold_label": (NUM, ALL), "score": (UNIT, ALL)}),
    ("human", "llm_score", {"human": (NUM, FEW), "llm_score": (UNIT, ALL)}),
    ("faithfulness", "faithfulness_judge", {"faithfulness": (NUM, FEW), "faithfulness_judge": (NUM, ALL)}),
    ("faithfulness_human", "faithfulness", {"faithfulness": (UNIT, ALL), "faithfulness_human": (NUM, FEW)}),
    ("human_correctness", "correctness", {"correctness": (NUM, ALL), "human_correctness": (NUM, FEW)}),
    ("human_correctness", "correctness", {"correctness": (NUM, ALL), "human_correctness": (NUM, ALL)}),
    ("label", "correctness", {"correctness": (NUM, ALL), "label": (PF, FEW)}),
    ("correct", "score", {"correct": (TF, FEW), "score": (UNIT, ALL)}),
    ("is_correct", "judge_score", {"is_correct": (TF, ALL), "judge_score": (UNIT, ALL)}),
    ("passed", "auto_eval", {"passed": (TF, FEW), "auto_eval": (NUM, ALL)}),
    ("thumbs", "g_eval", {"thumbs": ("👍 👎", FEW), "g_eval": (UNIT, ALL)}),
    ("user_feedback", "score", {"user_feedback": ("good bad", FEW), "score": (UNIT, ALL)}),
    ("Human Verdict", "LLM Verdict", {"Human Verdict": (PF, FEW), "LLM Verdict": (PF, ALL)}),
    ("manual_grade", "claude_grade", {"manual_grade": (LIKERT, FEW), "claude_grade": (LIKERT, ALL)}),
    ("expert_label", "model_label", {"expert_label": (PF, FEW), "model_label": (PF, ALL)}),
    ("sme_rating", "answer_relevancy", {"answer_relevancy": (UNIT, ALL), "sme_rating": (LIKERT, FEW)}),
    ("annotator_1+annotator_2", "judge", {"annotator_1": (PF, FEW), "annotator_2": (PF, FEW), "judge": (PF, ALL)}),
    ("expert_1+expert_2", "gpt-4o", {"expert_1": (PF, FEW), "expert_2": (PF, FEW), "gpt-4o": (PF, ALL)}),
    ("label_ann+label_bob", "judge", {"label_ann": (PF, FEW), "label_bob": (PF, FEW), "judge": (PF, ALL)}),
    ("label1+label2", "judge", {"label1": (PF, FEW), "label2": (PF, FEW), "judge": (PF, ALL)}),
    ("ground_truth", "is_correct+confidence", {"is_correct": (TF, ALL), "confidence": (UNIT, ALL), "ground_truth": (PF,
        FEW)}),
    ("human_verdict", "judge_verdict", {"judge_verdict": (PF, ALL), "human_verdict": (PF, FEW), "human_comment": ("ok",
        FEW)}),
    ("human_score", "score+passed", {"score": (UNIT, ALL), "passed": (TF, ALL), "human_score": (NUM, FEW)}),
    ("label", "judge_a+judge_b", {"judge_a": (PF, ALL), "judge_b": (PF, ALL), "label": (PF, FEW)}),
    ("grade", "score", {"grade": (CI, FEW), "score": (CI, ALL)}),
    ("rating", "verdict", {"rating": (LIKERT, FEW), "verdict": (PF, ALL)}),
    ("human_label", "score", {"human_label": (PF, ALL), "score": (UNIT, ALL)}),
    ("human_label", "faithfulness", {"faithfulness": (UNIT, ALL), "human_label": (PF, FEW)}),
    ("people.verdict", "judge.verdict", {"people.verdict": (PF, FEW), "judge.verdict": (PF, ALL)}),
    ("labelled_by_person", "labelled_by_model", {"labelled_by_person": (PF, FEW), "labelled_by_model": (PF, ALL)}),
    ("coherence+fluency", "bleu", {"coherence": (LIKERT, ALL), "fluency": (LIKERT, FEW), "bleu": (UNIT, ALL)}),
    ("coherence_expert+coherence_crowd", "bleu", {"coherence_expert": (LIKERT, ALL), "coherence_crowd": (LIKERT, ALL),
                                                  "bleu": (UNIT, ALL)}),
    ("eval.human.label", "eval.judge.verdict+eval.judge.score",  # nested fields of a log
     {"usage.tokens": (LIKERT, ALL), "eval.judge.verdict": (PF, ALL), "eval.judge.score": (LIKERT, ALL),
      "eval.human.label": (PF, FEW)}),
    ("summary.axes.overall+summary.axes.accuracy", "bleu",
     {"summary.axes.overall": (LIKERT, ALL), "summary.axes.accuracy": (LIKERT, ALL), "bleu": (UNIT, ALL)}),
    ("label", "DAE_score+DAE_label+SummaC-Conv_score+SummaC-Conv_label",  # classifiers with a score and a label each
     {"label": (NUM, ALL), "DAE_score": (UNIT, ALL), "DAE_label": (NUM, ALL), "SummaC-Conv_score": (UNIT, ALL),
      "SummaC-Conv_label": (NUM, ALL)}),
    ("coh_anno1+coh_anno2", "R-L", {"coh_anno1": (LIKERT, ALL), "coh_anno2": (LIKERT, ALL), "R-L": (UNIT, ALL)}),
    ("labels", "score_A+score_B", {"labels": (NUM, ALL), "score_A": (LIKERT, ALL), "score_B": (LIKERT, ALL)}),
]  # fmt: skip


@pytest.mark.parametrize(("people", "judges", "columns"), HEADERS, ids=lambda x: x if isinstance(x, str) else "")
def test_peoples_columns_and_the_judges_are_told_apart(people, judges, columns):
    roles = {row["column"]: row["role"] for row in check(table(columns))}
    found = "+".join(c for c in columns if roles[c].startswith("rating"))
    scored = "+".join(c for c in columns if roles[c].startswith("metric"))
    assert (found, scored) == (people, judges), roles


def test_a_rater_need_not_be_named_in_rows_that_nobody_rated():
    rows = [
        {"id": i, "judge": "pass", "annotator": "ann" if i % 4 == 0 else "", "label": "fail" if i % 4 == 0 else ""}
        for i in range(12)
    ]
    data = ng.load(rows)
    assert data.raters == ["ann"] and data.ratings.height == 3 and data.metrics == ["judge"]
    rows[3]["label"] = "pass"
    with pytest.raises(DataError, match="row 3, column 'annotator': is empty"):
        ng.load(rows)


def test_every_guess_is_said_with_the_words_that_correct_it_and_they_do():
    rows = table({"label": (PF, FEW), "verdict": (PF, ALL)})
    data = ng.load(rows)
    assert any("'verdict' is read as a judge" in n and "human='+verdict'" in n for n in data.notes)
    assert any("'label' is read as human" in n and "metrics='+label'" in n for n in data.notes)
    turned = ng.load(rows, human="verdict", metrics="label")
    assert (turned.aspects, turned.metrics) == (["verdict"], ["label"])
    assert ng.load(rows, human="+verdict").aspects == ["verdict", "label"]


def test_no_column_of_a_table_with_one_row_an_input_is_offered_as_the_system():
    rows = [
        row | {"judge_reason": f"because {k}"} for k, row in enumerate(table({"label": (PF, FEW), "judge": (PF, ALL)}))
    ]
    assert "no system column: all rows are one system" in ng.load(rows).notes


@pytest.mark.parametrize("stem", ["rating", "human", "annotator", "human_score"])
def test_numbered_columns_of_ratings_are_raters_of_one_aspect(stem: str) -> None:
    rows = [{"system": f"s{i % 2}", "input": i // 2, f"{stem}_1": i % 5, f"{stem}_2": (i + 1) % 5} for i in range(20)]
    data = ng.load(rows)
    assert (len(data.aspects), data.raters, data.metrics) == (1, ["1", "2"], [])


@pytest.mark.parametrize(
    ("columns", "aspect"),
    [
        (["human_avg"], "human_avg"),
        (["human_mean_coherence"], "coherence"),
        (["annotations.tone.individual_human_scores", "annotations.tone.mean_human"], "tone"),
        (["annotations.tone.Rating"], "tone"),
    ],
)
def test_an_aspect_is_called_by_what_was_rated_and_not_by_how(columns: list[str], aspect: str) -> None:
    rows = [{"id": i, "bleu": i / 20} | {c: [i % 5, 3] if "indiv" in c else i % 5 for c in columns} for i in range(20)]
    assert ng.load(rows).aspects == [aspect]


def test_annotations_that_do_not_say_whose_they_are_are_a_guess_and_said_in_one_line() -> None:
    rows = [{"id": i, "bleu": i / 20, "annotations.tone.Rating": i % 5, "annotations.wit.Rating": 1} for i in range(20)]
    (line,) = [note for note in ng.load(rows).notes if "human ratings" in note]
    assert line.endswith("if they are metrics: metrics=['+annotations.tone.Rating', '+annotations.wit.Rating']")
