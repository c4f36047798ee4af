"""Command line: a table of verbs. Each is generated from a function, which is imported when the verb is called.

Installed packages add verbs through entry points of the group `nlgauge.verbs`, which name a function, or a
module with a function of the verb's name.
"""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

import nlgauge
from nlgauge.cli._ending import CODES, catch_signals, ended, open_closed_streams, show_own_warnings
from nlgauge.docstrings import summary
from nlgauge.errors import NlgaugeError
from nlgauge.options import command_line

ANSWERS, SCORES, FILES, PLUGINS = "Evaluation", "Scores and judges", "Data and cache", "Installed packages"
GC_THRESHOLD = 20_000  # objects made between two garbage collections: with Python's 700 a small report has 350 of them
EXTRAS = {"reproduce": "papers"}  # verb -> the extra that installs it


@dataclass(frozen=True)
class Verb:
    """A verb: its function as `module:name`, the heading under which the help shows it, or the verbs inside it."""

    function: str = ""
    heading: str | None = None
    inner: dict[str, Verb] | None = None
    help: str = ""
    makes_app: bool = False  # the function returns the app
    analysis: bool = False  # the function is an analysis, asked with its companions

    @property
    def summary(self) -> str:
        """Return the first paragraph of the docstring, read from the source: nothing is imported."""
        if self.help:
            return self.help
        module, name = self.function.split(":")
        package, *parts = module.split(".")
        spec = importlib.util.find_spec(package)
        folder = Path(((spec and spec.submodule_search_locations) or [""])[0]).joinpath(*parts)
        path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return summary(ast.get_docstring(node) or "")
        raise ImportError(f"{self.function}: no such function")

    def app(self, name: str) -> typer.Typer:
        """Import the function and return the app of its command, or of the verbs inside."""
        if self.inner is not None:
            return group_of(self.inner, name=name, help=self.help)
        module, function = self.function.split(":")
        made: Any = getattr(importlib.import_module(module), function)
        if self.makes_app:
            app: typer.Typer = made()
            return app
        # Imported late: the list of verbs needs neither.
        from nlgauge.api.questions import question
        from nlgauge.cli._generate import app_of

        return app_of(name, question(name, companions=True) if self.analysis else made)


# In the order of the help. An analysis of the same name as a verb is that verb.
VERBS = {
    "run": Verb("nlgauge.report.write:report", ANSWERS),
    "analyze": Verb("nlgauge.cli._analyze:analyze", ANSWERS, makes_app=True),
    "estimate": Verb("nlgauge.analyses.estimates.estimate:estimate", ANSWERS, analysis=True),
    "plan": Verb("nlgauge.api.planning:plan", ANSWERS),
    "label": Verb("nlgauge.api.labeling:label", ANSWERS),
    "gate": Verb("nlgauge.api.gate:gate", ANSWERS),
    "explore": Verb("nlgauge.report.explorer:explore", ANSWERS),
    "score": Verb("nlgauge.api.scores:score", SCORES),
    "judge": Verb("nlgauge.api.judging:judge", SCORES),
    "train": Verb(
        heading=SCORES,
        help="Train an alignment model on unlabeled text.",
        inner={"aligner": Verb("nlgauge.api.training:aligner"), "text": Verb("nlgauge.api.training:text")},
    ),
    "data": Verb(
        heading=FILES,
        help="Check, convert and split a file; list, show and download published data sets with human ratings.",
        inner={
            "list": Verb("nlgauge.datasets.published_sets:published_sets"),
            "show": Verb("nlgauge.datasets.published_sets:describe"),
            "get": Verb("nlgauge.datasets.published_sets:get_set"),
            "check": Verb("nlgauge.api.files:check"),
            "convert": Verb("nlgauge.api.files:convert"),
            "split": Verb("nlgauge.api.files:split"),
            "simulate": Verb("nlgauge.api.files:simulate"),
            "formats": Verb("nlgauge.report.listing:formats"),
        },
    ),
    "list": Verb("nlgauge.report.listing:available", FILES),
    "cache": Verb(
        heading=FILES,
        help="Show, export or prune the local cache of scores, judge replies and model weights.",
        inner={
            "info": Verb("nlgauge.api.cache:info"),
            "get": Verb("nlgauge.api.cache:get"),
            "export": Verb("nlgauge.api.cache:export"),
            "prune": Verb("nlgauge.api.cache:prune"),
        },
    ),
}


