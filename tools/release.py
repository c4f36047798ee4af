"""What `make release` asks before it builds, and the tag that it sets afterwards.

    python tools/release.py check     is this tree ready to be released?
    python tools/release.py tag       are the files there? Then their checksums and the tag

`--dry` says what would stop the release and goes on (check), and sets no tag (tag).
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>.+))?$", re.MULTILINE)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def git(repo: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True, text=True).stdout


def version(repo: Path) -> str:
    project = tomllib.loads((repo / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def sections(changelog: str) -> dict[str, tuple[str, str]]:
    """Version to the date and the text of its section, in the order of the file.

    >>> sections("# Changelog\\n\\n## [Unreleased]\\n\\n## [1.2.0] - 2026-01-31\\n\\n* New.\\n")
    {'Unreleased': ('', ''), '1.2.0': ('2026-01-31', '* New.')}
    """
    found = list(HEADING.finditer(changelog))
    ends = [match.start() for match in found[1:]] + [len(changelog)]
    return {
        match["version"]: (match["date"] or "", changelog[match.end() : end].strip())
        for match, end in zip(found, ends, strict=True)
    }


def obstacles(repo: Path) -> list[str]:
    """What stands against releasing this tree, a line each."""
    found = []
    if changed := git(repo, "status", "--porcelain").splitlines():
        found.append(f"changes that are not committed: {', '.join(line[3:] for line in changed[:5])}")
    now = version(repo)
    others = {"src/nlgauge/__init__.py": f'__version__ = "{now}"', "CITATION.cff": f"version: {now}"}
    for name, line in others.items():
        if line not in (repo / name).read_text(encoding="utf-8").splitlines():
            found.append(f"{name} has no line {line!r}; pyproject.toml has version {now}")
    changes = sections((repo / "CHANGELOG.md").read_text(encoding="utf-8"))
    if changes.get("Unreleased", ("", ""))[1]:
        found.append(f"CHANGELOG.md: entries under [Unreleased]; move them below [{now}] or raise the version")
    newest = next((name for name in changes if name != "Unreleased"), "none")
    if newest != now:
        found.append(f"CHANGELOG.md: the newest version is {newest}, in pyproject.toml it is {now}")
    elif not DATE.fullmatch(changes[now][0]):
        found.append(f"CHANGELOG.md: [{now}] has no date: ## [{now}] - YYYY-MM-DD")
    if git(repo, "tag", "--list", f"v{now}").strip():
        found.append(f"the tag v{now} exists already; raise the version")
    return found


def files(repo: Path) -> list[Path]:
    """Wheels, source archive and SBOM of this version; an error where one kind is missing."""
    now, found = version(repo), []
    for pattern in (f"nlgauge-{now}-*.whl", f"nlgauge-{now}.tar.gz", "nlgauge.cdx.json"):
        matching = sorted((repo / "dist").glob(pattern))
        if not matching:
            raise SystemExit(f"release: dist/{pattern} is missing: make dist sbom")
        found += matching
    return found


def checksums(paths: list[Path]) -> str:
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)


def check(repo: Path, dry: bool) -> int:
    found = obstacles(repo)
    for line in found:
        print(f"release: {line}", file=sys.stderr)
    return 1 if found and not dry else 0


def tag(repo: Path, dry: bool) -> int:
    """Checksums beside the files, then the tag with the changelog's section; a dry run ends with 1 where `check`
    would.
    """
    made, found, name = files(repo), obstacles(repo), f"v{version(repo)}"
    (repo / "dist" / "SHA256SUMS").write_text(checksums(made), encoding="utf-8")
    print(checksums(made), end="")
    if found:
        for line in found:
            print(f"release: {line}", file=sys.stderr)
        print(f"release: no tag {name}; what stands against it is above ({len(found)}).", file=sys.stderr)
        return 1
    if dry:
        print(f"release: ready; without DRY=1 this would set the tag {name}.")
        return 0
    _, text = sections((repo / "CHANGELOG.md").read_text(encoding="utf-8"))[version(repo)]
    # "verbatim": lines of the section that begin with # are headings, not comments
    git(repo, "tag", "--annotate", "--cleanup=verbatim", "-m", f"NLGauge {version(repo)}\n\n{text}", name)
    print(f"release: tagged {name}. To publish: git push origin {name}, and upload what is in dist/.")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["check", "tag"])
    parser.add_argument("--dry", action="store_true")
    asked = parser.parse_args()
    sys.exit({"check": check, "tag": tag}[asked.step](REPO, asked.dry))
