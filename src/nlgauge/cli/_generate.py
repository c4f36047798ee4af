"""Commands generated from functions: the signature gives the options with their types, the docstring gives the help.

A parameter `human_pass_from: float | None = None` is the option `--human-pass-from`; its description in the docstring
is its help, in which names of parameters appear as options (`as_options`). Parameters before the `*` are arguments,
except `aspect` and `metrics`. Parameters that cannot be given on a command line, such as a progress bar, are filled in
by name (`PROVIDED`).
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, Unpack, get_args, get_origin, get_type_hints

import typer

from nlgauge.api.questions import ChoiceOptions, FileOptions, select
from nlgauge.cli._program import new_app
from nlgauge.cli._screen import FIGURES, bar, check_format, log_remarks, print_answer
from nlgauge.cli._values import from_text, mapping_text, number_list, split_names
from nlgauge.data.card import reading, summary
from nlgauge.docstrings import descriptions, sections, shell_examples
from nlgauge.errors import NlgaugeError, merge_refusals
from nlgauge.number import either
from nlgauge.session import Session
from nlgauge.table import FORMATS, command_output
from nlgauge.types import Bounds

SHORT = {"out": "-o", "format": "-f", "metrics": "-m", "judge": "-j"}
DATA, OWN, SHARED, OUT = "data", "Options", "Data selection", "Output"
LONGEST_REASON = 400  # characters
# In descriptions: a sentence that applies only to Python, and the name of a parameter, with or without a value.
PYTHON_ONLY = re.compile(r" ?\bIn Python, [^.]*(?:\.\w[^.]*)*\.(?=\s|$)")
PARAMETER = re.compile(
    r"`(?P<name>[a-z]\w*)(?:=(?P<value>[\w.+-]+))?`|(?<![\w`,('])(?P<bare>[a-z]\w*)=(?P<set>\w+)(?![\w,])"
)
SHARED_NAMES = get_type_hints(ChoiceOptions)
FORMAT = Annotated[
    str, typer.Option("--format", "-f", help=f"Output format: table, {', '.join(FORMATS)}.", rich_help_panel=OUT)
]
WRITE = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help=f"Output file. The extension sets the format: a table, or .{', .'.join(FIGURES)} for its figure.",
        rich_help_panel=OUT,
    ),
]
FIGURE = Annotated[
    str | None,
    typer.Option(
        "--figure",
        help="Custom figure for -o, given as my.py@ANALYSIS: the Python file with the function that draws the figure, "
        "and the analysis for which it is registered. The file is executed.",
        rich_help_panel=OUT,
    ),
]


def _confirm() -> Callable[[str], bool] | None:
    """Return the function that asks the user for confirmation; None if there is no terminal."""
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    return (lambda question: typer.confirm(question, err=True)) if asks else None


# Parameters that the command line fills in by itself.
PROVIDED: dict[str, Callable[[str], Any]] = {
    "progress": lambda format: bar,
    "tell": lambda format: lambda line: log_remarks([line] if line else []),
    "confirm": lambda format: _confirm(),
    "announce": lambda format: (
        lambda address: print_answer(
            command_output("explore", [{"address": address}], [f"open {address}", "Ctrl-C ends it."]), format
        )
    ),
    "command": lambda format: sys.argv[1:] or ["run"],
}


class Option:
    """One parameter of a function as an option or an argument of its command."""

    def __init__(self, parameter: inspect.Parameter, hint: Any, help: str, panel: str) -> None:
        self.name, self.panel = parameter.name, panel
        self.description = self.help = help  # for Python; `options_of` changes the help for the command line
        self.default = parameter.default
        self.argument = parameter.kind is parameter.POSITIONAL_OR_KEYWORD and self.name not in ("aspect", "metrics")
        self.type, self.convert, self.more = reading_of(hint)
        self.choices = self.more.get("metavar", "").strip("[]").split("|")

    def read(self, value: Any) -> Any:
        """Return the value for the function; an error names the option."""
        try:
            return self.convert(value)
        except NlgaugeError as error:
            raise NlgaugeError(f"{self.flags()[0].partition('/')[0]} {error}") from None

    @property
    def parameter(self) -> inspect.Parameter:
        """Return the parameter for typer; options that are not given keep the default of the function."""
        required = self.default is inspect.Parameter.empty
        default = None if required or self.default is None else self.default
        shown = isinstance(default, int | float | str | tuple) and default not in ("", False, ())
        help = self.help.replace("[", "\\[")
        help += f" Default: {written(default)}." if shown and default is not True and "Default:" not in help else ""
        if self.argument:
            kind: Any = typer.Argument(help=help, show_default=False, metavar=self.metavar(required), **self.more)
        else:
            kind = typer.Option(*self.flags(), help=help, rich_help_panel=self.panel, show_default=False, **self.more)
        hint = self.type if required else self.type | None
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else None,
            annotation=Annotated[hint, kind],
        )

    def metavar(self, required: bool) -> str:
        """Return the name of an argument in the usage line: FILE for data, in brackets where it may be left out."""
        word = "FILE" if self.name == DATA else self.name.upper()
        return word if required else f"[{word}]"

    def flags(self) -> list[str]:
        """Return the flags of the option; a Boolean that is true by default has a flag to switch it off."""
        flag = f"--{self.name.replace('_', '-')}"
        if self.type is bool:
            return [f"{flag}/--no-{flag[2:]}" if self.default is True else flag]
        return [flag, *([SHORT[self.name]] if self.name in SHORT else [])]


def written(default: Any) -> str:
    """Return a default as one would type it."""
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default)


def reading_of(hint: Any) -> tuple[Any, Callable[[Any], Any], dict[str, Any]]:
    """Return the type that typer checks, the converter to the function's value, and further arguments for typer."""
    bounds: Bounds | None = None
    members = [member for member in union(hint) if member is not type(None)]
    for k, member in enumerate(members):
        if get_origin(member) is Annotated:
            members[k], *extra = get_args(member)
            bounds = next((each for each in extra if isinstance(each, Bounds)), None)
    kinds = [get_origin(member) or member for member in members]
    items = {item for member in members if get_origin(member) is Sequence for item in union(get_args(member)[0])}
    if set(kinds) == {Literal}:
        words = tuple(word for member in members for word in get_args(member) if word is not None)
        return str, checked(words), {"metavar": f"[{'|'.join(map(str, words))}]"}
    if kinds in ([bool], [int], [float], [str], [Path]):
        return members[0], within(bounds) if bounds else unchanged, {}
    if items and items <= {int, float} and not {str, Literal} & set(kinds):
        number = float if float in items else int
        return list[str], lambda values: number_list(values, number), {}
    if items & {str, Path}:
        return list[str], split_names, {}
    if str in kinds and Mapping in kinds and not items:  # the function reads the text
        return list[str], mapping_text, {}
    if Path in kinds and Mapping not in kinds:
        return Path, unchanged, {}
    plain = str in kinds and not {tuple, Mapping, Literal} & set(kinds)
    if hint is Any or (plain and all(isinstance(item, type) for item in items)):
        return str, unchanged, {}  # a name, or objects in Python
    return list[str], from_text, {}


