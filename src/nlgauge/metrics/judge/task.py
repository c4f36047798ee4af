"""A judge's task: a small YAML beside its prompt files. What it judges, on which aspects, what the judge is shown.

    task: summaries of news articles
    output: Summary                       # what the text to be judged is called
    shows: {source: Article}              # what else is shown, field and name; fields: source, context, references,
    control aspects:
      coherence: how well the sentences build one clear whole …
    scale: 1-5                            # and perhaps mode, n, temperature, model, base_url, system, max_tokens,
    prompt

Shipped tasks are in `library/`; a user's own is named by its path. It may come from a stranger: a prompt is read only
from the task's own folder and only if it is a template, and nothing is sent to a `base_url` that the user has not
confirmed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.registry import did_you_mean

LIBRARY = Path(__file__).with_name("library")
MODES = ("analysis", "rating", "logprobs", "pairwise")
SHOWN = ("source", "context", "references", "control")
LARGEST = 1 << 20  # bytes of a prompt
HOLE = re.compile(r"\{(task|scale|aspect|definition|example|output|low|high)\}")


@dataclass(frozen=True)
class Task:
    """What a YAML says. `prompts` gives a mode another text than the shipped one."""

    name: str
    task: str
    aspects: dict[str, str]
    output: str = "Text"
    shows: dict[str, str] = field(default_factory=dict)
    scale: str = "1-5"
    mode: str = "analysis"
    n: int = 1
    temperature: float = 0.0
    max_tokens: int = 512
    model: str = ""
    base_url: str = ""
    system: str = ""
    prompts: dict[str, str] = field(default_factory=dict)

    def prompt(self, mode: str) -> str:
        return self.prompts.get(mode) or _text(LIBRARY / "prompts" / f"{mode}.txt")

    def aspect(self, name: str = "") -> str:
        """The aspect asked for; the only one when none is named."""
        if not name and len(self.aspects) == 1:
            return next(iter(self.aspects))
        lower = {a.lower(): a for a in self.aspects}
        if name.lower() in lower:
            return lower[name.lower()]
        found = f"no aspect '{name}'.{did_you_mean(name, self.aspects)}" if name else "which aspect?"
        raise NameUnknown(f"judge '{self.name}': {found} There are {', '.join(self.aspects)}.")


def filled(template: str, **texts: str) -> str:
    """The template with its holes filled, once: a text that contains `{scale}` keeps it.

    >>> filled("Rate {output} from {scale}.", output="the {scale}", scale="1-5")
    'Rate the {scale} from 1-5.'
    """
    return HOLE.sub(lambda hole: texts.get(hole[1], hole[0]), template)


def shipped() -> list[str]:
    return sorted(path.stem for path in LIBRARY.glob("*.yaml"))


def load_task(name: str) -> Task:
    """A shipped task by name, or a user's own by path."""
    try:
        path = Path(name).expanduser()
    except (RuntimeError, ValueError) as error:  # ~nobody
        raise NameUnknown(f"no judge '{name}': {error}") from None
    if name in shipped():
        path = LIBRARY / f"{name}.yaml"
    elif path.suffix not in (".yaml", ".yml"):
        raise NameUnknown(
            f"no judge '{name}'.{did_you_mean(name, shipped())} There are {', '.join(shipped())}; "
            "your own is named by the path of its .yaml file."
        )
    return _checked(name, path, _parsed(path))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise NeedsMissing("judges need the extra 'judges': pip install \"nlgauge[judges]\"") from None
    try:
        found = yaml.safe_load(_text(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise DataError(f"{path}{where}: not YAML ({getattr(error, 'problem', error)}).") from None
    except (ValueError, RecursionError, OverflowError) as error:  # a date that is none, nested too deeply
        raise DataError(f"{path}: not YAML that can be read ({error}).") from None
    if not isinstance(found, dict):
        raise DataError(f"{path}: found {type(found).__name__}, expected `task:`, `aspects:` and so on.")
    return found


def _checked(name: str, path: Path, said: dict[str, Any]) -> Task:
    known = [f.name for f in fields(Task) if f.name not in ("name", "prompts")] + ["prompt"]
    for key in said:
        if key not in known:
            raise DataError(f"{path}: no setting '{key}'.{did_you_mean(str(key), known)} There are {', '.join(known)}.")
    for key, kind in (("task", str), ("aspects", dict)):
        if not isinstance(said.get(key), kind) or not said[key]:
            raise DataError(
                f"{path}: `{key}:` is missing or no {'text' if kind is str else 'list of name: definition'}."
            )
    _check_plain(path, said)
    for part in said.get("shows") or {}:
        if part not in SHOWN:
            raise DataError(f"{path}: shows '{part}'; a judge can be shown {', '.join(SHOWN)}.")
    mode = str(said.get("mode", "analysis"))
    if mode not in MODES:
        raise DataError(f"{path}: mode '{mode}'.{did_you_mean(mode, MODES)} There are {', '.join(MODES)}.")
    prompts = {mode: template(path, str(said["prompt"]))} if said.get("prompt") else {}
    plain = {k: v for k, v in said.items() if k not in ("prompt", "aspects", "shows")}
    kinds: dict[str, Any] = {f.name: {"int": int, "float": float}.get(str(f.type), str) for f in fields(Task)}
    try:
        return Task(
            name=name,
            aspects={str(k): str(v).strip() for k, v in said["aspects"].items()},
            shows={str(k): str(v) for k, v in (said.get("shows") or {}).items()},
            prompts=prompts,
            **{k: kinds[k](v) for k, v in plain.items()},
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: {error}.") from None


def _check_plain(path: Path, said: dict[str, Any]) -> None:
    """Values are texts and numbers, one level deep. YAML can name a part and repeat it: nested, it has no bound."""
    for key, value in said.items():
        parts = value.values() if key in ("aspects", "shows") and isinstance(value, dict) else [value]
        if any(isinstance(part, list | dict | set | tuple) for part in parts):
            raise DataError(f"{path}: `{key}:` holds a list or a mapping where a text or number should be.")


def template(task: Path, name: str) -> str:
    """The prompt of a task, which is sent away: from the task's own folder, links followed, with an {example}."""
    try:
        folder, path = task.parent.resolve(), (task.parent / name).resolve()
        if Path(name).is_absolute() or "\\" in name or not path.is_relative_to(folder):
            raise DataError(f"{task}: prompt '{name}' is not in the folder of the task; put it beside the task.")
        if path.exists() and (not path.is_file() or path.stat().st_size > LARGEST):
            raise DataError(f"{task}: prompt '{name}' is no text file of at most {LARGEST >> 20} MiB.")
    except (OSError, ValueError, RuntimeError) as error:  # a link to itself, a name that no file has
        raise DataError(f"{task}: prompt '{name}' cannot be read ({error}).") from None
    text = _text(path)
    if "{example}" not in text:
        raise DataError(
            f"{task}: prompt '{name}' is no template: it must hold {{example}}, where the text to be judged stands."
        )
    return text


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from None
