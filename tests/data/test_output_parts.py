"""Parts of outputs (steps, turns, claims, rubric items): keys, clusters, and the analyses that need them."""

import json
import random

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.data.units import PART, PART_OF, PART_ORDER
from nlgauge.errors import NeedsMissing


def rows_of(outputs=20, systems=("a", "b"), seed=0, right=0.8):
    rng = random.Random(seed)
    rows = []
    for system in systems:
        for i in range(outputs):
            for step in range(1, 4):
                human = rng.random() < 0.7
                judge = human if rng.random() < right else not human
                rows.append(
                    {"system": system, "task_id": f"t{i}", "step": step, "human_label": int(human), "judge": int(judge)}
                )
    return rows


def test_parts_are_named_ordered_and_clustered():
    data = ng.load(rows_of(), name="mine")
    first = data.samples.row(0, named=True)
    assert (first["input"], first[PART_OF], first[PART], first[PART_ORDER]) == ("t0 / 1", "t0", "1", 1)
    panel = data.panel()
    assert len(panel.inputs) == 60 and set(panel.units) == {f"t{i}" for i in range(20)}
    assert any("parts of one output count as one cluster" in note for note in data.notes)


def test_parts_of_trials_belong_to_the_input():
    rows = [{**r, "epoch": e, "judge": (r["judge"] + e) % 2} for r in rows_of(8, ("a",)) for e in (1, 2)]
    data = ng.load(rows, name="mine")
    assert set(data.panel().units) == {f"t{i}" for i in range(8)}
    assert set(data.samples[PART_OF]) == {f"t{i}{end}" for i in range(8) for end in ("", " #2")}


def test_a_declared_column_names_parts_and_an_unknown_one_is_refused():
    rows = [{**r, "piece": f"p{r['step']}", "step": None} for r in rows_of(6, ("a",))]
    data = ng.load(rows, name="mine", part="piece", input="task_id", ignore="step")
    assert data.samples[PART].to_list()[:3] == ["p1", "p2", "p3"]
    with pytest.raises(ng.NlgaugeError):
        ng.load(rows, name="mine", part="nothing")


def test_first_failures_are_those_of_a_plain_loop():
    rows = rows_of()
    found = {r["measure"]: r for r in ng.analyze("steps", ng.load(rows, name="mine"))}
    outputs = {}
    for r in rows:
        outputs.setdefault((r["system"], r["task_id"]), []).append((r["human_label"], r["judge"]))
    firsts = [
        tuple(next((k for k, step in enumerate(steps) if not step[who]), None) for who in (0, 1))
        for steps in outputs.values()
    ]
    assert found["first_failure"]["value"] == pytest.approx(np.mean([a == b for a, b in firsts]))
    failed = [(a, b) for a, b in firsts if a is not None]
    assert found["first_failure_found"]["value"] == pytest.approx(np.mean([a == b for a, b in failed]))
    assert found["whole_recall"]["value"] == pytest.approx(np.mean([b is not None for _, b in failed]))
    shares = [np.mean([s[0] for s in steps]) for steps in outputs.values()]
    assert found["human_share"]["value"] == pytest.approx(np.mean(shares))


def test_whether_the_overall_verdict_follows_from_the_steps():
    rows = rows_of()
    whole = {}
    for r in rows:
        key = r["system"], r["task_id"]
        whole[key] = whole.get(key, 1) and r["human_label"]
    rows = [{**r, "human_overall": whole[r["system"], r["task_id"]]} for r in rows]
    data = ng.load(rows, name="mine")
    table = ng.analyze("steps", data, aspect="label", overall="overall")
    found = {(r["metric"], r["measure"]): r["value"] for r in table}
    assert found["human", "overall_follows"] == 1.0
    assert found["judge", "overall_agreement"] == found["judge", "whole_agreement"]


def test_outputs_without_parts_are_refused_with_what_is_needed():
    rows = [{"id": i, "human_label": i % 2, "judge": i % 3 == 0} for i in range(20)]
    for name in ("steps", "rubric"):
        with pytest.raises(NeedsMissing, match="judged in parts"):
            ng.analyze(name, ng.load(rows, name="mine"))


def test_rubric_totals_and_items_of_a_shared_rubric():
    rng = random.Random(1)
    rows = []
    for i in range(40):
        level = rng.random()
        for k in range(5):
            human = int(rng.random() < level)
            judge = 1 - human if k == 4 and rng.random() < 0.5 else human
            rows.append({"id": f"q{i}", "rubric_item": f"c{k}", "points": 2, "human_label": human, "judge": judge})
    data = ng.load(rows, name="mine")
    assert data.metrics == ["judge"]
    table = ng.analyze("rubric", data)
    top = next(r for r in table if r["measure"] == "item")
    assert top["item"] == "c4" and top["value"] == 1.0 and top["points"] == 2
    found = {r["measure"]: r for r in table if r["measure"] != "item"}
    assert 0.3 < found["cronbach_alpha"]["value"] < 1 and found["total_correlation"]["low"] > 0.5


# --- formats ---


def written(path, lines):
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


