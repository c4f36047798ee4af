"""The docs site: every page is in the menu, every link and picture is there, pages from code are up to date, nothing
is fetched.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import unicodedata
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from loops import for_each

REPO = Path(__file__).resolve().parent.parent
DOCS = REPO / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.name != "metrics_compared.md")  # a part of metrics.md
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


@cache
def anchors(page: Path) -> set[str]:
    """Ids of the headings, as Python-Markdown makes them."""
    heads = re.findall(
        r"^#+ (.+)$",
        re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL),
        re.MULTILINE,
    )
    return {slug(re.sub(r"[`*]", "", head)) for head in heads}


def slug(text: str) -> str:
    """The id of a heading, by the rule of `markdown.extensions.toc.slugify`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def test_ids_of_headings_are_those_of_python_markdown() -> None:
    toc = pytest.importorskip("markdown.extensions.toc")
    for text in ("A heading", "p-values: what & why?", "  Kendall’s τ – ties  ", "a_b -- c"):
        assert slug(text) == toc.slugify(text, "-")


def menu() -> list[str]:
    nav = (REPO / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    return re.findall(r"([\w/]+\.md)\s*$", nav, re.MULTILINE)


def test_the_menu_names_every_page_once_and_no_other() -> None:
    assert sorted(menu()) == sorted(str(p.relative_to(DOCS)) for p in PAGES), "name new pages in mkdocs.yml, under nav"


@for_each(PAGES, name=lambda p: p.relative_to(REPO))
def test_links_and_pictures_of_a_page_are_there(page: Path) -> None:
    text = without_code(page.read_text(encoding="utf-8"))
    for target in [*LINK.findall(text), *re.findall(r' (?:src|srcset)="([^"]+)"', text)]:
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{page.name}: {target}"
        # The strict build refuses what lies outside docs/: name such a file as `code`.
        assert file.is_relative_to(DOCS), f"{page.name}: {target} is no page of the site"
        assert_tracked(file)
        assert not anchor or anchor in anchors(file), f"{page.name}: no heading for {target}"


@for_each(sorted(REPO.glob("*.md")), name=lambda p: p.name)
def test_links_of_a_page_beside_the_code_lead_to_files_of_the_repository(page: Path) -> None:
    for target in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if not re.match(r"https?:|mailto:|#", target):
            assert_tracked((page.parent / target.partition("#")[0]).resolve())


@for_each([*PAGES, *sorted(REPO.glob("*.md"))], name=lambda p: p.relative_to(REPO))
def test_modules_and_files_of_the_code_that_a_page_names_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for module, things in re.findall(r"^from (nlgauge[\w.]*) import ([\w, ]+)", text, re.MULTILINE):
        for name in re.findall(r"(\w+)(?: as \w+)?", things):
            if module in ("nlgauge.plugins.inspect_ai", "nlgauge.plugins.mlflow"):  # which import their tool
                source = REPO / "src" / Path(*module.split(".")).with_suffix(".py")
                assert f"\ndef {name}(" in source.read_text(encoding="utf-8")
                continue
            assert hasattr(importlib.import_module(module), name) or importlib.util.find_spec(f"{module}.{name}")
    for name in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE):
        module, _, thing = name.rpartition(".")
        assert hasattr(importlib.import_module(module), thing), name
    for file in re.findall(r"`(src/nlgauge/[\w/.]+)`", text):
        assert (REPO / file).exists(), file


@cache
def tracked() -> frozenset[Path]:
    """The files that a clean copy has. In a source archive there is no git: then all that is there counts."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return frozenset(REPO.rglob("*"))
    return frozenset(REPO / name for name in listed.decode().split("\0") if name)


def assert_tracked(file: Path) -> None:
    found = file in tracked() if not file.is_dir() else any(t.is_relative_to(file) for t in tracked())
    assert found, f"{file.relative_to(REPO)}: not in a clean copy of the repository (git add it?)"


def loaded(name: str) -> ModuleType:
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_site", DOCS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    return loaded("generate")


@for_each(["data.md", "figures.md", "analyses.md"])
def test_catalogues_are_written_from_the_code(page: str, generate: ModuleType) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == generate.PAGES[page](), "run: python docs/generate.py"


def test_figures_of_the_papers_name_functions_that_exist(generate: ModuleType) -> None:
    named = re.findall(r"`(\w+)\.(\w+)` \|$", generate.figures(), re.MULTILINE)
    assert len(named) > 15
    for module, function in named:
        assert hasattr(importlib.import_module(f"nlgauge.report.figures.{module}"), function)


def test_pictures_fetch_nothing_and_stay_small() -> None:
    pictures = [p for p in (DOCS / "images").rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in pictures) < 2_000_000
    for picture in (p for p in pictures if p.suffix == ".svg"):
        text = picture.read_text(encoding="utf-8")
        assert not re.search(r"""(?:href|src)\s*=\s*["']https?:|url\(\s*["']?https?:|@import""", text), picture.name


def test_a_slim_picture_keeps_every_number_that_is_read(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["pictures"] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    file = tmp_path / "figure.svg"
    dot = '<path class="point" d="M1.2345,0" style="fill: rgb(33, 102, 172); fill-opacity: 1;"/>'
    file.write_text(f'<svg width="9"><g class="x"/>{dot}{dot}<text x="3.149">0.456</text></svg>', encoding="utf-8")
    module.slim(file)
    text = file.read_text(encoding="utf-8")
    assert '<text x="3.1">0.456</text>' in text
    assert text.count("fill:#2166ac") == 1 and text.count('<path d="M1.2,0" class="s0"/>') == 2


def test_the_site_asks_for_no_fonts_of_another_host() -> None:
    settings = (REPO / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.search(r"^  font: false$", settings, re.MULTILINE)
    assert not re.search(r"^\s*-? ?(extra_javascript|social)\b", settings, re.MULTILINE)
    assert "http" not in (DOCS / "style.css").read_text(encoding="utf-8")


def test_the_search_of_the_site_loads_its_worker_from_the_site(tmp_path: Path) -> None:
    (tmp_path / "assets" / "javascripts").mkdir(parents=True)
    (tmp_path / "howto").mkdir()
    page = tmp_path / "howto" / "page.html"
    page.write_text('<script src="https://unpkg.com/iframe-worker/shim"></script>', encoding="utf-8")
    loaded("build").finish(tmp_path)
    source = re.findall('src="([^"]+)"', page.read_text(encoding="utf-8"))[0]
    assert "IFrameWorker" in (page.parent / source).read_text(encoding="utf-8")
    assert (tmp_path / "llms.txt").is_file()
