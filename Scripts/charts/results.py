"""Reads the measured parts of Benchmarks/RESULTS.md, which `make bench` writes (Markdown.swift)."""

import dataclasses
import math
import re

BEGINNING, END = "<!-- measured -->", "<!-- end of measured -->"
FACT = re.compile(r"- ([A-Z][A-Za-z]*): (.+)")
COLUMNS = [
    "task", "subject", "baseline", "median-ratio", "min", "max", "subject-seconds", "baseline-seconds", "bound",
]


class ResultsError(Exception):
    """RESULTS.md lacks something that a chart needs, or is damaged."""


@dataclasses.dataclass(frozen=True)
class Row:
    """One comparison. The ratio is the text of the page, so that a chart shows the same digits."""

    task: str
    subject: str
    baseline: str
    ratio: str
    subject_seconds: float
    baseline_seconds: float


@dataclasses.dataclass(frozen=True)
class Section:
    name: str
    facts: dict
    rows: list

    def find(self, task, subject, baseline):
        """Returns a row, or None."""
        for row in self.rows:
            if (row.task, row.subject, row.baseline) == (task, subject, baseline):
                return row
        return None

    def row(self, task, subject, baseline):
        """Returns a row that must exist."""
        row = self.find(task, subject, baseline)
        if row is None:
            raise ResultsError(f"section {self.name} has no row {task} | {subject} | {baseline}")
        return row

    def fact(self, name):
        """Returns a circumstance of the run, such as the commit."""
        if name not in self.facts:
            raise ResultsError(f"section {self.name} has no line '- {name}: …'")
        return self.facts[name]


def read(text):
    """Returns the sections with a measured part, by name."""
    sections = {}
    for part in text.split("\n## ")[1:]:
        name, _, body = part.partition("\n")
        _, beginning, rest = body.partition(BEGINNING)
        if not beginning:
            continue
        measured, end, _ = rest.partition(END)
        if not end:
            raise ResultsError(f"section {name} has no line {END}")
        sections[name] = _section(name, measured)
    return sections


def _section(name, measured):
    facts, rows, columns = {}, [], None
    for line in measured.split("\n"):
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if columns is None:
                columns = cells
                if columns != COLUMNS:
                    raise ResultsError(f"section {name} has the columns {columns}, not {COLUMNS}")
            elif not set(line) <= set("|-: "):
                rows.append(_row(name, cells))
        elif columns is None and (fact := FACT.fullmatch(line)):
            facts[fact[1]] = fact[2]
    return Section(name, facts, rows)


def _row(section, cells):
    try:
        task, subject, baseline, ratio, _, _, subject_seconds, baseline_seconds, _ = cells
        seconds = float(subject_seconds), float(baseline_seconds)
        numbers = (float(ratio), *seconds)
    except ValueError as error:
        raise ResultsError(f"section {section}: not a row of {len(COLUMNS)} cells: {' | '.join(cells)}") from error
    if not all(math.isfinite(number) and number > 0 for number in numbers):
        raise ResultsError(f"section {section}: not positive numbers: {' | '.join(cells)}")
    return Row(task, subject, baseline, ratio, *seconds)
