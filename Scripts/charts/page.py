"""The page of a chart: an SVG with its style, title, legend and footer.

The same input gives the same text. The colors are those of docs/overview.svg, for light and dark.
"""

import dataclasses
import math
import textwrap
from xml.sax.saxutils import escape

WIDTH, MARGIN = 840, 28
INNER = WIDTH - 2 * MARGIN
SIZE, SMALL = 13, 12

STYLE = """\
    .card { fill: #ffffff; stroke: #d0d7de; }
    .grid { stroke: #d8dee4; }
    .zero { stroke: #8c959f; }
    .own { fill: #0969da; }
    .other { fill: #8c959f; }
    .own-more { fill: #ddf4ff; stroke: #0969da; }
    .other-more { fill: #f6f8fa; stroke: #8c959f; }
    .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
    .own-line { stroke: #0969da; }
    .other-line { stroke: #8c959f; }
    .dashed { stroke-dasharray: 2 6; stroke-linecap: round; }
    .hollow { fill: #ffffff; stroke: #0969da; stroke-width: 2; }
    text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
    .title { font-size: 18px; font-weight: 600; }
    .name { font-size: 14px; font-weight: 600; }
    .note { fill: #57606a; }
    .small { font-size: 12px; fill: #57606a; }
    .own-text { fill: #0969da; font-weight: 600; }
    .value { font-weight: 600; stroke: #ffffff; stroke-width: 4; stroke-linejoin: round; paint-order: stroke; }
    .factor { font-weight: 400; fill: #57606a; }
    .end { text-anchor: end; }
    .middle { text-anchor: middle; }
    @media (prefers-color-scheme: dark) {
      .card { fill: #0d1117; stroke: #30363d; }
      .grid { stroke: #262c34; }
      .zero { stroke: #6e7681; }
      .own { fill: #58a6ff; }
      .other { fill: #7d8590; }
      .own-more { fill: #0c2d6b; stroke: #58a6ff; }
      .other-more { fill: #21262d; stroke: #7d8590; }
      .own-line { stroke: #58a6ff; }
      .other-line { stroke: #7d8590; }
      .hollow { fill: #0d1117; stroke: #58a6ff; }
      text { fill: #e6edf3; }
      .note, .small, .factor { fill: #b1bac4; }
      .own-text { fill: #79c0ff; }
      .value { stroke: #0d1117; }
    }"""

NARROW, WIDE = frozenset("'IJijl !(),-./:;[]ft|"), frozenset("%@WmMw×+")


@dataclasses.dataclass(frozen=True)
class Page:
    """The texts around a chart."""

    title: str
    note: str
    # Paragraphs in the smallest text.
    footer: list
    # All values, for readers who do not see the chart.
    description: str
    # Pairs of the classes of some marks and their meaning.
    legend: list = dataclasses.field(default_factory=list)

    @property
    def top(self):
        """The upper edge of the chart."""
        return 114 if self.legend else 88

    def document(self, parts, bottom):
        """Returns the SVG with the elements of a chart, which ends at `bottom`."""
        footer, y = [], bottom + 14
        for paragraph in self.footer:
            y += 5
            for line in wrapped(paragraph, SMALL, INNER):
                y += 17
                footer.append(text(MARGIN, y, line, "small"))
        height = math.ceil(y + 22)
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img"',
            '    aria-labelledby="title description">',
            "  <!-- Scripts/draw-charts.py has drawn this from Benchmarks/RESULTS.md. -->",
            f'  <title id="title">{escape(self.title)}</title>',
            '  <desc id="description">',
            *(f"    {escape(line)}" for line in textwrap.wrap(self.description, 112)),
            "  </desc>",
            f"  <style>\n{STYLE}\n  </style>",
            f'  <rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="12"/>',
        ]
        head = [text(MARGIN, 40, self.title, "title"), text(MARGIN, 62, self.note, "note"), *self._legend()]
        return "\n".join(lines + [f"  {part}" for part in [*head, *parts, *footer]] + ["</svg>", ""])

    def _legend(self):
        left = MARGIN
        for marks, meaning in self.legend:
            for mark in marks:
                yield rect(left + 0.5, 78.5, 13, 13, mark)
                left += 18
            yield text(left + 3, 90, meaning, "small")
            left += text_width(meaning, SMALL) + 27


def text(x, y, content, kind=""):
    attribute = f' class="{kind}"' if kind else ""
    return f'<text{attribute} x="{coordinate(x)}" y="{coordinate(y)}">{escape(content)}</text>'


def rect(x, y, width, height, kind):
    size = f'width="{coordinate(width)}" height="{coordinate(height)}"'
    return f'<rect class="{kind}" x="{coordinate(x)}" y="{coordinate(y)}" {size}/>'


def line(data, kind):
    return f'<path class="{kind}" d="{data}"/>'


def coordinate(value):
    return f"{value:.1f}".removesuffix(".0")


def text_width(content, size, is_bold=False):
    """Estimates the width of a text in DejaVu Sans, which is wider than the other fonts."""
    ems = sum(0.37 if character in NARROW else 0.93 if character in WIDE else 0.63 for character in content)
    return ems * size * (1.1 if is_bold else 1)


def wrapped(content, size, width):
    """Divides a text into lines of at most a width."""
    lines = [""]
    for word in content.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def number(value):
    """Formats a positive number with three significant digits: 0.653, 11.4, 137, 1,230."""
    rounded = float(f"{value:.2e}")
    return f"{rounded:,.{max(0, 2 - math.floor(math.log10(rounded)))}f}"


def time(seconds):
    """Formats a time with its unit: 7.23 µs, 263 ms."""
    for factor, unit in ((1e6, "µs"), (1e3, "ms")):
        if float(f"{seconds * factor:.2e}") < 1000:
            return f"{number(seconds * factor)} {unit}"
    return f"{number(seconds)} s"
