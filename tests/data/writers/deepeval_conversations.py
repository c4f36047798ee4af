"""What wrote deepeval_conversations.json: DeepEval's evaluate() on two conversations, with a metric that fails on one."""

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseConversationalMetric
from deepeval.test_case import ConversationalTestCase, Turn


class Turns(BaseConversationalMetric):
    threshold = 1
    async_mode = False
    evaluation_model = None
    reason = None

    def measure(self, case, *args, **kwargs):
        if case.scenario == "Fail":
            raise ValueError("boom")
        self.score, self.success = len(case.turns), True
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return True

    @property
    def __name__(self):
        return "Turns"


def talk(reply):
    return [Turn(role="user", content="Hi"), Turn(role="assistant", content=reply)]


cases = [
    ConversationalTestCase(name="c1", scenario="Small talk", expected_outcome="nice", turns=talk("Yes?")),
    ConversationalTestCase(name="c2", scenario="Fail", turns=talk("No")),
]
evaluate(
    cases,
    [Turns()],
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    error_config=ErrorConfig(ignore_errors=True),
)