def test_a_rubric_in_the_layout_of_healthbench(tmp_path):
    items = [{"criterion": f"says {k}", "points": 5 - 4 * k, "tags": [], "criteria_met": k == 0} for k in range(3)]
    lines = [
        {
            "prompt_id": f"p{i}",
            "prompt": [{"role": "user", "content": f"q{i}"}],
            "completion": f"c{i}",
            "rubrics": items,
        }
        for i in range(4)
    ]
    data = ng.load(written(tmp_path / "graded.jsonl", lines))
    assert len(data) == 12 and data.metrics == ["criteria_met"] and data.samples["points"].to_list()[:3] == [5, 1, -3]
    meta = [
        {
            "prompt_id": f"p{i // 2}", "completion_id": f"c{i // 2}", "prompt": [{"role": "user", "content": "q"}],
            "completion": f"c{i // 2}", "rubric": f"r{i}", "binary_labels": [True, i % 2 == 0],
            "anonymized_physician_ids": ["x", "y"],
        }
        for i in range(6)
    ]  # fmt: skip
    data = ng.load(written(tmp_path / "meta.jsonl", meta))
    assert data.raters == ["x", "y"] and data.aspects == ["criteria_met"] and len(set(data.samples[PART_OF])) == 3


def test_judge_bench_classes_levels_and_steps(tmp_path):
    annotations = [
        {"metric": "kind", "category": "categorical", "labels_list": ["A", "B", "C"]},
        {"metric": "good", "category": "categorical", "labels_list": ["yes", "no"]},
        {"metric": "overall", "category": "graded", "worst": 1, "best": 5},
    ]
    instances = [
        {
            "id": i,
            "instance": f"Question {i // 3}\nGENERATED RESPONSE:\nsteps\nJUDGE: Step {i % 3}",
            "annotations": {
                "kind": {"majority_human": "A", "individual_human_scores": ["ABC"[i % 3], "A"]},
                "good": {"individual_human_scores": ["yes" if i % 2 else "no"] * 2},
                "overall": {"individual_human_scores": [1 + i % 5, 3]},
            },
        }
        for i in range(9)
    ]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({"dataset": "x", "annotations": annotations, "instances": instances}))
    data = ng.load(path)
    assert data.scales["kind"].names == ("A", "B", "C") and data.scales["overall"].kind == "ordinal"
    assert "good" not in data.scales and len(set(data.samples[PART_OF])) == 3 and not data.persons


def test_ragchecker_prefers_the_second_answer_above_zero(tmp_path):
    record = {
        "instance_id": "0", "dataset": "d", "query_id": "1", "query": "q", "gt_answer": "a",
        "model1": {"model_name": "m1", "response": "x"}, "model2": {"model_name": "m2", "response": "y"},
        "overall_label": "2", "correctness_label": "-1", "completeness_label": "0",
    }  # fmt: skip
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([record, {**record, "overall_label": "1"}]))
    votes = ng.load(path).comparisons
    assert dict(votes.select("aspect", "preferred").unique().iter_rows()) == {
        "overall": "second", "correctness": "first", "completeness": "tie",
    }  # fmt: skip
    assert votes["rater"].n_unique() == 2


def test_agent_reward_bench_by_annotator(tmp_path):
    path = tmp_path / "annotations.csv"
    path.write_text(
        "annotator_name,benchmark,task_id,model_name,exp_name,trajectory_success,trajectory_side_effect,"
        "trajectory_optimality,trajectory_looping\n"
        "A,web,t1,m,e1,Successful,No,4. Completely Optimal,No\n"
        "B,web,t1,m,e1,Unsure,Yes,3. Somewhat Optimal,No\n"
        "A,web,t2,m,e2,Unsuccessful,No,1. Complete Failure,Yes\n"
    )
    judged = tmp_path / "judged.csv"
    lines = path.read_text().splitlines()
    judged.write_text("\n".join([f"{lines[0]},gpt_success", *(f"{line},Successful" for line in lines[1:])]) + "\n")
    assert ng.load(judged).metric_aspects == {"success": "success"}
    data = ng.load(path)
    values = {(a, i, r): v for _, i, a, r, v in data.ratings.iter_rows()}
    assert values["success", "t1", "A"] == 1 and ("success", "t1", "B") not in values
    assert values["optimality", "t1", "B"] == 3 and any("1 judgments 'Unsure'" in n for n in data.notes)


@pytest.mark.parametrize(("name", "systems"), [("model_name", 2), ("agent_model", 2), ("policy", 1)])
def test_agents_of_other_column_names_are_not_merged(tmp_path, name, systems):
    path = tmp_path / "annotations.csv"
    rows = [f"A,t{t},{m},Successful" for t in (1, 2) for m in ("m1", "m2")]
    path.write_text("\n".join([f"annotator_name,task_id,{name},trajectory_success", *rows]) + "\n")
    data = ng.load(path)
    assert (len(data.systems), len(data)) == (systems, 2 * systems)
    assert any("one system" in note for note in data.notes) == (systems == 1)


def test_agreement_on_parts_counts_outputs_and_not_parts():
    rng = random.Random(5)
    rows = []
    for i in range(24):
        truth = rng.random() < 0.5
        flip = rng.random() < 0.2  # the whole output is rated otherwise by the second annotator
        for step in range(1, 6):
            both = int(truth), int(truth != flip)
            rows.append({"id": f"q{i}", "step": step, "annotator_1": both[0], "annotator_2": both[1], "judge": both[0]})
    data = ng.load(rows, name="mine")
    found = {r["coefficient"]: r for r in ng.agreement(data, level="nominal")}
    once = {
        r["coefficient"]: r
        for r in ng.agreement(ng.load([r for r in rows if r["step"] == 1], name="one", ignore="step"), level="nominal")
    }
    alpha, alone = found["Krippendorff's alpha (nominal)"], once["Krippendorff's alpha (nominal)"]
    assert alpha["n"] == 120 and alpha["high"] - alpha["low"] > 0.7 * (alone["high"] - alone["low"])
