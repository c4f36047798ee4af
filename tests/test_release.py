"""`make release`: what stands against a release is named, and only a real run of a ready tree sets a tag."""

from __future__ import annotations

import doctest
import subprocess
from pathlib import Path

import pytest
from tools import release

READY = (
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-31\n\n### Added\n\n* A verb.\n\n## [1.1.0] - 2025-12-01\n"
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A tree that is ready to be released as 1.2.0."""
    (tmp_path / "src" / "nlgauge").mkdir(parents=True)
    (tmp_path / "dist").mkdir()
    for name, text in {
        "pyproject.toml": '[project]\nversion = "1.2.0"\n',
        "src/nlgauge/__init__.py": '__version__ = "1.2.0"\n',
        "CITATION.cff": "title: x\nversion: 1.2.0\n",
        "CHANGELOG.md": READY,
        ".gitignore": "dist/\n",
        "dist/nlgauge-1.2.0-py3-none-any.whl": "wheel",
        "dist/nlgauge-1.2.0.tar.gz": "source",
        "dist/nlgauge.cdx.json": "{}",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    release.git(tmp_path, "init", "-q")
    release.git(tmp_path, "config", "user.name", "a")
    release.git(tmp_path, "config", "user.email", "a@example.org")
    commit(tmp_path)
    return tmp_path


def commit(repo: Path) -> None:
    release.git(repo, "add", "-A")
    release.git(repo, "commit", "-q", "-m", "x")


def test_docstring_examples_run() -> None:
    assert doctest.testmod(release) == doctest.TestResults(failed=0, attempted=1)


def test_a_ready_tree_is_tagged_with_its_section_of_the_changelog(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release.obstacles(repo) == []
    assert release.check(repo, dry=False) == 0
    assert release.tag(repo, dry=False) == 0
    assert release.git(repo, "tag").split() == ["v1.2.0"]
    message = release.git(repo, "tag", "-l", "--format=%(contents)", "v1.2.0")
    assert message.rstrip() == "NLGauge 1.2.0\n\n### Added\n\n* A verb."
    assert "tagged v1.2.0" in capsys.readouterr().out
    assert release.obstacles(repo) == ["the tag v1.2.0 exists already; raise the version"]


def test_a_dry_run_sets_no_tag(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release.tag(repo, dry=True) == 0
    assert release.git(repo, "tag") == ""
    assert "without DRY=1 this would set the tag v1.2.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "pyproject.toml",
            '[project]\nversion = "1.3.0"\n',
            "the newest version is 1.2.0, in pyproject.toml it is 1.3.0",
        ),
        ("src/nlgauge/__init__.py", '__version__ = "1.1.0"\n', "src/nlgauge/__init__.py has no line"),
        ("CITATION.cff", "version: 1.2.0.dev1\n", "CITATION.cff has no line 'version: 1.2.0'"),
        ("CHANGELOG.md", READY.replace(" - 2026-01-31", ""), "[1.2.0] has no date"),
        ("CHANGELOG.md", READY.replace("2026-01-31", "not published"), "[1.2.0] has no date"),
        ("CHANGELOG.md", READY.replace("[1.2.0] - 2026-01-31", "[1.2.1] - 2026-01-31"), "the newest version is 1.2.1"),
        ("CHANGELOG.md", READY.replace("[Unreleased]\n", "[Unreleased]\n\n* More.\n"), "entries under [Unreleased]"),
    ],
)
def test_what_does_not_agree_stops_the_release(
    name: str, text: str, line: str, repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / name).write_text(text, encoding="utf-8")
    assert any("changes that are not committed: " + name in found for found in release.obstacles(repo))
    commit(repo)
    assert any(line in found for found in release.obstacles(repo))
    assert release.check(repo, dry=False) == 1
    assert line in capsys.readouterr().err
    assert release.check(repo, dry=True) == 0  # goes on, and has said what is wrong
    assert line in capsys.readouterr().err
    if name != "pyproject.toml":  # there the files in dist are of another version
        assert release.tag(repo, dry=True) == 1
        assert release.tag(repo, dry=False) == 1
    assert release.git(repo, "tag") == ""


@pytest.mark.parametrize("name", ["nlgauge-1.2.0-py3-none-any.whl", "nlgauge-1.2.0.tar.gz", "nlgauge.cdx.json"])
def test_no_tag_without_wheel_source_archive_and_sbom(name: str, repo: Path) -> None:
    (repo / "dist" / name).unlink()
    with pytest.raises(SystemExit, match="is missing: make dist sbom"):
        release.tag(repo, dry=False)
    assert release.git(repo, "tag") == ""


def test_the_checksums_are_those_that_sha256sum_checks(repo: Path) -> None:
    release.tag(repo, dry=True)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=repo / "dist", check=True)
