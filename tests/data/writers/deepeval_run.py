"""What wrote deepeval.json: DeepEval's evaluate() with a model of its own kind that needs no network, and two custom
metrics.
"""

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import BaseMetric, GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams


class Judge(DeepEvalBaseLLM):
    def load_model(self):
        return self

    def generate(self, prompt, *args, **kwargs):
        good = "Paris" in prompt or "Rome" in prompt
        return f'{{"score": {9 if good else 2}, "reason": "as seen"}}'

    async def a_generate(self, prompt, *args, **kwargs):
        return self.generate(prompt)

    def get_model_name(self):
        return "my-judge"


class Length(BaseMetric):
    threshold = 5
    async_mode = False

    def measure(self, case, *args, **kwargs):
        self.score = len(case.actual_output)
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Length"


FACTS = {"France": ("Paris.", "Paris"), "Italy": ("Rome, I think.", "Rome"), "Spain": ("Barcelona", "Madrid")}
cases = [
    LLMTestCase(
        name=c,
        input=f"What is the capital of {c}?",
        actual_output=said,
        expected_output=right,
        retrieval_context=["An atlas."],
    )
    for c, (said, right) in FACTS.items()
]
judge = GEval(
    name="Correctness",
    evaluation_steps=["Is it the capital?"],
    model=Judge(),
    async_mode=False,
    evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
)
evaluate(
    cases,
    [judge, Length()],
    hyperparameters={"model": "model-a"},
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
)
