"""What is packed into the page: base 85 as Python's own base64 module writes it."""

import base64
import gzip

import pytest

from nlgauge.report.page import _pack


@pytest.mark.parametrize("text", ["", "a", "ab<c", "<!--" * 1000, "é" * 77, *("x" * n for n in range(2, 9))])
def test_packed_text_is_base85_of_gzip_without_the_sign_that_opens_a_comment(text: str) -> None:
    packed = _pack(text)
    assert "<" not in packed
    assert gzip.decompress(base64.b85decode(packed.replace(",", "<"))).decode() == text
    assert packed == base64.b85encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode().replace("<", ",")
