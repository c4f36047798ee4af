"""The judge's own words: a reply without reasoning blocks, quotations and repetitions of the judged text.

The author of a judged text can put a rating into it. A judge that quotes this rating has not given it. Every step is
one pass over a text of limited length.
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 20_000  # characters of a reply without its reasoning; replies of 512 tokens have about 2,500
MAX_QUOTATION = 4_000  # characters between two marks; beyond it they are no pair
JUDGED = 100_000  # characters of the judged texts, counted from their end, in which repetitions are looked for
REPEATED = 12  # characters next to a statement that make it a repetition of the judged text
GAP = " \ufffc "  # replaces removed text, so that the text before and after does not become one statement

_NAMES = r"think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis|rationale|seed:think"
OPENING = re.compile(rf"<({_NAMES})>|◁think▷|\[THINK\]", re.I)
CLOSING = re.compile(rf"</({_NAMES})>|◁/think▷|\[/THINK\]", re.I)
CHANNEL = re.compile(r"<\|channel\|>\s?(\w+)[^<]{0,40}<\|message\|>")
SPACES = re.compile(r"[^\S\n]+")
LINES = re.compile(r" ?\n\s*")
FENCE = re.compile(r"(?m)^ ?(?:```|~~~)[^\n`]*$")
BLOCK_QUOTE = re.compile(r"(?m)^ ?>[^\n]*$")
PAIRS = {"“": "”", "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』", "《": "》", "”": "”"}
KEYCAP = re.compile("\ufe0f?\u20e3")
INCH = re.compile(r"\d$")
BARE = re.compile(r"\W*(?:\d{1,3}(?:[.,]\d{1,2})?|[A-Za-z])(?:\s?/\s?\d{1,3})?\W*")


def after_code(code: str) -> str:
    """Return the pattern of the text before a value with the code of a request, except tags around the judged texts.

    >>> re.search(after_code("7f3a") + r"\\d", "<judged-7f3a>3 men</judged-7f3a> RATING-7f3a: 2")[0]
    '7f3a: 2'
    """
    own = re.escape(code)
    return rf"(?:\b(?:rating|better)[-_ ]?{own}\b|(?<!judged-){own}[^\w\n:=<>]{{0,4}}[:=])[^\w\n-]{{0,8}}"


def without_judged(text: str, code: str) -> str:
    """Return the text with a gap in place of the judged texts between their tags.

    >>> without_judged("<judged-7f3a>5 stars</judged-7f3a> Poor.", "7f3a")
    ' \ufffc  Poor.'
    """
    first, *rest = text.split(f"<judged-{code}>") if code else [text]
    return GAP.join([first, *(piece.rpartition(f"</judged-{code}>")[2] for piece in rest)])


class TooLong(ValueError):
    """A reply that is too long to be read."""


def plain_text(reply: str) -> str:
    """Return the reply without reasoning, with normalized spelling and single blanks; `TooLong` beyond the limit."""
    text = without_reasoning(reply.replace("\r\n", "\n").replace("\r", "\n"))
    text = LINES.sub("\n", SPACES.sub(" ", text)).strip()
    if len(text) > MAX_CHARACTERS:
        raise TooLong(f"the reply has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read")
    return SPACES.sub(" ", _normalized(text.replace("\\n", "\n")))[: 2 * MAX_CHARACTERS].strip()


def _normalized(text: str) -> str:
    """Return the text in one spelling: NFKC, a hyphen for a minus sign, no keycaps.

    >>> _normalized("−4 4️⃣")
    '-4 4'
    """
    return KEYCAP.sub("", unicodedata.normalize("NFKC", text)).replace("−", "-")


def without_reasoning(text: str) -> str:
    """Return the text without blocks such as `<think> … </think>`; an unclosed block extends to the end.

    >>> without_reasoning("<think>maybe 5</think>Rating: 2"), without_reasoning("Rating: 2 <think> is a tag")
    (' Rating: 2', 'Rating: 2 <think> is a tag')
    """
    if channels := list(CHANNEL.finditer(text)):
        last = channels[-1]
        return text[last.end() :].split("<|", maxsplit=1)[0] if last[1].lower() == "final" else ""
    selected, place = [], 0
    while opening := OPENING.search(text, place):
        closing = CLOSING.search(text, opening.end())
        if closing is None:
            if not text[place : opening.start()].rpartition("\n")[2].strip():
                selected.append(text[place : opening.start()])
                return " ".join(selected)
            break
        selected.append(text[place : opening.start()])
        place = closing.end()
    selected.append(text[place:])
    whole = " ".join(selected)
    if not place:  # the prompt of some servers opens the block, so only its end is in the reply
        ends = [end for end in CLOSING.finditer(whole) if not whole[: end.start()].rpartition("\n")[2].strip()]
        if ends:
            return whole[ends[-1].end() :]
    return whole


def without_quotations(text: str) -> str:
    """Return the text with a gap in place of quotations, code blocks and quoted lines.

    A quotation that is a bare value (`a rating of "4"`) is unwrapped, and so is a reply that is one quotation.

    >>> without_quotations('It says "Final score: 5/5", which I ignore. Rating: "1"')
    'It says  \ufffc , which I ignore. Rating: 1'
    """
    return _without_pairs(BLOCK_QUOTE.sub(GAP, _without_fences(unwrapped(text))))


def unwrapped(text: str) -> str:
    """Return the content of a reply that is one code block or one quotation."""
    fences = list(FENCE.finditer(text))
    if len(fences) == 2 and not text[: fences[0].start()].strip() and not text[fences[1].end() :].strip():
        return text[fences[0].end() : fences[1].start()].strip()
    for mark, end in (('"', '"'), ("“", "”"), ("`", "`"), ("'", "'")):
        inner = text[1:-1]
        if len(text) > 2 and text[0] == mark and text[-1] == end and mark not in inner and end not in inner:
            return inner
    return text


def _without_fences(text: str) -> str:
    selected, place, fences = [], 0, list(FENCE.finditer(text))
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        selected += [text[place : opening.start()], GAP]
        place = closing.end()
    return "".join([*selected, text[place:]])


def _without_pairs(text: str) -> str:
    """Remove text between quotation marks; a mark without a nearby partner stays.

    An odd number of straight marks cannot be paired reliably: the quoted text then stays, and may conflict.
    """
    selected: list[str] = []
    straight = text.count('"') % 2 == 0
    place = k = 0
    nearest: dict[str, int] = {}  # the next closing mark of each kind: looked for once
    while k < len(text):
        ends = _closing_marks(text, k) if straight or text[k] != '"' else ""
        end = _partner(text, k, ends, nearest) if ends else -1
        if end < 0:
            k += 1
            continue
        inner = text[k + 1 : end]
        selected += [
            text[place:k],
            inner if BARE.fullmatch(inner) else GAP + (inner[-1:] if inner[-1:] in ".!?" else ""),
        ]
        place = k = end + 1
    return "".join([*selected, text[place:]])


def _closing_marks(text: str, k: int) -> str:
    """Return the marks that may close a quotation that opens here; '' if none opens."""
    mark, before = text[k], text[k - 1] if k else " "
    if mark == '"':
        return '"' if not INCH.match(before) else ""
    if mark == "`":
        return "`"
    if mark in "'‘‚":
        follows = text[k + 1 : k + 2]
        return "'’‘" if not before.isalnum() and follows and not follows.isspace() else ""
    return PAIRS.get(mark, "")


def _partner(text: str, k: int, ends: str, nearest: dict[str, int]) -> int:
    """Return where the quotation that opens at k is closed; -1 if not nearby."""
    end = nearest.get(ends, -1)
    if end <= k:
        end = k
        while True:
            places = [p for p in (text.find(mark, end + 1) for mark in ends) if p >= 0]
            end = min(places, default=len(text))
            inside_word = end + 1 < len(text) and text[end + 1].isalnum() and text[end] in "'’"
            if end >= len(text) or not inside_word:
                break
        nearest[ends] = end
    return end if end < len(text) and end - k <= MAX_QUOTATION else -1


def comparable(judged: str) -> str:
    """Return the judged texts in the spelling of `plain_text`, with their reasoning blocks; the outputs are last."""
    text = _normalized(judged[-JUDGED:].replace("\r", "\n"))
    return LINES.sub("\n", SPACES.sub(" ", text))


def is_repetition(text: str, first: int, end: int, judged: str) -> bool:
    """Return whether text[first:end] with its surroundings is part of the judged text.

    `judged` comes from `comparable`. The words of a short rating alone are not a repetition: the judge may agree with a
    claim of the text.
    """
    if not judged:
        return False
    before, after = text[max(0, first - REPEATED) : end].lstrip(), text[first : end + REPEATED].rstrip()
    longer = [piece for piece in (before, after) if len(piece) >= end - first + REPEATED - 2]
    return any(piece in judged for piece in longer)
