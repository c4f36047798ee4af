"""The project writes in the terms of the field: banned expressions, required terms, titles that name a topic.

`tests/language_terms.toml` holds the terms. `tests/language_counts.toml` holds, for each package and page that is not yet
clean, how many banned expressions it has; a count may fall, never rise. `python tests/test_language.py` lowers the
counts after a cleanup, and `python tests/test_language.py PATH` lists what is left in a folder or file.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from loops import for_each

REPO = Path(__file__).resolve().parent.parent
TERMS = tomllib.loads((Path(__file__).parent / "language_terms.toml").read_text(encoding="utf-8"))
COUNTS = Path(__file__).parent / "language_counts.toml"
SPELLING = "American spelling"
WORD_LISTS = {REPO / name for name in TERMS["word_lists"]}
BANNED = re.compile("|".join(f"(?:{pattern})" for pattern in TERMS["banned"]), re.IGNORECASE)
BANNED_IN_WORD_LISTS = re.compile(
    "|".join(f"(?:{p})" for p, better in TERMS["banned"].items() if not better.startswith(SPELLING)), re.IGNORECASE
)
PAGES = [*sorted(REPO.glob("*.md")), *sorted((REPO / "docs").rglob("*.md"))]
SOURCES = [REPO / "src" / "nlgauge", REPO / "papers" / "src" / "nlgauge_papers"]


def prose(page: Path) -> str:
    """A page without code, tables that a program writes, and addresses; the lines keep their numbers."""
    text = page.read_text(encoding="utf-8")
    hidden = (r"^```.*?^```", r"^<!-- [a-z].*?^<!-- end -->", r"^    .*?$", r"`[^`\n]*`", r"\]\([^)\n]*\)", r"^:::.*?$")
    for pattern in hidden:
        text = re.sub(pattern, lambda m: "\n" * m[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    return text


@cache
def texts(file: Path) -> tuple[tuple[int, str], ...]:
    """The strings, docstrings and comments of a Python file, each with its line."""
    source = file.read_text(encoding="utf-8")
    strings = [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return tuple(strings + [(t.start[0], t.string) for t in tokens if t.type == tokenize.COMMENT])


def violations(file: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each banned expression, and of a title that asks a question instead of naming a topic."""
    if file.suffix == ".md" and (title := re.match(r"# .*\?$", file.read_text(encoding="utf-8"), re.MULTILINE)):
        yield 1, title[0]
    parts = [(1, prose(file))] if file.suffix == ".md" else texts(file)
    banned = BANNED_IN_WORD_LISTS if file in WORD_LISTS else BANNED
    for line, text in parts:
        for match in banned.finditer(re.sub(r"(?<=\S)[ ]*\n[ ]*(?=\S)", " ", text) if file.suffix == ".py" else text):
            yield line + text.count("\n", 0, match.start()), match[0]


def area(file: Path) -> str:
    """A page, or the package whose counts a source file belongs to."""
    path = file.relative_to(REPO)
    if file.suffix == ".md":
        return path.as_posix()
    depth = 3 if path.parts[0] == "src" else 4
    return Path(*path.parts[: min(depth, len(path.parts) - 1)]).as_posix()


@cache
def counts() -> Counter[str]:
    """Banned expressions in each area that has any."""
    files = [*PAGES, *(f for folder in SOURCES for f in sorted(folder.rglob("*.py")))]
    return Counter(area(file) for file in files for _ in violations(file))


def allowed() -> dict[str, int]:
    return tomllib.loads(COUNTS.read_text(encoding="utf-8"))["counts"]


def test_no_banned_expression_is_added() -> None:
    risen = {name: count for name, count in counts().items() if count > allowed().get(name, 0)}
    hints = "; `python tests/test_language.py PATH` lists them with the term to write instead"
    assert not risen, "; ".join(f"{n}: {c}, allowed {allowed().get(n, 0)}" for n, c in risen.items()) + hints


def test_a_clean_area_has_no_count() -> None:
    clean = [name for name in allowed() if not counts()[name]]
    assert not clean, f"run: python tests/test_language.py (no longer needed: {', '.join(clean)})"


def test_a_banned_expression_is_noticed_in_prose_strings_and_comments(tmp_path: Path) -> None:
    page, code = tmp_path / "page.md", tmp_path / "code.py"
    page.write_text("# Is it?\n\nSet it beside the other, not `beside`.\n\n```\nbeside\n```\n", encoding="utf-8")
    code.write_text(
        'beside = 1  # told apart\nTEXT = f"{beside} % of"\n"""One rating\nan output."""\n', encoding="utf-8"
    )
    assert [found for _, found in violations(page)] == ["# Is it?", "beside"]
    assert sorted(found for _, found in violations(code)) == ["rating an output", "told apart"]


@for_each(TERMS["required"])
def test_a_page_has_the_terms_that_readers_search_for(page: str) -> None:
    text = re.sub(r"\s+", " ", (REPO / page).read_text(encoding="utf-8")).lower().replace("’", "'")
    missing = [term for term in TERMS["required"][page] if term.lower() not in text]
    assert not missing, f"missing: {', '.join(missing)}"


def write_counts() -> None:
    """Lower the counts to what is there; a count that would rise is left as it is."""
    before = allowed() if COUNTS.exists() else {}
    lines = [
        "# Banned expressions left in each package and page; written by `python tests/test_language.py`.",
        "[counts]",
    ]
    lines += [
        f'"{name}" = {min(count, before.get(name, 0 if before else count))}' for name, count in sorted(counts().items())
    ]
    COUNTS.write_text("\n".join(line for line in lines if not line.endswith(" = 0")) + "\n", encoding="utf-8")


def report(path: Path) -> None:
    """Print each banned expression of a folder or file and the term to write instead."""
    files = [path] if path.is_file() else [f for s in ("*.py", "*.md") for f in sorted(path.rglob(s))]
    for file in files:
        for line, found in violations(file):
            terms = (term for pattern, term in TERMS["banned"].items() if re.search(pattern, found, re.IGNORECASE))
            better = "a title that names the topic" if found.startswith("# ") else next(terms)
            print(f"{file}:{line}: {found!r}: {better}")


if __name__ == "__main__":
    if sys.argv[1:]:
        report(Path(sys.argv[1]).resolve())
    else:
        write_counts()
