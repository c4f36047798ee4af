"""AltTest: `human_annotations.json` and `llm_annotations.json`, from annotator or model to instance to label."""

from __future__ import annotations

import re
from pathlib import Path

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import HUMAN, MODEL, Log, LogReader
from nlgauge.data.records import Record, read_object
from nlgauge.registry import register

HUMANS, PROMPTS = "human_annotations.json", "prompts.json"
# Also files of several data sets in one folder: `wax_human.json` and `wax_llm.json`.
HUMAN_FILE = re.compile(r"^(?:.*[-_.])?human(?:_annotations|_labels)?\.json(?:\.gz)?$", re.I)
NESTED = re.compile(r'\s*\{\s*"[^"]*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:["\d-]|null|true|false)')


@register("reader", "alt-test")
class AltTestReader(LogReader):
    """AltTest annotations (a folder, or its human_annotations.json): labels by annotators and by language models."""

    takes = Takes(
        "`human_annotations.json` or its folder, or `NAME_human.json`; `llm_annotations.json` (`NAME_llm.json`) and "
        "`prompts.json` (texts) are optional",
        human="the labels of every annotator",
        scores="the labels of every language model",
        tested="files in the layout of the AltTest repository (it is not a package)",
    )
    tool = "AltTest"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        if peek.is_folder:
            return (peek.path / HUMANS).is_file()
        return bool(HUMAN_FILE.match(peek.path.name) and NESTED.match(peek.text))

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        humans = path / HUMANS if path.is_dir() else path
        models = humans.with_name(re.sub(r"human(?!.*human)", "llm", humans.name, flags=re.I))
        prompt_file = humans.with_name(PROMPTS)
        prompts = read_object(prompt_file, encoding) if prompt_file.is_file() else {}
        if not models.is_file():
            log.notes.append(f"no {models.name} next to {humans.name}: there are no labels by models")
        for file, by in ((humans, HUMAN), (models, MODEL)):
            if by == HUMAN or file.is_file():
                whole = Record(str(file), 0, read_object(file, encoding))
                for who in whole.values:
                    for instance, label in whole.want(who, dict).items():
                        prompt = prompts.get(instance)
                        prompt = prompt if isinstance(prompt, dict) else {}
                        extra = {"text_id": prompt.get("text_id")}
                        row = log.output("system", instance, extra=extra, source=prompt.get("str_prompt"))
                        log.judged(row, "label", label, by, who)
