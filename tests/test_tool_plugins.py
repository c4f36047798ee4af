"""Plug-ins of other tools: the figures of `nlgauge analyze verdicts`, inside Inspect 0.3.285 and MLflow 3.17.2 where they are installed."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from nlgauge.plugins._agreement import judge_figures


def labels(n: int = 90) -> list[tuple[str, int, int]]:
    """Document, human label and verdict; three outputs of a document are alike."""
    draw = random.Random(3)
    rows = []
    for k in range(n):
        if k % 3 == 0:
            human, right = int(draw.random() < 0.6), draw.random() < 0.8
        rows.append((f"d{k // 3}", human, human if right else 1 - human))
    return rows


def test_the_figures_are_those_of_verdicts_and_documents_are_clusters() -> None:
    documents, human, judge = zip(*labels(), strict=True)
    alone = judge_figures(judge, human, [str(k) for k in range(90)])
    rows = [{"input": k, "human_label": h, "judge": j} for k, (_, h, j) in enumerate(labels())]
    table = ng.verdicts(ng.load(rows, human=["human_label"], metrics=["judge"]))
    theirs = {row["measure"]: row for row in table.rows}
    for measure, name in (("kappa", "kappa"), ("fail_recall", "recall_on_failures"), ("agreement", "agreement")):
        assert alone[name] == theirs[measure]["value"]
        assert alone[f"{name}_low"] == theirs[measure]["low"]
    clustered = judge_figures(judge, human, documents)
    assert clustered["kappa"] == pytest.approx(alone["kappa"])
    width = {n: f["agreement_high"] - f["agreement_low"] for n, f in (("alone", alone), ("clustered", clustered))}
    assert width["clustered"] > 1.3 * width["alone"]


def test_missing_labels_are_left_out_and_no_labels_give_no_figure() -> None:
    assert judge_figures([1, 0, None], [None, 0, 1], ["a", "b", "c"])["n"] == 1
    figures = judge_figures([1, 0], [None, None], ["a", "b"])
    assert figures["n"] == 0 and math.isnan(figures["kappa"])


def test_the_metric_of_inspect_stands_in_its_log(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score, scorer
    from inspect_ai.solver import solver

    from nlgauge.plugins.inspect_ai import judge_agreement

    @solver
    def fixed() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output = ModelOutput.from_content("m", "x")
            return state

        return solve

    @scorer(metrics=[judge_agreement(cluster="doc")])
    def my_judge() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return Score(value="C" if state.metadata["verdict"] else "I")

        return score

    samples = [
        Sample(input="q", target="x", id=k, metadata={"doc": d, "human_label": h, "verdict": j})
        for k, (d, h, j) in enumerate(labels())
    ]
    task = Task(dataset=samples, solver=fixed(), scorer=my_judge(), epochs=2)
    log = eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")[0]
    assert log.status == "success" and log.results
    theirs = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    documents, human, judge = zip(*labels(), strict=True)
    assert theirs == pytest.approx(judge_figures(judge, human, documents))


def test_the_metric_of_mlflow_is_in_the_results_of_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow.models")
    pandas = pytest.importorskip("pandas")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    from nlgauge.plugins.mlflow import judge_agreement

    frame = pandas.DataFrame(labels(), columns=["doc", "human", "judge"])
    frame["judge"] = frame["judge"].map({0: "fail", 1: "pass"})
    made = mlflow.evaluate(
        data=frame, predictions="judge", targets="human", extra_metrics=[judge_agreement("doc")], evaluators="default"
    )
    documents, human, judge = zip(*labels(), strict=True)
    wanted = {f"judge_agreement/{name}": value for name, value in judge_figures(judge, human, documents).items()}
    assert made.metrics == pytest.approx(wanted)
