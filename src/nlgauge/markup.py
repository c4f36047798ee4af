"""A Table as LaTeX and HTML, by the printed cells.

LaTeX has booktabs rules, siunitx columns that align numbers at the point, and stars for significance; HTML is for
notebooks, with definitions, method, notes and signature below the table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nlgauge.foreign_text import for_html, for_terminal
from nlgauge.number import is_p

if TYPE_CHECKING:
    from nlgauge.table import Cell, Row, Table

STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
LEGEND = "* p < .05, ** p < .01, *** p < .001"
CORRECTED = "p_corrected"  # wins over "p" where a row has both
PAGE = 112  # signs that fit into the width of a page
COLUMN = 46  # signs that fit into one of two columns of a page
NUMBER = re.compile(r"^(?P<below><?)(?P<sign>[-−]?)(?P<whole>[\d,]*)(?P<part>\.\d+)?(?P<marks>[*†‡]*)$")
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "κ": "kappa", "λ": "lambda", "μ": "mu",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "χ": "chi", "ω": "omega", "Δ": "Delta", "Σ": "Sigma",
}  # fmt: skip
MATHS = {
    "×": "times", "±": "pm", "↓": "downarrow", "↑": "uparrow", "→": "rightarrow", "≤": "leq", "≥": "geq", "≈": "approx",
    "≠": "neq", "≺": "prec", "⇔": "Leftrightarrow", "∩": "cap", "·": "cdot", "⌊": "lfloor", "⌋": "rfloor", "√": "surd",
}  # fmt: skip
SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "−": "$-$",
    "…": r"\dots{}",
    "†": r"\textsuperscript{\textdagger}",
    "‡": r"\textsuperscript{\textdaggerdbl}",
    "⟦": "[",
    "⟧": "]",
    **{sign: f"$\\{name}$" for sign, name in (GREEK | MATHS).items()},
    **{sign: f"$_{place}$" for place, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{sign: f"$^{place}$" for place, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}


def latex(table: Table) -> str:
    """Return a table for a paper; its first line names the LaTeX packages.

    Stars follow the p of the same row (the corrected one where there is one); where metrics have ranks, rules separate
    the ranks and the names of the first rank are bold.
    """
    header, body = table.grid()
    marks, legend = _marks(table, header, body)
    formats = [_format([cells[i] for cells in body], [m[i] for m in marks]) for i in range(len(header))]
    signs = _signs(header, body)
    wide, scaled = signs > COLUMN, signs > PAGE  # over both columns of a paper that has two; wider than the page
    place = "table*" if wide else "table"
    lines = [
        rf"% \usepackage{{booktabs, {'graphicx, ' if scaled else ''}siunitx}}",
        rf"\begin{{{place}}}[t]",
        r"  \centering",
        r"  \footnotesize" if wide else r"  \small",
        r"  \sisetup{detect-weight = true}",
        *([r"  \setlength{\tabcolsep}{3pt}"] if wide else []),
        *([r"  \resizebox{\textwidth}{!}{%"] if scaled else []),
        rf"  \begin{{tabular}}{{{' '.join(formats)}}}",
        r"    \toprule",
        *_heads(header, formats),
        r"    \midrule",
    ]
    ranks = _ranks(table)
    for at, cells in enumerate(body):
        if ranks and at and ranks[at] != ranks[at - 1]:
            lines.append(r"    \midrule")
        first = bool(ranks) and ranks[at] == 1 and len(set(ranks)) > 1
        shown = [
            _cell(cell, formats[i], marks[at][i], cell.best or (first and header[i] == "metric"))
            for i, cell in enumerate(cells)
        ]
        lines.append(_row(shown))
    caption = " ".join(_tex(text) for text in (table.title + ".", *table.headlines, *table.answers, *legend) if text)
    method = [f"% {_tex(' '.join(text.split()))}" for text in (table.method, *table.notes) if text.strip()]
    lines += [
        r"    \bottomrule",
        rf"  \end{{tabular}}{'}' if scaled else ''}",
        rf"  \caption{{{caption}}}",
        rf"  \label{{tab:{_slug(table.title)}}}",
        rf"\end{{{place}}}",
        *method,
    ]
    return "\n".join(lines) + "\n"


def _signs(header: list[str], body: list[list[Cell]]) -> int:
    """Return the width of a column in characters; headings of two words may be broken into two lines."""
    return sum(
        max([2 + max(map(len, head.split(" "))), *(2 + len(cells[i].text) for cells in body)])
        for i, head in enumerate(header)
    )


def _heads(header: list[str], formats: list[str]) -> list[str]:
    """Return one header line, or two if adjacent headings share their first word: `system` over r, ρ and τ."""
    words = [head.split(" ") for head in header]
    runs: list[list[int]] = []
    for i, mine in enumerate(words):
        before = words[i - 1] if i > 1 else []
        if len(mine) == 2 and len(before) == 2 and before[0] == mine[0]:
            runs[-1].append(i)
        else:
            runs.append([i])
    shared = [run for run in runs if len(run) > 1]
    below = {i for run in shared for i in run}
    texts = [_tex(words[i][1] if i in below else head) for i, head in enumerate(header)]
    last = [text if form in "lr" else f"{{{text}}}" for text, form in zip(texts, formats, strict=True)]
    line = _row(last)
    if not shared:
        return [line]
    cells = [rf"\multicolumn{{{len(run)}}}{{c}}{{{_tex(words[run[0]][0])}}}" if run in shared else "{}" for run in runs]
    rules = " ".join(rf"\cmidrule(lr){{{run[0] + 1}-{run[-1] + 1}}}" for run in shared)
    return [_row(cells), f"    {rules}", line]


def _row(cells: Sequence[str]) -> str:
    """Return a line of the table; a leading bracket or star is protected, as LaTeX would read it as an option."""
    guard = "{}" if cells[0].lstrip()[:1] in ("[", "*") else ""
    return f"    {guard}{' & '.join(cells)} \\\\"


def stars(p: Any) -> str:
    """
    >>> stars(0.004), stars(0.2), stars(None)
    ('**', '', '')
    """
    if isinstance(p, bool) or not isinstance(p, int | float):
        return ""
    return next((sign for level, sign in STARS if p < level), "")


def _marks(table: Table, header: list[str], body: list[list[Cell]]) -> tuple[list[list[str]], list[str]]:
    """Return the significance stars of each cell, and the sentence that explains them."""
    layout = table.layout
    marks = [["" for _ in header] for _ in body]
    if table.groups:  # stars where the parts have the same columns
        every = [_marks(part, *part.grid()) for part in table.parts]
        found = [mine for mark, _ in every for mine in mark]
        if all(len(mine) == len(header) - len(table.groups) for mine in found):
            marks = [["" for _ in table.groups] + mine for mine in found]
        return marks, next((legend for _, legend in every if legend), [])
    used = CORRECTED if any(CORRECTED in row for row in table.rows) else "p"
    if layout is None:
        for i, name in enumerate(table.shown or table.columns):
            if is_p(name):
                for mine, row in zip(marks, table.rows, strict=True):
                    mine[i] = stars(row.get(name))
    else:
        at: dict[tuple[Any, Any], Row] = {layout.place(row): row for row in table.rows}
        across = list(dict.fromkeys(column for _, column in at))
        for mine, cells in zip(marks, body, strict=True):
            for i, column in enumerate(across, start=1):
                # A cell with custom text already contains its marks.
                if isinstance(cells[i].value, float) and layout.value not in table.cells:
                    mine[i] = stars(at.get((cells[0].value, column), {}).get(used))
    if not any(sign for mine in marks for sign in mine):
        return marks, []
    corrected = used == CORRECTED and layout is not None
    return marks, [f"{LEGEND}{' after the correction' if corrected else ''}."]


def _ranks(table: Table) -> list[Any]:
    """Return the rank of each line if the table is a list of ranked metrics."""
    listed = table.layout is None and {"rank", "metric"} <= set(table.shown or table.columns)
    return [row.get("rank") for row in table.rows] if listed else []


def _format(cells: list[Cell], marks: list[str]) -> str:
    """Return the LaTeX column type: S for numbers, l for words, r for text that begins with a number."""
    found = [NUMBER.match(cell.text) for cell in cells if cell.text not in ("", "–")]
    numbers = [m for m in found if m is not None and (m["whole"] or m["part"])]
    if not numbers or len(numbers) < len(found):
        return "r" if found and all(cell.text[:1] in "<-.0123456789–" for cell in cells) else "l"
    whole = max(1, *(len(m["whole"].replace(",", "")) for m in numbers))
    part = max(len(m["part"] or ".") - 1 for m in numbers)
    sign = ("<" if any(m["below"] for m in numbers) else "") + ("-" if any(m["sign"] for m in numbers) else "")
    post = max([*marks, *(m["marks"] for m in numbers)], key=len)
    room = f", table-space-text-post = {{{_tex(post)}}}" if post else ""
    return f"S[table-format = {sign}{whole}{f'.{part}' if part else ''}{room}]"


def _cell(cell: Cell, form: str, mark: str, bold: bool) -> str:
    number = NUMBER.match(cell.text) if form.startswith("S") else None
    if number is None or not (number["whole"] or number["part"]):
        text = _tex(cell.text)
        text = rf"\textbf{{{text}}}" if bold and text else text
        return f"{{{text}}}" if form.startswith("S") else text
    ahead = number["below"] + ("-" if number["sign"] else "")
    digits = f"{ahead}{number['whole'].replace(',', '') or '0'}{number['part'] or ''}"
    after = _tex(mark or number["marks"])
    return f"{chr(92)}bfseries {digits}{after and f'{{{after}}}'}" if bold else f"{digits}{after and f'{{{after}}}'}"


def _slug(text: str) -> str:
    """
    >>> _slug("summeval: ranks on coherence, input/kendall")
    'summeval-ranks-on-coherence-input-kendall'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _tex(text: str) -> str:
    """
    >>> _tex("a_b & 5%")
    'a\\\\_b \\\\& 5\\\\%'
    """
    return "".join(SPECIAL.get(sign, sign) for sign in for_terminal(text))


