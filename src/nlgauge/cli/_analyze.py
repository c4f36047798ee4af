"""`nlgauge analyze NAME`: every analysis as a command, generated from its signature and docstring."""

from __future__ import annotations

from typing import Any

import typer

from nlgauge import registry
from nlgauge.api.questions import question
from nlgauge.cli._generate import app_of, help_of
from nlgauge.cli._program import Group, new_app


class Analyses(Group):
    """All registered analyses, and file.py@name."""

    def names(self) -> list[str]:
        """Return the names of all analyses."""
        return registry.names("analysis")

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, by group."""
        return sorted(self.names(), key=lambda name: (heading(name), name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make the command of an analysis; in the list, only its question."""
        if not self.listing:
            return typer.main.get_command(app_of(cmd_name, question(cmd_name, companions=True)))
        app = new_app()
        run = registry.get("analysis", cmd_name)
        app.command(cmd_name, help=run.question, rich_help_panel=heading(cmd_name))(lambda: None)
        return typer.main.get_command(app)


def heading(name: str) -> str:
    """Return the group of an analysis: its folder, or the installed package that provides it."""
    module: str = registry.get("analysis", name).function.__module__
    package, *parts = module.split(".")
    return parts[1].capitalize() if package == "nlgauge" else package


def analyze() -> typer.Typer:
    """Run one analysis on a table of scores; without a name, list the analyses.

    NAME is an analysis from the list, or file.py@name for one of your own, whose file is executed. `nlgauge analyze
    NAME --help` describes its options.

    Examples
    --------
    $ nlgauge analyze correlate scores.csv --measures input/kendall,system/pearson -o table.tex

    $ nlgauge analyze compare scores.csv --aspect coherence

    $ nlgauge analyze transfer news.csv dialogue.csv --groups @groups.json

    $ nlgauge analyze stability scores.csv --draws 10000 --engine ray --address auto
    """
    app = new_app(Analyses, name="analyze", help=help_of(analyze), subcommand_metavar="NAME FILE...")

    @app.callback(invoke_without_command=True)
    def top(ctx: typer.Context) -> None:
        if ctx.invoked_subcommand is None:
            print(ctx.get_help())

    return app
