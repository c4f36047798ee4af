"""The command line: one file per verb, imported only when asked for.

A verb module holds either `command` (a function) or `app` (a typer group). The first line of its docstring is its help.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING

from nlgauge.cli._ending import CODES, catch_signals, ended

if TYPE_CHECKING:
    import typer

# As they are met, not as the alphabet has them; verbs not named here follow.
ALIASES = {"report": "run"}
ORDER = ["run", "meta", "score", "list", "data", "convert"]


def build(only: str | None = None) -> typer.Typer:
    """The app, with all verbs or only one (the others are not even imported)."""
    import typer

    import nlgauge

    app = typer.Typer(
        name="nlgauge", no_args_is_help=True, add_completion=False, rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False, epilog=CODES,
        help="Which automatic metric or LLM judge can I trust, for what, and how sure can I be?\n\n"
        "Start with: nlgauge run FILE (a table of scores and ratings), or nlgauge run without a file for the example.",
    )  # fmt: skip

    @app.callback(invoke_without_command=True)
    def top(version: bool = typer.Option(False, "--version", help="Show the version and stop.")) -> None:
        if version:
            print(f"nlgauge {nlgauge.__version__}")
            raise typer.Exit

    found = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    found.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    only = ALIASES.get(only or "", only)
    for name in [only] if only in found else found:
        module = importlib.import_module(f"{__name__}.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
            continue
        needs_file = getattr(module, "NEEDS_FILE", False)
        app.command(name, no_args_is_help=needs_file)(module.command)
        for alias in (a for a, of in ALIASES.items() if of == name):
            app.command(alias, no_args_is_help=needs_file, hidden=True)(module.command)
    return app


def main() -> None:
    """Entry point: the verb, then one line and an exit code for however it ended."""
    catch_signals()  # before the first import that takes time
    first = next((a for a in sys.argv[1:] if not a.startswith("-")), None)

    def run() -> None:
        build(first)()

    sys.exit(ended(run))
