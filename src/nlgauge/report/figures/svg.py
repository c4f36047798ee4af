"""Static figures: a plotly figure as SVG, for pages that print and can be read without JavaScript.

It draws what the figures of nlgauge use: points, lines, bars and heat maps, on linear, logarithmic and category axes,
with panels, legends, shapes and annotations.
"""

from __future__ import annotations

import math
from typing import Any

from nlgauge.report.figures.svg_axes import Axis, lines_of, values_of, width_of
from nlgauge.report.figures.svg_marks import (
    DASHES,
    MAX_TIPS,
    SIZE,
    bars,
    color_bar,
    escaped,
    heat_map,
    label,
    look_of,
    marker,
    scatter,
)

WIDTH = 760  # pixels
COLUMN = 40  # of a heat map, at least
PANEL = 250  # width of a panel, at least
SOFT, GRID = "#77808f", "rgba(128,136,150,.25)"
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
BAR = 70  # width of a scale of colors with its labels
LEGEND_LINE = 20


class Drawing:
    """A plotly figure laid out for SVG: `svg()` returns it."""

    def __init__(self, figure: Any) -> None:
        plain = figure.to_dict() if hasattr(figure, "to_dict") else figure
        self.traces: list[dict[str, Any]] = [t for t in plain["data"] if t.get("visible") is not False]
        self.layout: dict[str, Any] = plain["layout"]
        shared = self.layout.get("coloraxis") or {}  # the scale of colors of several heat maps
        scale = {"colorscale": "colorscale", "zmin": "cmin", "zmax": "cmax", "colorbar": "colorbar"}
        of_all = {own: shared[name] for own, name in scale.items() if name in shared}
        self.traces = [{**of_all, **t} if t.get("coloraxis") else t for t in self.traces]
        points = sum(len(values_of(t.get("x"))) for t in self.traces if t["type"] != "heatmap")
        if points > MAX_TIPS:  # a tip each would be most of the page
            self.traces = [t if t["type"] == "heatmap" else {**t, "hovertemplate": ""} for t in self.traces]
        self.axes: dict[str, Axis] = {}
        for trace in self.traces:
            self._take(trace)
        self._share_ranges()
        for axis in self.axes.values():
            axis.settle()
        self.width = self._width()
        self.named = self._legend_entries()
        self.box = self._box()

    def _axis(self, name: str) -> Axis:
        if name not in self.axes:
            number = name[1:]
            self.axes[name] = Axis(name, self.layout.get(f"{name[0]}axis{number}") or {})
        return self.axes[name]

    def _take(self, trace: dict[str, Any]) -> None:
        """Let the axes of a trace see its values."""
        for side in ("x", "y"):
            axis = self._axis(trace.get(f"{side}axis") or side)
            values = values_of(trace.get(side))
            axis.see(values)
            error = trace.get(f"error_{side}") or {}
            up, down = values_of(error.get("array")), values_of(error.get("arrayminus"))
            for ends, sign in ((up, 1), (down or up, -1)):
                axis.see(v + sign * e for v, e in zip(values, ends, strict=False) if _both(v, e))
            if trace["type"] == "bar":
                bars_along = "x" if trace.get("orientation") == "h" else "y"
                axis.zero |= side == bars_along
                if side != bars_along and not axis.is_category and all(isinstance(v, int | float) for v in values):
                    axis.see([min(values, default=0) - 0.5, max(values, default=0) + 0.5])

    def _share_ranges(self) -> None:
        """Let axes that match another one have its values."""
        for axis in list(self.axes.values()):
            other = axis.layout.get("matches")
            if other and other != axis.name:
                self._axis(other).see(axis.seen)
        for axis in self.axes.values():
            other = axis.layout.get("matches")
            if other and other != axis.name:
                axis.seen = list(self._axis(other).seen)
                axis.categories = list(self._axis(other).categories)

    def _width(self) -> float:
        """Return the width that the figure needs."""
        columns = max((len(values_of(t.get("x"))) for t in self.traces if t["type"] == "heatmap"), default=0)
        across = len({a.domain for a in self.axes.values() if a.horizontal})
        tight = 15 if columns > 30 else COLUMN
        return float(
            max(WIDTH, self._left_labels() + self._bar_width() + tight * columns * max(across, 1), PANEL * across + 120)
        )

    def _left_labels(self) -> float:
        shown = [a for a in self.axes.values() if not a.horizontal and a.domain and self._is_left(a)]
        return max((max((width_of(t, a.size) for _, t in a.ticks()), default=0) for a in shown), default=0) + 14

    def _is_left(self, axis: Axis) -> bool:
        """Return whether the labels of a vertical axis stand at the left edge of the figure."""
        partner = self._axis(axis.layout.get("anchor") or f"x{axis.name[1:]}")
        return axis.layout.get("showticklabels") is not False and partner.domain[0] < 0.01

    def _box(self) -> tuple[float, float, float, float]:
        """Return left, top, width and height of the plot; the figure grows where labels need more than its margins."""
        margin = self.layout.get("margin") or {}
        titles = 20.0 if any(a.title for a in self.axes.values() if not a.horizontal) else 0.0
        left = max(float(margin.get("l", 40)), self._left_labels() + titles)
        right = max(float(margin.get("r", 20)), self._bar_width())
        top, bottom = float(margin.get("t", 20)), float(margin.get("b", 40))
        inner = self.width - left - right
        height = max(60.0, float(self.layout.get("height") or 400) - top - bottom)
        for axis in (a for a in self.axes.values() if a.horizontal):
            axis.between(left + axis.domain[0] * inner, left + axis.domain[1] * inner)
            room = self._tick_height(axis) + (20 * len(lines_of(axis.title)) if axis.title else 0) + 10
            if axis.layout.get("side") == "top":
                top = max(top, room)
            elif self._at_bottom(axis):
                bottom = max(bottom, room)
        lines = self._legend_lines()
        self.legend_top = 0.0
        if lines:
            above = float((self.layout.get("legend") or {}).get("y", 1)) >= 0
            self.legend_top = top - 4 if above else -1
            top += LEGEND_LINE * lines if above else 0
            self.legend_below = bottom
            bottom += 0 if above else LEGEND_LINE * lines
        for axis in (a for a in self.axes.values() if not a.horizontal):
            axis.between(top + (1 - axis.domain[0]) * height, top + (1 - axis.domain[1]) * height)
        self.height = top + height + bottom
        return left, top, inner, height

    def _bar_width(self) -> float:
        """Return the width of the scale of colors with its labels; 0 where there is none."""
        scaled = self._scaled()
        if scaled is None:
            return 0.0
        texts = values_of((scaled.get("colorbar") or {}).get("ticktext"))
        return max(BAR, 36 + max((width_of(t, 11) for t in texts), default=0))

    def _at_bottom(self, axis: Axis) -> bool:
        partner = self._axis(axis.layout.get("anchor") or f"y{axis.name[1:]}")
        return partner.domain[0] < 0.01

    def _angle(self, axis: Axis) -> float:
        """Return the angle of the tick labels: turned where they would overlap."""
        given = axis.layout.get("tickangle")
        if given:
            return float(given)
        if not axis.is_category and not values_of(axis.layout.get("tickvals")):
            return 0.0
        widest = max((width_of(t, axis.size) for _, t in axis.ticks()), default=0)
        return -35.0 if widest > axis.slot() - 4 else 0.0

    def _tick_height(self, axis: Axis) -> float:
        if axis.layout.get("showticklabels") is False:
            return 4.0
        angle = abs(self._angle(axis))
        widest = max((width_of(t, axis.size) for _, t in axis.ticks()), default=0)
        lines = max((len(lines_of(t)) for _, t in axis.ticks()), default=1)
        return 8 + lines * axis.size * 1.25 if not angle else 10 + widest * math.sin(math.radians(angle)) + axis.size

    def _scaled(self) -> dict[str, Any] | None:
        """Return the heat map with a scale of colors, if there is one."""
        return next((t for t in self.traces if t["type"] == "heatmap" and t.get("showscale") is not False), None)

    # --- the legend ---

    def _legend_entries(self) -> list[tuple[str, dict[str, Any], str]]:
        if not self.layout.get("showlegend"):
            return []
        return [
            (str(t["name"]), t, COLORS[k % len(COLORS)])
            for k, t in enumerate(self.traces)
            if t.get("name") and t.get("showlegend") is not False
        ]

    def _legend_places(self) -> list[tuple[float, int]]:
        """Return offset and line of each entry."""
        places, x, line = [], 0.0, 0
        for name, _, _ in self.named:
            wide = width_of(name, 12) + 40
            if x and x + wide > self.width - self._left_labels() - 40:
                x, line = 0.0, line + 1
            places.append((x, line))
            x += wide
        return places

    def _legend_lines(self) -> int:
        return self._legend_places()[-1][1] + 1 if self.named else 0

    def _legend(self) -> list[str]:
        drawn = []
        for (name, trace, ink), (x, line) in zip(self.named, self._legend_places(), strict=True):
            above = self.legend_top >= 0
            y = (
                self.box[1] - LEGEND_LINE * (self._legend_lines() - line) - 2
                if above
                else (self.height - LEGEND_LINE * (self._legend_lines() - line) + 8)
            )
            start = self.box[0] + x
            if "lines" in str(trace.get("mode") or ""):
                color = (trace.get("line") or {}).get("color") or ink
                drawn.append(f'<path d="M{start:.1f} {y:.1f}h22" stroke="{escaped(color)}" stroke-width="2"/>')
            if trace["type"] == "bar":
                color = (trace.get("marker") or {}).get("color") or ink
                color = color[0] if isinstance(color, list | tuple) else color
                drawn.append(
                    f'<rect x="{start + 5:.1f}" y="{y - 6:.1f}" width="12" height="12" fill="{escaped(color)}"/>'
                )
            else:
                symbol, _, look = look_of(trace, 0, ink)
                drawn.append(marker(start + 11, y, symbol, 9, look))
            drawn.append(label(start + 27, y + 4, name, 12, fill="currentColor"))
        return drawn

    # --- what stands around the marks ---

    def _grid(self) -> list[str]:
        drawn = []
        for axis in self.axes.values():
            partner = self._partner(axis)
            for value, _ in axis.ticks():
                shown = axis.layout.get("showgrid") is not False and not (axis.is_category and axis.horizontal)
                zero = not axis.is_category and value == 0 and axis.layout.get("zeroline") is not False
                if not shown or not _inside(axis, value):
                    continue
                at, (a, b) = axis.place(value), (partner.start, partner.end)
                path = f"M{at:.1f} {a:.1f}V{b:.1f}" if axis.horizontal else f"M{a:.1f} {at:.1f}H{b:.1f}"
                drawn.append(f'<path d="{path}" stroke="{SOFT if zero else GRID}" fill="none"/>')
        return drawn

    def _partner(self, axis: Axis) -> Axis:
        """Return the axis at which its labels stand."""
        other = "y" if axis.horizontal else "x"
        name = axis.layout.get("anchor") or f"{other}{axis.name[1:]}"
        return self._axis(name if str(name).startswith(other) else other)

    def _labels(self, axis: Axis) -> list[str]:
        partner, size = self._partner(axis), axis.size
        top = axis.layout.get("side") == "top"
        base = min(partner.start, partner.end) - 6 if top else max(partner.start, partner.end) + size + 4
        drawn = []
        if axis.layout.get("showticklabels") is not False:
            angle = self._angle(axis) if axis.horizontal else 0.0
            for value, text in axis.ticks():
                if not _inside(axis, value):
                    continue
                at = axis.place(value)
                if not axis.horizontal:
                    spans = len(lines_of(text))
                    middle = at + size / 3 - 0.625 * size * (spans - 1)
                    drawn.append(label(partner.start - 7, middle, text, size, text_anchor="end", fill="currentColor"))
                elif angle:
                    anchor = "start" if top else "end"
                    turned = f"rotate({angle:g} {at:.1f} {base - (0 if top else 4):.1f})"
                    drawn.append(label(at, base, text, size, text_anchor=anchor, fill="currentColor", transform=turned))
                else:
                    drawn.append(label(at, base, text, size, text_anchor="middle", fill="currentColor"))
        return [*drawn, *self._title(axis, base)]

    def _title(self, axis: Axis, base: float) -> list[str]:
        if not axis.title:
            return []
        middle = (axis.start + axis.end) / 2
        if axis.horizontal:
            y = base - axis.size + self._tick_height(axis) + 10
            return [label(middle, y, axis.title, 13, text_anchor="middle", fill="currentColor")]
        turned = f"rotate(-90 12 {middle:.1f})"
        return [label(12, middle, axis.title, 13, text_anchor="middle", fill="currentColor", transform=turned)]

    def _point(self, side: str, reference: str, value: Any) -> float:
        """Return the pixel of a place of a shape or annotation: of the paper, of an axis, or of its domain."""
        left, top, inner, height = self.box
        if reference == "paper":
            return float(left + value * inner if side == "x" else top + (1 - value) * height)
        name, _, domain = str(reference or side).partition(" ")
        axis = self._axis(name)
        return float(axis.start + value * (axis.end - axis.start)) if domain else axis.place(value)

    def _shape(self, shape: dict[str, Any]) -> str:
        x0, x1 = (self._point("x", shape.get("xref", "x"), shape[k]) for k in ("x0", "x1"))
        y0, y1 = (self._point("y", shape.get("yref", "y"), shape[k]) for k in ("y0", "y1"))
        line = shape.get("line") or {}
        dash = DASHES.get(str(line.get("dash") or ""), "")
        look = f'stroke="{escaped(line.get("color") or SOFT)}" stroke-width="{line.get("width", 1)}"'
        look += f' stroke-dasharray="{dash}"' if dash else ""
        if shape.get("type") == "line":
            return f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" fill="none" {look}/>'
        fill = escaped(shape.get("fillcolor") or "none")
        box = f'x="{min(x0, x1):.1f}" y="{min(y0, y1):.1f}" width="{abs(x1 - x0):.1f}" height="{abs(y1 - y0):.1f}"'
        return f'<rect {box} fill="{fill}" fill-opacity="{shape.get("opacity", 1)}" {look}/>'

    def _note(self, note: dict[str, Any]) -> str:
        size = float((note.get("font") or {}).get("size", 13))
        x = self._point("x", note.get("xref", "x"), note.get("x", 0)) + float(note.get("xshift") or 0)
        y = self._point("y", note.get("yref", "y"), note.get("y", 0)) - float(note.get("yshift") or 0)
        lines = lines_of(note.get("text", ""))
        tall = 1.25 * size * len(lines)
        down = {"bottom": -tall + size, "top": size, "middle": size - tall / 2}[str(note.get("yanchor") or "middle")]
        anchor = {"left": "start", "right": "end"}.get(str(note.get("xanchor") or ""), "middle")
        wide = width_of(note.get("text", ""), size)
        over = {"start": x + wide, "middle": x + wide / 2, "end": x}[anchor] - self.width + 2
        fill = (note.get("font") or {}).get("color") or "currentColor"
        return label(x - max(0.0, over), y + down, note.get("text", ""), size, text_anchor=anchor, fill=fill)

    def svg(self, described: str = "") -> str:
        """Return the figure as an SVG element."""
        notes = values_of(self.layout.get("annotations"))
        shapes = values_of(self.layout.get("shapes"))
        grouped = self.layout.get("barmode") in (None, "group")
        every = [t for t in self.traces if t["type"] == "bar"]
        inside: list[str] = self._grid() + [self._shape(s) for s in shapes if s.get("layer") != "above"]
        for k, trace in enumerate(self.traces):
            x_axis, y_axis = (self._axis(trace.get(f"{side}axis") or side) for side in ("x", "y"))
            ink = COLORS[k % len(COLORS)]
            if trace["type"] == "heatmap":
                inside += heat_map(trace, x_axis, y_axis)
            elif trace["type"] == "bar":
                alike = [t for t in every if t.get("xaxis") == trace.get("xaxis")] if grouped else [trace]
                gap = float(self.layout.get("bargap") or 0.2)
                inside += bars(trace, x_axis, y_axis, (alike.index(trace), len(alike), gap), ink)
            else:
                inside += scatter(trace, x_axis, y_axis, ink)
        scaled = self._scaled()
        if scaled is not None:
            inside += color_bar(scaled, self.width - self._bar_width() + 12, self.box[1], self.box[3])
        for axis in self.axes.values():
            inside += self._labels(axis)
        inside += [*(self._shape(s) for s in shapes if s.get("layer") == "above"), *self._legend()]
        inside += [self._note(n) for n in notes if n.get("text")]
        box = f'viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
        style = f"max-width:{self.width:.0f}px;min-width:{min(self.width, 560):.0f}px"
        look = f'fill="currentColor" font-size="{SIZE}" style="{style}"'
        return f'<svg class="figure" role="img" aria-label="{escaped(described)}" {box} {look}>{"".join(inside)}</svg>'


def _both(value: Any, error: Any) -> bool:
    return isinstance(value, int | float) and isinstance(error, int | float)


def _inside(axis: Axis, value: Any) -> bool:
    low, high = sorted((axis.low, axis.high))
    number = axis.number(value)
    return bool(low - 1e-9 <= number <= high + 1e-9)


def svg_of(figure: Any, described: str = "") -> str:
    """Return a plotly figure as a static SVG element.

    >>> import nlgauge as ng
    >>> svg_of(ng.correlate(ng.example()).plot(), "correlations")[:38]
    '<svg class="figure" role="img" aria-la'
    """
    return Drawing(figure).svg(described)
