"""Draws lines over two logarithmic axes, of which the vertical one shows times."""

import dataclasses
import math

from page import MARGIN, WIDTH, coordinate, line, text, time

HEIGHT, LEFT, RIGHT, INSET = 300, MARGIN + 84, WIDTH - MARGIN - 178, 40
LEADING = 18


@dataclasses.dataclass(frozen=True)
class Series:
    """A line through points, which are pairs of a number and of seconds."""

    name: str
    points: list
    is_own: bool
    # Whether the line is dashed and its marks are hollow.
    is_second: bool = False
    # Whether the values are above the points.
    is_above: bool = True


def draw(page, series, x_title, y_title):
    """Returns a chart with lines."""
    chart = _Axes(page.top, series)
    parts = [*chart.grid(x_title, y_title)]
    for one in series:
        path = "L".join(f"{coordinate(chart.x(x))} {coordinate(chart.y(y))}" for x, y in one.points)
        kind = f"line {'own' if one.is_own else 'other'}-line"
        parts.append(line(f"M{path}", f"{kind} dashed" if one.is_second else kind))
    for one in series:
        kind = "hollow" if one.is_second else "own" if one.is_own else "other"
        for x, y in one.points:
            center = f'cx="{coordinate(chart.x(x))}" cy="{coordinate(chart.y(y))}"'
            parts.append(f'<circle class="{kind}" {center} r="4.5"/>')
    for one in series:
        for x, y in one.points:
            parts.append(text(chart.x(x), chart.y(y) + (-12 if one.is_above else 22), time(y), "value middle"))
    heights = apart([chart.y(one.points[-1][1]) for one in series], LEADING)
    for one, y in zip(series, heights):
        parts.append(text(RIGHT + 8, y + 4.5, one.name, "own-text" if one.is_own else ""))
    return page.document(parts, chart.bottom + 44)


def apart(heights, distance):
    """Returns heights near the given ones, with a distance between neighbors."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    result = list(heights)
    for _ in range(100):
        for upper, lower in zip(order, order[1:]):
            missing = distance - (result[lower] - result[upper])
            if missing > 0:
                result[upper] -= missing / 2
                result[lower] += missing / 2
    return result


class _Axes:
    def __init__(self, top, series):
        self.top, self.bottom = top, top + HEIGHT
        self.numbers = sorted({x for one in series for x, _ in one.points})
        times = [y for one in series for _, y in one.points]
        self.first, self.last = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x(self, number):
        share = math.log10(number / self.numbers[0]) / math.log10(self.numbers[-1] / self.numbers[0])
        return LEFT + INSET + share * (RIGHT - LEFT - 2 * INSET)

    def y(self, seconds):
        return self.bottom - HEIGHT * (math.log10(seconds) - self.first) / (self.last - self.first)

    def grid(self, x_title, y_title):
        for power in range(self.first, self.last + 1):
            y = self.y(10.0**power)
            kind = "zero" if power == self.first else "grid"
            yield line(f"M{LEFT} {coordinate(y)}H{RIGHT}", kind)
            yield text(LEFT - 10, y + 4, power_of_ten(power), "small end")
        for number in self.numbers:
            yield line(f"M{coordinate(self.x(number))} {self.bottom}v5", "zero")
            yield text(self.x(number), self.bottom + 20, f"{number:,}", "small middle")
        yield text((LEFT + RIGHT) / 2, self.bottom + 40, x_title, "small middle")
        middle = coordinate((self.top + self.bottom) / 2)
        turned = f'<text transform="translate({MARGIN + 10} {middle}) rotate(-90)" '
        yield text(0, 0, y_title, "small middle").replace("<text ", turned)


def power_of_ten(power):
    """Formats a power of ten seconds."""
    for least, unit in ((0, "s"), (-3, "ms"), (-6, "µs")):
        if power >= least:
            return f"{10 ** (power - least):,} {unit}"
    return f"{10 ** (power + 9)} ns"