def union(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the type alone."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def checked(words: Sequence[Any]) -> Callable[[str], Any]:
    """Return a converter that raises an error for a value that is not one of these words."""
    known = {str(word): word for word in words}

    def convert(value: str) -> Any:
        if value not in known:
            raise NlgaugeError(f"'{value}': use {either(list(known))}.")
        return known[value]

    return convert


def within(bounds: Bounds) -> Callable[[float], float]:
    """Return a converter that raises an error for a number outside the bounds."""

    def convert(value: float) -> float:
        if (bounds.low is not None and value < bounds.low) or (bounds.high is not None and value > bounds.high):
            ends = [
                f"{word} {end:g}"
                for word, end in (("at least", bounds.low), ("at most", bounds.high))
                if end is not None
            ]
            raise NlgaugeError(f"{value:g}: must be {' and '.join(ends)}.")
        return value

    return convert


def unchanged(value: Any) -> Any:
    """Return the value unchanged."""
    return value


def options_of(function: Callable[..., Any]) -> list[Option]:
    """Return the options of a function: its own ones first, then those that it shares with others."""
    told = descriptions(function.__doc__ or "")
    signature = inspect.signature(function, eval_str=True)
    own: list[Option] = []
    shared: list[Option] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            if get_origin(parameter.annotation) is Unpack:
                (fields,) = get_args(parameter.annotation)
                shared = shared_options(fields, {p.name for p in signature.parameters.values()})
        elif parameter.name not in PROVIDED:
            panel = SHARED if parameter.name in ("aspect", "metrics") else OUT if parameter.name == "out" else OWN
            own.append(Option(parameter, parameter.annotation, told.get(parameter.name, ""), panel))
    options = [*own, *shared]
    names = {option.name: option for option in options}
    for option in options:
        option.help = as_options(option.help, names, option.choices)
    return options


def as_options(text: str, options: Mapping[str, Option], choices: Sequence[str] = ()) -> str:
    """Return a description for the command line: without sentences on Python, and with options instead of parameters.

    A parameter is recognized in backquotes (`fail_drop`) and before a value (part=ranks). `choices` are values of the
    option itself, which may have the name of another option.
    """
    text = PYTHON_ONLY.sub("", text)

    def flag(match: re.Match[str]) -> str:
        name = match["name"] or match["bare"]
        option = options.get(name)
        if option is None or option.argument or name in choices:
            return match[0]
        written_flag = " ".join(filter(None, [option.flags()[0].partition("/")[0], match["value"] or match["set"]]))
        return f"`{written_flag}`"

    return PARAMETER.sub(flag, text)


def shared_options(fields: type, hidden: set[str]) -> list[Option]:
    """Return the options that a TypedDict declares, without those that the function itself declares."""
    told = descriptions(FileOptions.__doc__ or "") | descriptions(fields.__doc__ or "")
    return [
        Option(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None), hint, told.get(name, ""), SHARED)
        for name, hint in get_type_hints(fields, include_extras=True).items()
        if name not in hidden | PROVIDED.keys()
    ]


