"""The command line: one file per verb, in three folders, imported only when asked for.

A verb module holds either `command` (a function) or `app` (a typer group), whose further commands may be modules of its
own. Its docstring is its help. Installed packages add verbs through entry points of the group `nlgauge.verbs`, which
name such a module.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from typing import TYPE_CHECKING

from nlgauge.cli._ending import CODES, catch_signals, ended
from nlgauge.errors import NlgaugeError

if TYPE_CHECKING:
    import typer

ALIASES = {"report": "run"}  # other names of verbs, not in the help
GROUPS = {
    "answers": "Answers",
    "scores": "Scores and judges",
    "files": "Files and sets",
}  # folder -> heading in the help
PLUGINS = "Installed packages"  # heading of the verbs that they add
EXTRAS = {"reproduce": "papers"}  # verb -> the extra that installs it
# As they are met, not as the alphabet has them; verbs not named here follow.
ORDER = "run meta verdicts estimate compare agree score judge data list".split()


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

    only = ALIASES.get(only or "", only)
    own = {verb: (f"{__name__}.{group}.{verb}", GROUPS[group]) for group in GROUPS for verb in verbs_of(group)}
    verbs = {only: own[only]} if only in own else own | plugin_verbs()
    if only in EXTRAS and only not in verbs:
        raise NlgaugeError(f'`nlgauge {only}` requires another package: pip install "nlgauge[{EXTRAS[only]}]"')
    for name in [only] if only in verbs else verbs:
        path, heading = verbs[name]
        module = importlib.import_module(path)
        if hasattr(module, "app"):
            known = {each.name for each in module.app.registered_commands}
            for inner in (m for m in pkgutil.iter_modules(getattr(module, "__path__", [])) if m.name not in known):
                part = importlib.import_module(f"{path}.{inner.name}")
                module.app.command(inner.name, help=part.__doc__)(part.command)
            app.add_typer(module.app, name=name, rich_help_panel=heading)
            continue
        given = inspect.signature(module.command).parameters.values()
        needs = any(p.default is p.empty for p in given)  # else the verb does something by its name alone
        for each in (name, *(alias for alias, of in ALIASES.items() if of == name)):
            more = {"hidden": True} if each in ALIASES else {"rich_help_panel": heading}
            app.command(each, help=module.__doc__, no_args_is_help=needs, **more)(module.command)
    return app


def plugin_verbs() -> dict[str, tuple[str, str]]:
    """Verbs of installed packages: name -> module and heading in the help."""
    from importlib.metadata import entry_points  # slow to import, and most commands do not ask

    return {entry.name: (entry.value, PLUGINS) for entry in entry_points(group="nlgauge.verbs")}


def verbs_of(group: str) -> list[str]:
    """The verbs of a folder, in the order of the help."""
    found = [m.name for m in pkgutil.iter_modules([f"{path}/{group}" for path in __path__])]
    return sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def main() -> None:
    """Entry point: the verb, then one line and an exit code for however it ended."""
    catch_signals()  # before the first import that takes time
    first = next((a for a in sys.argv[1:] if not a.startswith("-")), None)

    def run() -> None:
        build(first)()

    sys.exit(ended(run))
