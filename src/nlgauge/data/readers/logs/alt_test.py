"""AltTest: `human_annotations.json` and `llm_annotations.json`, from annotator or model to instance to label."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import HUMAN, MODEL, Log, LogReader, text_of
from nlgauge.data.records import Record, read_object
from nlgauge.registry import register

HUMANS, MODELS, PROMPTS = "human_annotations.json", "llm_annotations.json", "prompts.json"


@register("reader", "alt-test")
class AltTestReader(LogReader):
    """AltTest annotations (a folder, or its human_annotations.json): labels by annotators and by language models."""

    takes = Takes(
        "`human_annotations.json`, or its folder; `llm_annotations.json` and `prompts.json` (texts) are optional",
        people="the labels of every annotator",
        scores="the labels of every language model",
        tested="files in the layout of the AltTest repository (it is not a package)",
    )
    tool = "AltTest"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        return (peek.path / HUMANS).is_file() if peek.is_folder else peek.path.name == HUMANS

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        folder = path if path.is_dir() else path.parent
        prompts = read_object(folder / PROMPTS, encoding) if (folder / PROMPTS).is_file() else {}
        if not (folder / MODELS).is_file():
            log.notes.append(f"no {MODELS} next to {HUMANS}: there are no labels by models")
        for name, by in ((HUMANS, HUMAN), (MODELS, MODEL)):
            if by == HUMAN or (folder / name).is_file():
                whole = Record(str(folder / name), 0, read_object(folder / name, encoding))
                for who in whole.values:
                    for instance, label in whole.want(who, dict).items():
                        prompt = prompts.get(instance)
                        prompt = prompt if isinstance(prompt, dict) else {}
                        row = log.output(
                            "system",
                            instance,
                            extra={"text_id": prompt.get("text_id")},
                            source=text_of(prompt.get("str_prompt")),
                        )
                        log.judged(row, "label", label, by, who)