def app_of(name: str, function: Callable[..., Any]) -> typer.Typer:
    """Return the command that calls the function with what was typed and prints what it gives back."""
    app, command = new_app(), Command(function)
    app.command(name, no_args_is_help=command.needs_words, help=help_of(function))(command.typed())
    return app


def help_of(function: Callable[..., Any]) -> str:
    """Return the help of a command: the docstring before `Parameters`, its notes, and its shell examples."""
    text = inspect.cleandoc(function.__doc__ or "")
    parts = sections(text)
    options = {option.name: option for option in options_of(function)}
    blocks = [as_options(" ".join(block.split()), options).replace("[", "\\[") for block in parts[""].split("\n\n")]
    if examples := shell_examples(text):
        blocks += ["[bold]Examples[/bold]", *(f"  {line}".replace("[", "\\[") for line in examples)]
    return "\n\n".join(blocks)


class Command:
    """A function as a command: its options, and the conversion of the values from the command line."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.options = {option.name: option for option in options_of(function)}
        self.analysis: str = getattr(function, "analysis", "")
        # A function with the data selection options receives a Session, so that all commands read FILE alike.
        self.takes_session = DATA in self.options and "keep_human" in self.options
        self.whole_card = getattr(function, "shows_reading", False)
        # Files that are not data sets, and that the function reads itself.
        self.reads_files = getattr(function, "reads_files", lambda data: False)
        if self.analysis:
            self.options[DATA].type, self.options[DATA].convert = list[str], list

    @property
    def needs_words(self) -> bool:
        """Return whether the command requires an argument."""
        return any(option.default is inspect.Parameter.empty for option in self.options.values())

    def typed(self) -> Callable[..., None]:
        """Return the function that typer calls, with the signature that it reads."""
        extra: dict[str, Any] = {"format": FORMAT}
        extra |= {} if "out" in self.options else {"out": WRITE}
        extra |= {"figure": FIGURE} if self.analysis else {}
        parameters = [option.parameter for option in self.options.values()]
        parameters += [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default="table" if name == "format" else None, annotation=hint
            )
            for name, hint in extra.items()
        ]

        def run(**words: Any) -> None:
            shown = {name: words.pop(name) for name in extra}
            values = {name: self.options[name].read(value) for name, value in words.items() if value not in (None, [])}
            self.answer(values, shown)

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    def answer(self, values: dict[str, Any], shown: dict[str, Any]) -> None:
        """Call the function and print its answer, with what could not be computed."""
        check_format(shown["format"])
        names = inspect.signature(self.function).parameters
        values |= {name: fill(shown["format"]) for name, fill in PROVIDED.items() if name in names}
        session = None
        file = values.get(DATA, self.options[DATA].default) if self.takes_session else None
        if file is not None and not self.reads_files(file):
            session = self.session(values)
            values[DATA] = session
        try:
            answer = getattr(self.function, "answer", self.function)(**values)
        finally:
            if session is not None and session.not_computed:
                log_remarks(["not computed:", *map(shorten, merge_refusals(session.not_computed))])
        print_answer(answer, by=(session and session.by) or (), **shown)

    def session(self, values: dict[str, Any]) -> Session:
        """Open FILE with the options that all such commands share; how it was read goes to stderr."""
        shared = {name: values.pop(name) for name in [*SHARED_NAMES] if name in values and self.is_shared(name)}
        files = values.pop(DATA, self.options[DATA].default)
        file = files[0] if isinstance(files, list) and len(files) == 1 else files
        session = select(file, values.pop("aspect", None), values.pop("metrics", None), progress=bar, **shared)
        for data in session.datasets:
            log_remarks(summary(data, session.keep_human) if self.whole_card else reading(data))
        return session

    def is_shared(self, name: str) -> bool:
        """Return whether the option is the shared one of this name, not one of the function's own."""
        return self.options[name].panel == SHARED


def shorten(line: str) -> str:
    """Return a reason in a few lines of a terminal at most."""
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON].rpartition(' ')[0]} …"