class Group(TyperGroup):
    """Commands that are created when they are called; the help reads their summaries without importing them."""

    verbs: ClassVar[dict[str, Verb]] = {}
    listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        return self.names()

    def names(self) -> list[str]:
        """Return the names, for which nothing is imported."""
        return list(self.verbs)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make the command of this name; in the help of the group, only its summary."""
        verb = self.verbs.get(cmd_name)
        if verb is None:
            if cmd_name in EXTRAS:
                extra = f'pip install "nlgauge[{EXTRAS[cmd_name]}]"'
                raise NlgaugeError(f"`nlgauge {cmd_name}` requires another package: {extra}")
            return None
        return typer.main.get_command(stub(cmd_name, verb) if self.listing else verb.app(cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; a misspelled name is answered with the nearest ones."""
        self.commands = dict.fromkeys(self.names())  # type: ignore[assignment]  # near names are sought here
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, for which nothing is imported."""
        self.listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self.listing = False


def stub(name: str, verb: Verb) -> typer.Typer:
    """Return a command that has nothing but its line in the help."""
    app = new_app()
    app.command(name, help=verb.summary.replace("[", "\\["), rich_help_panel=verb.heading)(lambda: None)
    return app


def new_app(cls: type[TyperGroup] | None = None, **more: Any) -> typer.Typer:
    """Return an empty app in the common style."""
    return typer.Typer(
        cls=cls,
        add_completion=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        **more,
    )


def group_of(verbs: dict[str, Verb], **more: Any) -> typer.Typer:
    """Return the app of several verbs."""
    app = new_app(type("Verbs", (Group,), {"verbs": verbs}), no_args_is_help=True, **more)
    app.callback()(lambda: None)
    return app


def all_verbs() -> dict[str, Verb]:
    """Return all verbs, those of installed packages last."""
    from importlib.metadata import entry_points  # slow to import, and most commands do not ask

    own = {e.name: e.value if ":" in e.value else f"{e.value}:{e.name}" for e in entry_points(group="nlgauge.verbs")}
    return VERBS | {name: Verb(place, PLUGINS) for name, place in own.items()}


def build(only: str | None = None) -> typer.Typer:
    """Return the command line; installed packages are searched only for commands that are not built in."""
    app = group_of(
        VERBS if only in VERBS else all_verbs(),
        name="nlgauge",
        epilog=CODES,
        help="Which automatic metric or LLM judge can I trust, for what, and how sure can I be?\n\n"
        "Start with: nlgauge run FILE (a table of scores and human ratings), or nlgauge run without a file for an "
        "example.",
    )

    @app.callback(invoke_without_command=True)
    def top(version: bool = typer.Option(False, "--version", help="Show the version and stop.")) -> None:
        if version:
            print(f"nlgauge {nlgauge.__version__}")
            raise typer.Exit

    return app


def commands() -> dict[str, Any]:
    """Return all commands by the words that call them, as typer makes them; `analyze` with one analysis for all."""
    found = {}
    for name, verb in all_verbs().items():
        for inner, each in (verb.inner or {"": verb}).items():
            command: Any = typer.main.get_command(each.app(inner or name))
            found[f"{name} {inner}".strip()] = command.get_command(None, "correlate") if each.makes_app else command
    return found


def main() -> None:
    """Run the command line: one verb, and an exit code, with one line if there is an error."""
    gc.set_threshold(GC_THRESHOLD)
    open_closed_streams()
    show_own_warnings()
    catch_signals()  # before the first import that takes time
    first = next((a for a in sys.argv[1:] if not a.startswith("-")), None)

    def run() -> None:
        build(first)()

    with command_line():
        sys.exit(ended(run))
