"""The catalog of published sets of human judgments: content, origin and loading.

The facts stand in sets/*.toml, one file per family of sets (`[all]`: what its sets share); the files are found, not
listed. `loader` names the function that reads a set: `module`, `module.function`, or with options `module(option='x')`.
Nothing of the data stands here, only facts about it (sizes, hashes, licenses) and the code that joins files.
"""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.errors import DataError, NameUnknown, NotHere
from nlgauge.options import option
from nlgauge.places import cache_path
from nlgauge.registry import did_you_mean
from nlgauge.spec import parse_spec

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

FACTS = Path(__file__).parent / "sets"


@dataclass(frozen=True)
class Origin:
    """A path in a public repository. The commit may be abbreviated if nothing is downloaded from it."""

    repository: str
    commit: str
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Parse a repository, commit and path.

        >>> Origin.parse("W4ngatang/qags@47798e9 data/mturk_xsum.jsonl").commit
        '47798e9'
        """
        place, _, path = text.partition(" ")
        repository, _, commit = place.partition("@")
        return cls(repository, commit, path)

    def __str__(self) -> str:
        commit = "" if self.commit == "unknown" else f"@{self.commit[:7]} "
        return f"{self.repository} {commit}{self.path}".rstrip()


@dataclass(frozen=True)
class File:
    """A file that a loader reads; `layout` describes its content. A set loads without its `extra` files.

    `origin`: the place whose bytes it holds. `parts`: files of origins (repository and path, * for several) from which
    `convert` makes it, with the SHA-256 of what comes out (`result`, before compression). `page`: where a browser finds
    it, for a file that no program can download; `where` says more.
    """

    path: str
    size: int = 0
    sha256: str = ""
    layout: str = ""
    origin: Origin | None = None
    extra: bool = False
    where: str = ""
    page: str = ""
    parts: tuple[str, ...] = ()
    convert: str = ""
    result: str = ""

    @property
    def downloadable(self) -> bool:
        """Whether the file can be downloaded, or converted from files that can."""
        return self.origin is not None or bool(self.parts)

    @classmethod
    def of(cls, path: str, facts: dict[str, Any]) -> File:
        """Return the file at that path from the facts about it."""
        origin, parts = facts.get("origin"), tuple(facts.get("parts", ()))
        return cls(path, **facts | {"origin": Origin.parse(origin) if origin else None, "parts": parts})

    def here(self, folder: Path) -> bool:
        """Return whether the folder has the file."""
        return stored(folder / self.path).is_file()


def stored(path: Path) -> Path:
    """Return the file in the folder; a gzipped file may be there unpacked, as at its origin.

    >>> stored(Path("nowhere/TAC_11.csv.gz")).name
    'TAC_11.csv.gz'
    """
    plain = path.with_suffix("")
    return plain if path.suffix == ".gz" and not path.is_file() and plain.is_file() else path


@dataclass(frozen=True)
class Entry:
    """Facts about one set. `aspects` maps aspect to scale; `papers` are those of the five that use it."""

    name: str
    title: str
    task: str
    aspects: dict[str, str]
    raters: str
    license: str
    cite: str
    reference: str
    origins: tuple[Origin, ...]
    papers: tuple[str, ...] = ()
    human_systems: tuple[str, ...] = ()
    shape: str = ""
    size: str = ""  # systems × inputs, or number of texts
    files: tuple[File, ...] = ()
    missing: str = ""
    notes: tuple[str, ...] = ()
    loader: str | None = None

    @classmethod
    def of(cls, name: str, facts: dict[str, Any], files: dict[str, Any]) -> Entry:
        """Return the set of this name from the facts about it and the files of its family."""
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()
        }
        values["origins"] = tuple(map(Origin.parse, facts["origins"]))
        values["files"] = tuple(File.of(path, files[path]) for path in facts.get("files", ()))
        return cls(name, **values)

    @property
    def needed(self) -> tuple[File, ...]:
        """The files that are needed to load the set."""
        return tuple(f for f in self.files if not f.extra)

    def here(self, folder: Path) -> str:
        """Return how much of the set is in the folder: 'yes', 'part', or 'no'."""
        present = sum(f.here(folder) for f in self.files)
        whole = all(f.here(folder) for f in self.needed)
        return "no" if not present else "yes" if whole else "part"


@cache
def _found() -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for path in FACTS.glob("*.toml"):
        family = tomllib.loads(path.read_text(encoding="utf-8"))
        for name, facts in family["sets"].items():
            if name in entries:
                raise ValueError(f"two sets of the catalog have the name '{name}'")
            entries[name] = Entry.of(name, {**family.get("all", {}), **facts}, family.get("files", {}))
    return dict(sorted(entries.items()))


def entries() -> list[Entry]:
    """Return the facts about all published sets, by name.

    Returns
    -------
    list of Entry
    """
    return list(_found().values())


def entry(name: str) -> Entry:
    """Return the facts about one published set.

    Parameters
    ----------
    name : str
        An unknown one is answered with the nearest names.

    Returns
    -------
    Entry

    Examples
    --------
    >>> entry("qags-xsum").shape
    '1 system × 239 articles'
    """
    try:
        return _found()[name]
    except KeyError:
        raise NameUnknown(
            f"no published set '{name}'.{did_you_mean(name, _found())} `nlgauge data list` shows all {len(_found())}."
        ) from None


def mirror_folder(given: str | Path | None = None) -> Path:
    """Return the folder of the files of published sets.

    Parameters
    ----------
    given : path, optional
        By default NLGAUGE_DATA, else the user's cache folder.

    Returns
    -------
    Path
    """
    if given is not None:
        return Path(given).expanduser()
    return cache_path("NLGAUGE_DATA", "data")


def load_set(name: str, mirror: str | Path | None = None, **options: Any) -> Dataset:
    """Load a published set.

    Parameters
    ----------
    name : str
        As `nlgauge data list` shows it.
    mirror : path, optional
        Folder with the files; by default NLGAUGE_DATA, else the user's cache folder.
    **options
        Of the set, such as `domain="news"`; `nlgauge data show NAME` lists them.

    Returns
    -------
    Dataset

    Raises
    ------
    NotHere
        Where its files are not in the folder; the message says how to get them.

    Examples
    --------
    >>> load_set("wmt23-zh-en", domain="news")         # doctest: +SKIP
    """
    published_set = entry(name)
    if published_set.loader is None:
        raise NotHere(f"{name} cannot be loaded: {published_set.missing}")
    folder = mirror_folder(mirror)
    absent = [f for f in published_set.needed if not f.here(folder)]
    if absent:
        does = "downloads it" if absent[0].downloadable else "shows where to get it"
        how = f"`nlgauge data get {name}` {does}"
        raise NotHere(
            f"{name}: {absent[0].path} is not in {folder}; {how}, or name your folder with {option('mirror')} or "
            "NLGAUGE_DATA."
        )
    reader, own = parse_spec(published_set.loader)
    module, _, function = reader.partition(".")
    load = getattr(importlib.import_module(f"nlgauge.datasets.{module}"), function or "load")
    try:
        data: Dataset = load(folder, published_set, **own, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise DataError(f"{name}: {str(error).split('() ')[-1]}; the set has no such option.") from None
    return data
