"""AltTest: `human_annotations.json` and `llm_annotations.json`, annotator or model -> instance -> label."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import MODEL, PERSON, Log, LogReader, text_of
from nlgauge.data.records import Record, read_object
from nlgauge.registry import register

PEOPLE, MODELS, PROMPTS = "human_annotations.json", "llm_annotations.json", "prompts.json"


@register("reader", "alt-test")
class AltTestReader(LogReader):
    """AltTest annotations (a folder, or its human_annotations.json): labels of annotators and of language models."""

    takes = Takes(
        "a folder with `human_annotations.json` and `llm_annotations.json`, or the former; `prompts.json` has "
        "the texts",
        people="the labels of every annotator",
        scores="the labels of every language model",
        tested="files in the layout of the AltTest repository (it is no package)",
    )
    tool = "AltTest"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        return (peek.path / PEOPLE).is_file() if peek.is_folder else peek.path.name == PEOPLE

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        folder = path if path.is_dir() else path.parent
        prompts = read_object(folder / PROMPTS, encoding) if (folder / PROMPTS).is_file() else {}
        if not (folder / MODELS).is_file():
            log.notes.append(f"{MODELS} is not beside {PEOPLE}: no model's labels are read")
        for name, by in ((PEOPLE, PERSON), (MODELS, MODEL)):
            if by == PERSON or (folder / name).is_file():
                whole = Record(str(folder / name), 0, read_object(folder / name, encoding))
                for who in whole.values:
                    for instance, label in whole.want(who, dict).items():
                        about = prompts.get(instance)
                        about = about if isinstance(about, dict) else {}
                        row = log.output(
                            "system",
                            instance,
                            extra={"text_id": about.get("text_id")},
                            source=text_of(about.get("str_prompt")),
                        )
                        log.judged(row, "label", label, by, who)
