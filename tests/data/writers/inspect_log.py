"""What wrote the samples inspect.eval (and inspect.json): Inspect AI with its own mock model, offline."""

import json
import sys
from itertools import count
from pathlib import Path

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, includes, mean, model_graded_qa, precomputed_scores, scorer

FACTS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Japan": "Tokyo"}
SAID = {
    "France": ["Paris.", "It is Paris."],
    "Italy": ["Rome, I think.", "Milan"],
    "Spain": ["Barcelona", "Madrid"],
    "Japan": ["Tokyo", "Kyoto"],
}
GRADES = {
    "Paris.": "C",
    "It is Paris.": "C",
    "Rome, I think.": "P",
    "Milan": "I",
    "Barcelona": "I",
    "Madrid": "C",
    "Tokyo": "C",
    "Kyoto": "no grade",
}


def spoken(model, text):
    output = ModelOutput.from_content(model, text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else the mock counts tokens, online
    return output


asked = {}


def answer(input, tools, tool_choice, config):
    country = next(c for c in FACTS if c in input[-1].text)
    return spoken("model", SAID[country][next(asked.setdefault(country, count()))])


def grade(input, tools, tool_choice, config):
    said = input[-1].text.partition("Answer: ")[2].partition("\n")[0]
    return spoken("judge", f"GRADE: {GRADES[said]}")


@scorer(metrics={"length": [mean()], "polite": [mean()]})
def rubric():
    async def score(state, target):
        text = state.output.completion
        return Score(value={"length": len(text), "polite": text.endswith(".")})

    return score


@scorer(metrics=[accuracy()])
def human_grade():
    return precomputed_scores("people.json")


people = [
    {"id": "France", "value": "C"},
    {"id": "Italy", "epoch": 1, "value": "P"},
    {"id": "Italy", "epoch": 2, "value": "I"},
    {"id": "Spain", "epoch": 1, "value": "I"},
]
Path("people.json").write_text(json.dumps(people))
n, kind = int(sys.argv[1]), sys.argv[2]
samples = [Sample(id=c, input=f"What is the capital of {c}?", target=t) for c, t in list(FACTS.items())[:n]]
task = Task(
    name="capitals",
    dataset=samples,
    epochs=int(sys.argv[3]),
    scorer=[
        includes(),
        model_graded_qa(
            template="{question} Expected: {criterion}\nAnswer: {answer}\n{instructions}", instructions="C, P or I?"
        ),
        rubric(),
        human_grade(),
    ],
)
log = evaluate(
    task,
    model=get_model("mockllm/model", custom_outputs=answer),
    model_roles={"grader": get_model("mockllm/judge", custom_outputs=grade)},
    log_dir="logs",
    log_format=kind,
    display="none",
    max_samples=1,
)[0]
print(log.status, log.location)
