"""What wrote alpaca_eval.json: alpaca_eval.evaluate with a completion function of one's own, offline."""

import re
from pathlib import Path

import alpaca_eval.annotators.base
from alpaca_eval import evaluate


def completions(prompts, **kwargs):
    """The longer output is better; equal length: no answer that can be parsed."""
    said = []
    for prompt in prompts:
        a, b = (len(re.search(rf"Output \({s}\): (.*)", prompt)[1]) for s in "ab")
        said.append("Output (a)" if a > b else "Output (b)" if b > a else "neither")
    return {"completions": said, "price_per_example": [0.0] * len(said), "time_per_example": [0.0] * len(said)}


def outputs(name, said):
    return [
        {"instruction": f"What is the capital of {c}?", "output": o, "generator": name, "dataset": "capitals"}
        for c, o in said.items()
    ]


alpaca_eval.annotators.base.get_fn_completions = lambda name: completions  # instead of a call to a paid model
Path("my_gpt4_judge").mkdir(exist_ok=True)
CONFIG = r"""my_gpt4_judge:
  prompt_template: "PROMPT"
  fn_completions: openai_completions
  completions_kwargs: {model_name: gpt-4}
  completion_parser_kwargs: {outputs_to_match: {1: 'Output \(a\)', 2: 'Output \(b\)'}}
  batch_size: 1
"""
config = Path("my_gpt4_judge/configs.yaml").absolute()
config.write_text(CONFIG.replace("PROMPT", str(Path("prompt.txt").absolute())))
evaluate(
    model_outputs=outputs(
        "model-a", {"France": "Paris.", "Italy": "Rome, I think.", "Spain": "Barcelona", "Japan": "Tokyo"}
    ),
    reference_outputs=outputs(
        "model-b", {"France": "It is Paris.", "Italy": "Rome", "Spain": "Madrid", "Japan": "Kyoto"}
    ),
    annotators_config=str(config),
    output_path="results",
    precomputed_leaderboard=None,
    is_overwrite_leaderboard=True,
    caching_path=None,
    fn_metric="get_winrate",
    sort_by="win_rate",
    metric_kwargs={},
)
