"""Draws panels with horizontal bars, in columns."""

import dataclasses
import math

from page import INNER, MARGIN, SIZE, SMALL, coordinate, line, number, rect, text, text_width

GAP, ROW, BAR = 36, 27, 17


@dataclasses.dataclass(frozen=True)
class Bar:
    """A bar. If it has a base, the part above the base is drawn as an addition."""

    name: str
    value: float
    is_own: bool = False
    base: float | None = None
    # A text after the value.
    factor: str = ""


@dataclasses.dataclass(frozen=True)
class Panel:
    name: str
    unit: str
    bars: list
    note: str = ""
    # The panels of a chart with the same scale can be compared.
    scale: str = ""


def draw(page, panels, columns):
    """Returns a chart with panels."""
    width = (INNER - (columns - 1) * GAP) / columns
    parts, top = [], page.top
    for start in range(0, len(panels), columns):
        line = panels[start : start + columns]
        head = 48 if any(panel.note for panel in line) else 26
        height = ROW * max(len(panel.bars) for panel in line)
        for column, panel in enumerate(line):
            same = [other for other in panels if other is panel or panel.scale and other.scale == panel.scale]
            parts += _panel(panel, same, MARGIN + column * (width + GAP), top, width, head, height)
        top += head + height + 40 + 28
    return page.document(parts, top - 28)


def ticks(maximum, intervals):
    """Returns round values from 0 to the last that does not exceed the maximum by a twentieth."""
    step = 10 ** math.floor(math.log10(maximum / intervals))
    while maximum / step > intervals:
        # 1, 2, 5 and 10 times a power of ten.
        step *= 2.5 if f"{step:e}".startswith("2") else 2
    return [index * step for index in range(math.floor(maximum * 1.05 / step) + 1)]


def _panel(panel, same, left, top, width, head, height):
    """Draws a panel. Its labels and values get as much room as those of the panels with the same scale."""
    bars = [bar for other in same for bar in other.bars]
    labels = 10 + max(text_width(bar.name, SIZE, bar.is_own) for bar in bars)
    values = 8 + max(text_width(number(bar.value), SIZE, True) + _factor_width(bar) for bar in bars)
    zero, room = left + labels, width - labels - values
    maximum = max(bar.value for bar in bars)
    scale, bottom = room / maximum, top + head + height
    yield text(left, top + 14, panel.name, "name")
    if panel.note:
        yield text(left, top + 33, panel.note, "small")
    marks = ticks(maximum, min(5, room / (text_width(f"{maximum:,.0f}", SMALL) + 12)))
    for mark in marks:
        x = coordinate(zero + mark * scale)
        yield line(f"M{x} {coordinate(top + head - 4)}V{coordinate(bottom + 3)}", "grid" if mark else "zero")
        yield text(zero + mark * scale, bottom + 19, f"{mark:,.6f}".rstrip("0").rstrip("."), "small middle")
    yield text(zero + room / 2, bottom + 37, panel.unit, "small middle")
    for index, bar in enumerate(panel.bars):
        yield from _bar(bar, zero, top + head + index * ROW + (ROW - BAR) / 2, scale)


def _factor_width(bar):
    return 7 + text_width(bar.factor, SIZE) if bar.factor else 0


def _bar(bar, zero, top, scale):
    kind, length = "own" if bar.is_own else "other", bar.value * scale
    solid = length if bar.base is None else min(bar.base * scale, length)
    yield text(zero - 8, top + 13, bar.name, "own-text end" if bar.is_own else "end")
    yield rect(zero, top, max(solid, 1), BAR, kind)
    if length - solid >= 2:
        yield rect(zero + solid + 0.5, top + 0.5, length - solid - 1, BAR - 1, f"{kind}-more")
    factor = f'<tspan class="factor" dx="7">{bar.factor}</tspan>' if bar.factor else ""
    value = text(zero + length + 7, top + 13, number(bar.value), "value")
    yield value.replace("</text>", f"{factor}</text>")
