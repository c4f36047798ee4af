"""Marks of a static figure: points, lines, bars and cells of plotly's traces as SVG, with a tip each."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from nlgauge.report.figures.svg_axes import Axis, colors_between, is_dark, known, lines_of, values_of

DASHES = {"dot": "2 3", "dash": "7 4", "longdash": "11 4", "dashdot": "7 3 2 3"}
MAX_TIPS = 110  # points, or cells of a heat map, that get a tip each; more cells are drawn as one shape per color
MAX_TEXTS = 200  # cells that hold a number; those of larger ones are in the table
STEPS = 48  # colors of such a heat map
INK = "#2878b5"
SIZE = 12  # of texts
INK_OF_PAGE = "currentColor"  # which figures have, so that they are readable in light and dark


def escaped(text: Any) -> str:
    """Return a text for SVG."""
    return html.escape(str(text))


def label(x: float, y: float, text: Any, size: float = SIZE, **facts: Any) -> str:
    """Return a text in SVG, whose size and color are those of the figure unless told; `x`, `y` is its base line."""
    spans = [_colored(part) for part in re.split(r"<br\s*/?>", str(text))]
    facts = {**({"font_size": f"{size:g}"} if size != SIZE else {}), **facts}
    more = "".join(
        f' {k.replace("_", "-")}="{escaped(v)}"' for k, v in facts.items() if v not in (None, "", INK_OF_PAGE)
    )
    down = (f'<tspan x="{x:g}" dy="{0 if k == 0 else 1.25 * size:.1f}">{part}</tspan>' for k, part in enumerate(spans))
    inside = spans[0] if len(spans) == 1 else "".join(down)
    x, y = round(x, 1), round(y, 1)
    return f'<text x="{x:g}" y="{y:g}"{more}>{inside}</text>'


def _colored(line: str) -> str:
    """Return a line with the colors of its spans, and without other tags.

    >>> _colored("<span style='color:#111'>a</span> &lt;b")
    '<tspan fill="#111">a</tspan> &lt;b'
    """
    parts = re.split(r"<span style='color:([#\w]+)'>(.*?)</span>", line)
    drawn = []
    for k, part in enumerate(parts):
        plain = escaped("\n".join(lines_of(part)))
        drawn.append("" if k % 3 == 1 else f'<tspan fill="{parts[k - 1]}">{plain}</tspan>' if k % 3 == 2 else plain)
    return "".join(drawn)


def _at(values: Any, k: int, default: Any = None) -> Any:
    """Return what holds for point k: an item of a list, or the one value of all."""
    if isinstance(values, list | tuple):
        return values[k] if k < len(values) and values[k] is not None else default
    return default if values is None else values


def tip(trace: dict[str, Any], point: dict[str, Any]) -> str:
    """Return the tip of a point, from plotly's template.

    >>> tip({"hovertemplate": "%{y}: %{x:.1f}<extra>a</extra>"}, {"x": 0.25, "y": "b"})
    'b: 0.2, a'
    """
    template = trace.get("hovertemplate")
    if not template:
        return ""
    point = {**point, "fullData.name": trace.get("name", "")}

    def written(match: re.Match[str]) -> str:
        value = point.get(match[1], "")
        form = match[2] or ""
        if form.startswith(":") and known(value):
            return format(value, form[1:])
        return f"{value:g}" if isinstance(value, float) else str(value)

    text = re.sub(r"%\{([\w.]+)(:[^}]*)?\}", written, str(template))
    text = re.sub(r"<extra>(.*?)</extra>", lambda m: f"<br>{m[1]}" if m[1] else "", text)
    return ", ".join(line for line in lines_of(text) if line)


def _titled(element: str, text: str) -> str:
    """Return an element (written as `<name …/>`) with its tip."""
    if not text:
        return element
    name = element[1 : element.index(" ")]
    return f"{element[:-2]}><title>{escaped(text)}</title></{name}>"


def marker(x: float, y: float, symbol: str, size: float, look: str) -> str:
    """Return one sign at a place."""
    r = size / 2
    kind = symbol.removesuffix("-open").removesuffix("-thin")
    shapes: dict[str, Callable[[], str]] = {
        "square": lambda: f"M{x - r:.1f} {y - r:.1f}h{size:.1f}v{size:.1f}h{-size:.1f}z",
        "diamond": lambda: (
            f"M{x:.1f} {y - 1.3 * r:.1f}l{1.3 * r:.1f} {1.3 * r:.1f}l{-1.3 * r:.1f} {1.3 * r:.1f}"
            f"l{-1.3 * r:.1f} {-1.3 * r:.1f}z"
        ),
        "triangle-up": lambda: f"M{x:.1f} {y - 1.1 * r:.1f}l{1.1 * r:.1f} {2 * r:.1f}h{-2.2 * r:.1f}z",
        "triangle-down": lambda: f"M{x:.1f} {y + 1.1 * r:.1f}l{1.1 * r:.1f} {-2 * r:.1f}h{-2.2 * r:.1f}z",
        "cross": lambda: f"M{x - r:.1f} {y:.1f}h{size:.1f}M{x:.1f} {y - r:.1f}v{size:.1f}",
        "x": lambda: f"M{x - r:.1f} {y - r:.1f}l{size:.1f} {size:.1f}m0 {-size:.1f}l{-size:.1f} {size:.1f}",
        "star": lambda: _star(x, y, 1.2 * r),
        "line": lambda: f"M{x - r:.1f} {y:.1f}h{size:.1f}",
    }
    if kind not in shapes:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {look}/>'
    return f'<path d="{shapes[kind]()}" {look}/>'


def _star(x: float, y: float, r: float) -> str:
    points = (
        (
            x + (r if k % 2 == 0 else r / 2.4) * math.sin(k * math.pi / 5),
            y - (r if k % 2 == 0 else r / 2.4) * math.cos(k * math.pi / 5),
        )
        for k in range(10)
    )
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points) + "z"


def look_of(trace: dict[str, Any], k: int = 0, fallback: str = INK) -> tuple[str, float, str]:
    """Return sign, size and SVG attributes of a point of a scatter trace."""
    facts = trace.get("marker") or {}
    symbol = str(_at(facts.get("symbol"), k, "circle"))
    ink = str(_at(facts.get("color"), k, (trace.get("line") or {}).get("color") or fallback))
    line = facts.get("line") or {}
    edge, thick = _at(line.get("color"), k), _at(line.get("width"), k, 0)
    thin = symbol.startswith(("x", "cross", "line"))
    if thin or symbol.endswith("open"):
        edge, thick = edge or ink, thick or 2
        fill = "none"
    else:
        fill = "none" if ink == "rgba(0,0,0,0)" else ink
    look = f'fill="{escaped(fill)}"'
    if edge and thick:
        look += f' stroke="{escaped(edge)}" stroke-width="{thick}"'
    opacity = _at(facts.get("opacity"), k)
    return symbol, float(_at(facts.get("size"), k, 7)), look + (f' fill-opacity="{opacity}"' if opacity else "")


def scatter(trace: dict[str, Any], x_axis: Axis, y_axis: Axis, ink: str) -> list[str]:
    """Return lines, error bars, signs and texts of a scatter trace."""
    xs, ys = values_of(trace.get("x")), values_of(trace.get("y"))
    places = [(x_axis.place(x), y_axis.place(y)) for x, y in zip(xs, ys, strict=False)]
    mode = str(trace.get("mode") or "lines+markers")
    line = trace.get("line") or {}
    drawn = []
    if "lines" in mode:
        shape = _path(places)
        dash = DASHES.get(str(line.get("dash") or ""), "")
        drawn.append(
            f'<path d="{shape}" fill="none" stroke="{escaped(line.get("color") or ink)}" '
            f'stroke-width="{line.get("width", 2)}"{f" stroke-dasharray={chr(34)}{dash}{chr(34)}" if dash else ""}/>'
        )
    for name, axis in (("error_x", x_axis), ("error_y", y_axis)):
        if trace.get(name):
            drawn += _error_bars(trace[name], (xs, ys), places, axis, ink)
    texts, custom = values_of(trace.get("text")), values_of(trace.get("customdata"))
    for k, (x, y) in enumerate(places):
        if not (known(x) and known(y)):
            continue
        point = {"x": xs[k], "y": ys[k], "text": _at(texts, k, ""), "customdata": _at(custom, k, "")}
        if "markers" in mode:
            symbol, size, look = look_of(trace, k, ink)
            drawn.append(_titled(marker(x, y, symbol, size, look), tip(trace, point)))
        if "text" in mode and point["text"]:
            drawn.append(_point_text(trace, k, x, y, point["text"]))
    return drawn


def _path(places: Sequence[tuple[float, float]]) -> str:
    """Return a line through places; a missing one leaves a gap."""
    parts, pen = [], "M"
    for x, y in places:
        if known(x) and known(y):
            parts.append(f"{pen}{x:.1f} {y:.1f}")
            pen = "L"
        else:
            pen = "M"
    return "".join(parts)


def _point_text(trace: dict[str, Any], k: int, x: float, y: float, text: str) -> str:
    font = trace.get("textfont") or {}
    where = str(_at(trace.get("textposition"), k, "middle center"))
    size = float(_at(font.get("size"), k, 12))
    down = -7 if "top" in where else size + 5 if "bottom" in where else size / 3
    side = {"right": (7, "start"), "left": (-7, "end")}
    shift, anchor = next((s for name, s in side.items() if name in where), (0, "middle"))
    fill = _at(font.get("color"), k) or "currentColor"
    return label(x + shift, y + down, text, size, text_anchor=anchor, fill=fill)


def _error_bars(
    bars: dict[str, Any],
    points: tuple[list[Any], list[Any]],
    places: Sequence[tuple[float, float]],
    axis: Axis,
    ink: str,
) -> list[str]:
    up = values_of(bars.get("array"))
    down = values_of(bars.get("arrayminus")) or up
    drawn = []
    for k, (x, y) in enumerate(places):
        value = points[0 if axis.horizontal else 1][k]
        if not (known(x) and known(y) and known(value) and k < len(up)):
            continue
        first, last = sorted((axis.start, axis.end))  # whiskers end at the edge of the plot
        a, b = (min(max(axis.place(end), first), last) for end in (value - (down[k] or 0), value + (up[k] or 0)))
        path = f"M{a:.1f} {y:.1f}H{b:.1f}" if axis.horizontal else f"M{x:.1f} {a:.1f}V{b:.1f}"
        color = escaped(bars.get("color") or ink)
        drawn.append(f'<path d="{path}" stroke="{color}" stroke-width="{bars.get("thickness", 1.5)}" fill="none"/>')
    return drawn


def bars(trace: dict[str, Any], x_axis: Axis, y_axis: Axis, slot: tuple[int, int, float], ink: str) -> list[str]:
    """Return the bars of a trace; `slot` is its place among those side by side, their number, and the gap."""
    across = trace.get("orientation") == "h"
    value_axis, name_axis = (x_axis, y_axis) if across else (y_axis, x_axis)
    lengths, names = (values_of(trace.get(n)) for n in (("x", "y") if across else ("y", "x")))
    texts, custom = values_of(trace.get("text")), values_of(trace.get("customdata"))
    place, of, gap = slot
    unit = name_axis.slot()
    direction = 1 if name_axis.end > name_axis.start else -1
    drawn = []
    for k, (length, name) in enumerate(zip(lengths, names, strict=False)):
        if not known(length) or not known(name_axis.place(name)):
            continue
        width, offset = _at(trace.get("width"), k), _at(trace.get("offset"), k)
        thick = unit * (width if width else (1 - gap) / of)
        first = offset * unit if offset is not None else -unit * (1 - gap) / 2 + place * thick
        side = name_axis.place(name) + (first if direction > 0 or across else -first - thick)
        zero, end = value_axis.place(0), value_axis.place(length)
        low, size = min(zero, end), abs(end - zero)
        box = (low, side, size, thick) if across else (side, low, thick, size)
        color = escaped(_at((trace.get("marker") or {}).get("color"), k, ink))
        opacity = _at((trace.get("marker") or {}).get("opacity"), k, 1)
        text = _at(texts, k, "")
        point = {"x": length if across else name, "y": name if across else length, "text": text,
                 "customdata": _at(custom, k, "")}  # fmt: skip
        shape = "<rect " + " ".join(f'{n}="{v:.1f}"' for n, v in zip(("x", "y", "width", "height"), box, strict=True))
        drawn.append(_titled(f'{shape} fill="{color}" fill-opacity="{opacity}"/>', tip(trace, point)))
        drawn += _bar_error(trace, value_axis, length, k, side + thick / 2)
        if text and trace.get("textposition") == "outside":
            far = max(end, value_axis.place(length + _reach(trace, k)))
            drawn.append(
                label(far + 5, side + thick / 2 + 4, text)
                if across
                else label(side + thick / 2, end - 5, text, text_anchor="middle")
            )
    return drawn


def _reach(trace: dict[str, Any], k: int) -> float:
    bars = trace.get("error_x") or {}
    return float(_at(values_of(bars.get("array")), k, 0) or 0) if bars else 0.0


def _bar_error(trace: dict[str, Any], axis: Axis, length: float, k: int, middle: float) -> list[str]:
    facts = trace.get("error_x" if axis.horizontal else "error_y")
    if not facts:
        return []
    place = axis.place(length)
    given = [[0.0] * k + [length], [0.0] * k + [length]]
    points = [(math.nan, math.nan)] * k + [(place, middle) if axis.horizontal else (middle, place)]
    return _error_bars(facts, (given[0], given[1]), points, axis, str(facts.get("color") or "#555555"))


def heat_map(trace: dict[str, Any], x_axis: Axis, y_axis: Axis) -> list[str]:
    """Return the cells of a heat map, with their texts; a large one has one shape per color and no tips."""
    z, texts, custom = (values_of(trace.get(n)) for n in ("z", "text", "customdata"))
    xs, ys = values_of(trace.get("x")), values_of(trace.get("y"))
    low, high = heat_range(trace)
    wide, tall = x_axis.slot(), y_axis.slot()
    many = len(xs) * len(ys) > MAX_TIPS
    size = min(12.0, wide / 3.0, tall / 1.6)
    written = bool(trace.get("texttemplate")) and size > 5 and len(xs) * len(ys) <= MAX_TEXTS
    drawn: list[str] = []
    groups: dict[str, list[str]] = {}
    inks: dict[str, list[str]] = {}
    for i, line in enumerate(z):
        for j, value in enumerate(values_of(line)):
            if not known(value):
                continue
            share = (value - low) / ((high - low) or 1)
            color = colors_between(values_of(trace.get("colorscale")), round(share * STEPS) / STEPS if many else share)
            x, y = x_axis.place(xs[j]) - wide / 2 + 0.5, y_axis.place(ys[i]) - tall / 2 + 0.5
            shape = f"M{x:.0f} {y:.0f}h{wide - 1:.0f}v{tall - 1:.0f}h{1 - wide:.0f}z"
            own = [_at(values_of(_at(part, i, [])), j, "") for part in (texts, custom)]
            if many:
                groups.setdefault(color, []).append(shape)
            else:
                point = {"x": xs[j], "y": ys[i], "z": value, "text": own[0], "customdata": own[1]}
                drawn.append(_titled(f'<path d="{shape}" fill="{color}"/>', tip(trace, point)))
            if written and own[0]:
                place = label(round(x + wide / 2), round(y + tall / 2 + size / 3), own[0])
                inks.setdefault("#ffffff" if is_dark(color) else "#1b2230", []).append(place)
    drawn += [f'<path d="{"".join(parts)}" fill="{color}"/>' for color, parts in groups.items()]
    look = f'font-size="{size:.1f}" text-anchor="middle"'
    return drawn + [f'<g {look} fill="{ink}">{"".join(parts)}</g>' for ink, parts in inks.items()]


def heat_range(trace: dict[str, Any]) -> tuple[float, float]:
    """Return the values of the two ends of the colors."""
    cells = [v for line in values_of(trace.get("z")) for v in values_of(line) if known(v)]
    low, high = trace.get("zmin"), trace.get("zmax")
    return float(min(cells, default=0) if low is None else low), float(max(cells, default=1) if high is None else high)


def color_bar(trace: dict[str, Any], x: float, top: float, tall: float) -> list[str]:
    """Return the scale of colors of a heat map with three ticks, or those that it names."""
    low, high = heat_range(trace)
    facts = trace.get("colorbar") or {}
    values = values_of(facts.get("tickvals")) or [low, (low + high) / 2, high]
    texts = values_of(facts.get("ticktext")) or [f"{v:.2g}" for v in values]
    steps = 24
    drawn = [
        f'<rect x="{x:.1f}" y="{top + tall * (1 - (k + 1) / steps):.1f}" width="12" height="{tall / steps + 0.3:.1f}" '
        f'fill="{colors_between(values_of(trace.get("colorscale")), (k + 0.5) / steps)}"/>'
        for k in range(steps)
    ]
    for value, text in zip(values, texts, strict=False):
        y = top + tall * (1 - (value - low) / ((high - low) or 1))
        drawn.append(label(x + 16, min(max(y + 4, top + 9), top + tall), text, 11, fill="currentColor"))
    return drawn
