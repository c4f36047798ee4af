"""Verdicts, agreement, gate and the first screen where the aspect has classes or sets of labels."""

import random

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

import nlgauge as ng
from nlgauge.analyses.verdicts.class_verdicts import largest_confusions
from nlgauge.errors import NameUnknown

WORDS = ("bug", "feature", "question", "spam")


def rows_of(n=120, right=0.75, seed=1):
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        human = rng.choice(WORDS)
        other = "bug" if human == "spam" else rng.choice(WORDS)
        rows.append(
            {
                "id": f"q{i}",
                "conversation": f"c{i // 3}",
                "human_label": human,
                "good_judge": human if rng.random() < right else other,
                "constant": "bug",
            }
        )
    return rows


def figures(table, metric):
    return {r["measure"]: r for r in table if r["metric"] == metric}


def test_figures_equal_scikit_learn_and_the_constant_judge_has_no_credit():
    rows = rows_of()
    table = ng.verdicts(ng.load(rows, name="mine"))
    good, constant = figures(table, "good_judge"), figures(table, "constant")
    z, x = ([r[c] for r in rows] for c in ("human_label", "good_judge"))
    assert good["kappa"]["value"] == pytest.approx(cohen_kappa_score(z, x))
    assert good["macro_f1"]["value"] == pytest.approx(f1_score(z, x, average="macro"))
    assert good["recall:spam"]["value"] == pytest.approx(
        np.mean([b == "spam" for a, b in zip(z, x, strict=True) if a == "spam"])
    )
    assert good["gain_over_majority"]["low"] > 0 and constant["kappa"]["value"] == 0
    assert constant["gain_over_majority"]["low"] <= 0
    assert good["kappa"]["may_be_best"] and not constant["kappa"]["may_be_best"]
    assert largest_confusions(table.facts, "good_judge")[0][:2] == ("spam", "bug")
    assert "good_judge agrees best" in table.answers[0]


def test_rows_of_one_conversation_are_one_cluster():
    rows = [{**r, "id": f"{r['id']}-{k}", "conversation": r["id"]} for r in rows_of(40) for k in range(5)]
    once = figures(
        ng.verdicts([{k: v for k, v in r.items() if k != "conversation"} for r in rows_of(40)]), "good_judge"
    )
    again = figures(ng.verdicts(rows), "good_judge")
    for measure in ("kappa", "agreement", "macro_recall"):
        width, width_again = (f[measure]["high"] - f[measure]["low"] for f in (once, again))
        assert width_again > 0.9 * width, measure


def test_gate_holds_limits_on_kappa_macro_f1_and_the_recall_of_a_class():
    data = ng.load(rows_of(300, 0.9), name="mine")
    passed = ng.gate(data, metrics="good_judge", min="kappa=.6,macro-f1=.6,recall:bug=.6")
    assert passed.facts["verdict"] == "passed" and len(passed.rows) == 3
    assert ng.gate(data, metrics="constant", min="kappa=.2").facts["verdict"] == "failed"
    few = ng.load(rows_of(9), name="mine")
    assert ng.gate(few, metrics="good_judge", min="kappa=.2").facts["verdict"] == "undecided"
    with pytest.raises(NameUnknown, match="recall:unsafe"):
        ng.gate(data, min="recal:bug=.5")


def test_a_class_that_does_not_exist_passes_no_gate():
    data = ng.load(rows_of(60), name="mine")
    with pytest.raises(ng.NlgaugeError):
        ng.gate(data, metrics="good_judge", min="recall:nonsense=.1")


def test_the_first_screen_and_the_page_answer(tmp_path):
    made = ng.report(rows_of(), out=tmp_path / "page.html", quick=True)
    (answer,) = made.answer.aspects
    assert answer.measure == "kappa" and answer.best.metric == "good_judge" and answer.chance == 0
    assert answer.best.figures["majority-class baseline"].value < 0.4
    page = made.path.read_text()
    assert "Classes: agreement and confusion matrix" in page and "human labels" in page


def test_sets_of_labels_have_masi_and_micro_f1():
    rng = random.Random(2)
    rows = []
    for i in range(80):
        human = sorted(rng.sample(WORDS, rng.randint(0, 2)))
        rows.append({"id": i, "human_labels": human, "judge_labels": human if rng.random() < 0.8 else ["bug"]})
    found = figures(ng.verdicts(ng.load(rows, name="mine")), "judge_labels")
    assert {"alpha_masi", "alpha_jaccard", "micro_f1", "macro_f1", "recall:bug"} <= set(found)
    z, x = (np.array([[w in r[c] for w in WORDS] for r in rows]) for c in ("human_labels", "judge_labels"))
    assert found["micro_f1"]["value"] == pytest.approx(f1_score(z, x, average="micro"))
    assert found["macro_f1"]["value"] == pytest.approx(f1_score(z, x, average="macro"))
    assert found["alpha_masi"]["low"] < found["alpha_masi"]["value"] < found["alpha_masi"]["high"]


def test_annotators_of_classes_have_alpha_ac1_and_a_ceiling():
    rng = random.Random(3)
    rows = []
    for i in range(60):
        truth = rng.choice(WORDS)
        said = [truth if rng.random() < 0.8 else rng.choice(WORDS) for _ in range(4)]
        rows.append({"id": i, **{f"annotator_{k}": w for k, w in enumerate(said[:3])}, "judge": said[3]})
    data = ng.load(rows, name="mine")
    table = ng.agreement(data)
    values = {r["coefficient"]: r for r in table}
    assert values["Krippendorff's alpha (nominal)"]["low"] < values["Krippendorff's alpha (nominal)"]["value"]
    assert {"Gwet's AC1", "agreement of two annotators", "Fleiss' kappa"} <= set(values)
    people = figures(ng.verdicts(data), "human")
    assert people["human_alpha"]["value"] == pytest.approx(values["Krippendorff's alpha (nominal)"]["value"])


def test_a_limit_that_no_aspect_can_have_is_an_error_and_not_passed_over():
    data = ng.load(rows_of(60), name="mine")
    with pytest.raises(ng.NlgaugeError, match="class 'nonsense' not found"):
        ng.gate(data, metrics="good_judge", min="kappa=.1,recall:nonsense=.1")
    with pytest.raises(ng.NlgaugeError, match="fail_recall"):
        ng.gate(data, metrics="good_judge", min="kappa=.1,tnr=.1")


def test_the_screen_of_classes_names_the_majority_class_as_baseline() -> None:
    classes = ("billing", "bug", "feature")
    rows = [
        {"id": i, "human_label": classes[i % 3], "judge_label": classes[i % 3 if i % 5 else (i + 1) % 3]}
        for i in range(60)
    ]
    lines = ng.report(rows, quick=True).lines
    assert any(line.startswith("majority class") and "(baseline)" in line for line in lines), lines
    assert not any('always ""' in line for line in lines)
