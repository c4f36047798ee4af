"""What wrote the helm/ sample: HELM's own classes, filled here and written as its runner writes them (crfm-helm 0.5.16)."""

import json
from pathlib import Path

from helm.benchmark.adaptation.adapter_spec import AdapterSpec
from helm.benchmark.adaptation.request_state import RequestState
from helm.benchmark.adaptation.scenario_state import ScenarioState
from helm.benchmark.metrics.metric import PerInstanceStats
from helm.benchmark.metrics.metric_name import MetricName
from helm.benchmark.metrics.statistic import Stat
from helm.benchmark.scenarios.scenario import CORRECT_TAG, Input, Instance, Output, Reference
from helm.common.general import asdict_without_nones
from helm.common.request import GeneratedOutput, Request, RequestResult
from stations import SYSTEMS, outputs


def stat(name, value):
    return Stat(MetricName(name, split="test")).add(value)


for system in SYSTEMS:
    folder = Path("helm") / system  # HELM calls it as `name` below
    folder.mkdir(parents=True, exist_ok=True)
    adapter = AdapterSpec(method="generation", model=f"lab/{system}", model_deployment=f"lab/{system}")
    states, stats = [], []
    for o in outputs():
        if o["system"] != system:
            continue
        reference = Reference(Output(text=o["expected"]), tags=[CORRECT_TAG])
        instance = Instance(Input(text=o["question"]), references=[reference], id=o["id"], split="test")
        request = Request(model=f"lab/{system}", model_deployment=f"lab/{system}", prompt=o["question"])
        said = GeneratedOutput(text=o["answer"], logprob=0.0, tokens=[])
        result = RequestResult(success=True, embedding=[], completions=[said], cached=False)
        states.append(
            RequestState(
                instance=instance,
                reference_index=None,
                request_mode=None,
                train_trial_index=0,
                output_mapping=None,
                request=request,
                result=result,
                num_train_instances=0,
                prompt_truncated=False,
            )
        )
        stats.append(
            PerInstanceStats(
                o["id"],
                None,
                0,
                [
                    stat("f1_score", o["similarity"]),
                    stat("annotation_gpt_score", 1.0 + 4 * o["judge"]),
                    stat("num_output_tokens", 9),
                    stat("inference_runtime", 0.2),
                ],
            )
        )
    state = ScenarioState(adapter, states)
    (folder / "scenario_state.json").write_text(json.dumps(asdict_without_nones(state)) + "\n")
    (folder / "per_instance_stats.json").write_text(json.dumps([asdict_without_nones(s) for s in stats]) + "\n")
    (folder / "run_spec.json").write_text(
        json.dumps({"name": f"stations:subject=trains,model=lab_{system}", "groups": ["stations"]}) + "\n"
    )
