"""A judge's task: a small YAML file next to its prompt files, with the aspects and the texts that are shown.

    task: summaries of news articles
    output: Summary                       # name of the judged text
    shows: {source: Article}              # other texts shown, with their names: source, context, references, control
    aspects:
      coherence: how well the sentences build one clear whole …
    scale: 1-5                            # perhaps also mode, n, temperature, model, base_url, system, max_tokens,
                                          # prompt and heading
    models: {GPT4o: gpt-4o}               # settings that are run by name: `T=1_1_10` with the user's own model,
    settings:                             # `GPT4o_T=1_1_10` with the model named here
      T=1_1_10: {scale: 1-10, n: 10, temperature: 1}
    like: gao2025                         # prompt, heading, models and settings of a shipped task

Shipped tasks are in `library/`; a user's own is named by its path. It may come from a stranger: a prompt is read only
from the task's own folder and only if it is a template, and nothing is sent to a `base_url` that the user has not
confirmed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from nlgauge.data.files import read_text
from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.registry import did_you_mean

LIBRARY = Path(__file__).with_name("library")
RUBRIC_MODES = ("rubric", "item")  # all items of a rubric in one request, or each by itself
MODES = ("analysis", "rating", "logprobs", "pairwise", *RUBRIC_MODES)
SHOWN = ("source", "context", "references", "control")
LARGEST = 1 << 20  # maximum bytes of a prompt
LISTED = ("aspects", "shows", "models", "settings")
HEADING = "## {name}"  # above each text that is shown
SETTING_TYPES: dict[str, type] = {"scale": str, "n": int, "temperature": float, "mode": str, "fill": str}
HOLE = re.compile(r"\{(task|scale|aspect|definition|example|output|low|high|code)\}")


@dataclass(frozen=True)
class Setting:
    """Options of a judge that override those of the task. Empty: as in the task."""

    name: str = ""
    model: str = ""
    scale: str = ""
    n: int = 0
    temperature: float = -1.0
    mode: str = ""
    fill: str = ""


@dataclass(frozen=True)
class Task:
    """A task as its YAML file states it. `prompts`: templates in place of the shipped ones, by mode."""

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
    heading: str = HEADING
    models: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Setting] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)

    def prompt(self, mode: str) -> str:
        """Return the template of a mode: the task's own, else the shipped one."""
        shipped_name = "rubric" if mode in RUBRIC_MODES else mode
        return self.prompts.get(mode) or read_text(LIBRARY / "prompts" / f"{shipped_name}.txt")

    def aspect(self, name: str = "") -> str:
        """Return the aspect of that name; without a name the only one there is."""
        if not name and len(self.aspects) == 1:
            return next(iter(self.aspects))
        lower = {a.lower(): a for a in self.aspects}
        if name.lower() in lower:
            return lower[name.lower()]
        result = f"no aspect '{name}'.{did_you_mean(name, self.aspects)}" if name else "which aspect?"
        raise NameUnknown(f"judge '{self.name}': {result} Expected one of {', '.join(self.aspects)}.")

    def named_settings(self) -> list[str]:
        """Return each setting with each of the task's models; without models the settings alone."""
        alone = list(self.settings)
        return [f"{model}_{name}" for model in self.models for name in alone] if self.models else alone

    def setting(self, name: str) -> Setting:
        """Return `GPT4o_T=1_1_10`, or `T=1_1_10` with the model left to the user."""
        model, _, rest = name.partition("_")
        if name in self.settings:
            return self.settings[name]
        if model in self.models and rest in self.settings:
            return replace(self.settings[rest], model=self.models[model])
        if not self.settings:
            raise NameUnknown(f"judge '{self.name}' has no settings; `nlgauge list judges` says which have.")
        available = [*self.named_settings(), *self.settings]
        raise NameUnknown(
            f"judge '{self.name}': no setting '{name}'.{did_you_mean(name, available)} "
            f"`nlgauge list judges {self.name}` "
            "shows them."
        )


@dataclass(frozen=True)
class Prompt:
    """A prompt without its code: where the code is inserted, and the span of the judged texts."""

    text: str
    code_places: tuple[int, ...] = ()
    shown: tuple[int, int] = (0, 0)


def filled(template: str, **texts: str) -> Prompt:
    """Return the template with its fields filled, once: a text that contains `{scale}` or `{code}` keeps it.

    >>> filled("Rate {output} from {scale}.", output="the {scale}", scale="1-5").text
    'Rate the {scale} from 1-5.'
    >>> filled("{example} RATING{code}: n", example="a {code}")
    Prompt(text='a {code} RATING: n', code_places=(15,), shown=(0, 8))
    """
    pieces, length, end = list[str](), 0, 0
    places, shown = list[int](), (0, 0)
    for hole in HOLE.finditer(template):
        before = template[end : hole.start()]
        value = "" if hole[1] == "code" else texts.get(hole[1], hole[0])
        length += len(before)
        if hole[1] == "code":
            places.append(length)
        elif hole[1] == "example":
            shown = length, length + len(value)
        pieces += [before, value]
        length, end = length + len(value), hole.end()
    return Prompt("".join([*pieces, template[end:]]), tuple(places), shown)


def shipped() -> list[str]:
    """Return the names of the tasks inside the package."""
    return sorted(path.stem for path in LIBRARY.glob("*.yaml"))


def load_task(name: str) -> Task:
    """Read a shipped task by name, or a user's task by path."""
    try:
        path = Path(name).expanduser()
    except (RuntimeError, ValueError) as error:  # ~nobody
        raise NameUnknown(f"no judge '{name}': {error}") from None
    if name in shipped():
        path = LIBRARY / f"{name}.yaml"
    elif path.suffix not in (".yaml", ".yml"):
        raise NameUnknown(
            f"no judge '{name}'.{did_you_mean(name, shipped())} Expected one of {', '.join(shipped())}; "
            "your own is named by the path of its .yaml file."
        )
    return _checked(name, path, _parsed(path))