def html(table: Table) -> str:
    """Return the table as HTML.

    >>> from nlgauge.table import Table
    >>> html(Table("Two", [{"metric": "<a>", "value": 0.5}])).split("\\n")[-3]
    '<tr><td style="text-align:left">&lt;a&gt;</td><td style="text-align:right">0.500</td></tr>'
    """
    header, body = table.grid()
    right = [i > 0 and all(cells[i].is_number for cells in body) for i in range(len(header))]
    lines = [f"<p><strong>{for_html(text)}</strong></p>" for text in table.headlines]
    lines += [f'<p style="margin:1em 0 0"><strong>{for_html(table.title)}</strong></p>', "<table>", "<thead>"]
    lines += [_html_row("th", [(head, False) for head in header], right), "</thead>", "<tbody>"]
    lines += [_html_row("td", [(cell.text, cell.best) for cell in cells], right) for cells in body]
    lines += ["</tbody>", "</table>"]
    return "\n".join([*lines, *(f"<small>{for_html(text)}</small><br>" for text in table.remarks())])


def _html_row(tag: str, cells: Sequence[tuple[str, bool]], right: Sequence[bool]) -> str:
    found = []
    for (text, best), number in zip(cells, right, strict=True):
        inner = f"<strong>{for_html(text)}</strong>" if best else for_html(text)
        found.append(f'<{tag} style="text-align:{"right" if number else "left"}">{inner}</{tag}>')
    return f"<tr>{''.join(found)}</tr>"