def _parsed(path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise NeedsMissing("judges need the extra 'judges': pip install \"nlgauge[judges]\"") from None
    try:
        result = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise DataError(f"{path}{where}: not YAML ({getattr(error, 'problem', error)}).") from None
    except (ValueError, RecursionError, OverflowError) as error:  # an invalid date, or nesting that is too deep
        raise DataError(f"{path}: not YAML that can be read ({error}).") from None
    if not isinstance(result, dict):
        raise DataError(f"{path}: found {type(result).__name__}, expected `task:`, `aspects:` and so on.")
    return result


def _checked(name: str, path: Path, said: dict[str, Any]) -> Task:
    available = [f.name for f in fields(Task) if f.name not in ("name", "prompts")] + ["prompt", "like"]
    for key in said:
        if key not in available:
            raise DataError(
                f"{path}: no setting '{key}'.{did_you_mean(str(key), available)} "
                f"Expected one of {', '.join(available)}."
            )
    for key, kind in (("task", str), ("aspects", dict)):
        if not isinstance(said.get(key), kind) or not said[key]:
            raise DataError(
                f"{path}: `{key}:` is missing or not a {'text' if kind is str else 'list of name: definition'}."
            )
    _check_plain(path, said)
    for part in said.get("shows") or {}:
        if part not in SHOWN:
            raise DataError(f"{path}: shows '{part}'; a judge can be shown {', '.join(SHOWN)}.")
    mode = str(said.get("mode", "analysis"))
    if mode not in MODES:
        raise DataError(f"{path}: mode '{mode}'.{did_you_mean(mode, MODES)} Expected one of {', '.join(MODES)}.")
    like = _like(path, str(said["like"])) if said.get("like") else None
    prompts = {mode: template(path, str(said["prompt"]))} if said.get("prompt") else like.prompts if like else {}
    plain = {k: v for k, v in said.items() if k not in ("prompt", "aspects", "shows", "models", "settings", "like")}
    if like:
        plain = {"heading": like.heading, "max_tokens": like.max_tokens} | plain
    kinds: dict[str, Any] = {f.name: {"int": int, "float": float}.get(str(f.type), str) for f in fields(Task)}
    try:
        return Task(
            name=name,
            aspects={str(k): str(v).strip() for k, v in said["aspects"].items()},
            shows={str(k): str(v) for k, v in (said.get("shows") or {}).items()},
            models={str(k): str(v) for k, v in (said.get("models") or (like.models if like else {})).items()},
            settings=_settings(path, said["settings"]) if said.get("settings") else like.settings if like else {},
            prompts=prompts,
            **{k: kinds[k](v) for k, v in plain.items()},
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: {error}.") from None


def _check_plain(path: Path, said: dict[str, Any]) -> None:
    """Check that values are texts and numbers, one level deep. YAML aliases allow exponential size in nested values."""
    for key, value in said.items():
        parts = list(value.values()) if key in LISTED and isinstance(value, dict) else [value]
        if key == "settings" and isinstance(value, dict):
            parts = [p for part in parts for p in (part.values() if isinstance(part, dict) else [part])]
        if any(isinstance(part, list | dict | set | tuple) for part in parts):
            raise DataError(f"{path}: `{key}:` found a list or a mapping, expected text or a number.")
    for key in ("shows", "models", "settings"):
        if said.get(key) and not isinstance(said[key], dict):
            raise DataError(f"{path}: `{key}:` is not a list of name: value.")


def _settings(path: Path, said: dict[str, Any]) -> dict[str, Setting]:
    results = {}
    for name, parts in said.items():
        if not isinstance(parts, dict) or not parts:
            raise DataError(f"{path}: setting '{name}' is empty; it may contain {', '.join(SETTING_TYPES)}.")
        for key in parts:
            if key not in SETTING_TYPES:
                hint = did_you_mean(str(key), list(SETTING_TYPES))
                raise DataError(
                    f"{path}: setting '{name}' has '{key}'.{hint} It may contain {', '.join(SETTING_TYPES)}."
                )
        try:
            results[str(name)] = Setting(str(name), **{k: SETTING_TYPES[k](v) for k, v in parts.items()})
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"{path}: setting '{name}': {error}.") from None
    return results


def _like(path: Path, name: str) -> Task:
    """Return the shipped task that a task extends; a file cannot name other files."""
    if name not in shipped():
        raise DataError(
            f"{path}: like '{name}'.{did_you_mean(name, shipped())} Expected one of {', '.join(shipped())}."
        )
    return load_task(name)


def template(task: Path, name: str) -> str:
    """Return the prompt of a task, from the task's own folder (links followed), with an {example}."""
    try:
        folder, path = task.parent.resolve(), (task.parent / name).resolve()
        if Path(name).is_absolute() or "\\" in name or not path.is_relative_to(folder):
            raise DataError(f"{task}: prompt '{name}' is not in the folder of the task; put it next to the task.")
        if path.exists() and (not path.is_file() or path.stat().st_size > LARGEST):
            raise DataError(f"{task}: prompt '{name}' is not a text file of at most {LARGEST >> 20} MiB.")
    except (OSError, ValueError, RuntimeError) as error:  # a link to itself, an invalid file name
        raise DataError(f"{task}: prompt '{name}' cannot be read ({error}).") from None
    text = read_text(path)
    if "{example}" not in text:
        raise DataError(
            f"{task}: prompt '{name}' is not a template: it must contain {{example}}, the place of the judged text."
        )
    return text
