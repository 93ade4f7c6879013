"""The charts of Benchmarks/RESULTS.md: the rows that each chart shows, and their names."""

import bars
import lines
from bars import Bar, Panel
from lines import Series
from page import Page, number, time
from results import ResultsError

NAMES = {"raw-sqlite": "raw SQLite", "grdb": "GRDB", "sqlite-alone": "raw SQLite", "insert": "Tandem insert"}
PAIRS = "Tandem ran against each baseline in separate rounds. Its bar is from the rounds with the first baseline."


def draw(sections):
    """Returns the text of each chart, by the name of its file."""
    charts = {
        "writes.svg": (writes, "Store"), "reads.svg": (reads, "Store"), "live.svg": (live, "Live"),
        "pull.svg": (pull, "Sync"), "encryption.svg": (encryption, "Encryption"),
    }
    missing = {name for _, name in charts.values()} - sections.keys()
    if missing:
        raise ResultsError(f"no measured section {', '.join(sorted(missing))}")
    return {file: chart(sections[name]) for file, (chart, name) in charts.items()}


def writes(section):
    """Draws inserts and updates against raw SQLite and GRDB."""
    peers, unit = ["raw-sqlite", "grdb"], "µs per object"
    panels = [
        comparison(section, "Bulk insert", "insert-bulk", peers, 100_000, unit),
        comparison(section, "Single inserts", "commit-single", peers, 2_000, unit),
        comparison(section, "Bulk update", "update-bulk", peers, 10_000, unit),
    ]
    note = "Time per object. All write the same rows, search entries and operations. Shorter is better."
    footer = (
        "Bulk inserts write 100,000 objects in one transaction, and single inserts one object in each. Bulk updates "
        "change 10,000 of 100,000 objects in one transaction. ")
    if by_set := section.find("update-bulk-set", "tandem", "raw-sqlite"):
        panels[-1].bars.insert(1, Bar("set-based", by_set.subject_seconds / 10_000 * 1e6, is_own=True))
        footer += "The set-based update is one call for all objects. "
    footer += f"GRDB uses Codable records. {PAIRS}"
    return bars.draw(page(section, "Writes", note, panels, footer), panels, columns=3)


def reads(section):
    """Draws reads by local ID against raw SQLite and GRDB, also of objects that were read before."""
    peers, unit = ["raw-sqlite", "grdb"], "µs per read"
    panels = [
        comparison(section, "Single calls", "point-read-single", peers, 100_000, unit, scale="first"),
        comparison(section, "One read block", "point-read", peers, 100_000, unit, scale="first"),
    ]
    for name, subject in (("Single calls", "tandem-single-calls"), ("One read block", "tandem-one-block")):
        if section.find("point-read-warm", subject, "raw-sqlite"):
            panels.append(
                comparison(
                    section, f"{name}, cached objects", "point-read-warm", ["raw-sqlite"], 100_000, unit,
                    subject=subject, scale="cached"))
    note = "Time to read an object by its local ID, in random order. Shorter is better."
    footer = "The store has 100,000 objects, and each is read once. GRDB uses Codable records. "
    if len(panels) > 2:
        footer += "Cached objects are 10,000 objects, and each is read ten times. "
    return bars.draw(page(section, "Point reads", note, panels, footer + PAIRS), panels, columns=2)


def pull(section):
    """Draws a first pull against inserts of the same objects, and against SQLite's part of it."""
    unit = "µs per object"
    panels = [
        comparison(
            section, "From a server, elapsed time", "pull-100k", ["insert"], 100_000, unit, subject="pull",
            own="Tandem pull", scale="pull"),
        comparison(
            section, "From recorded responses, processor time", "pull-100k", ["sqlite-alone", "insert"], 100_000, unit,
            subject="pull-recorded", own="Tandem pull", scale="pull"),
    ]
    note = "Time per object of the first pull of 100,000 objects, in pages of 100. Shorter is better."
    footer = (
        "Raw SQLite executes the statements of the pull again, through its C interface. The insert writes the same "
        "objects in transactions of 100. The pull ran against each baseline in separate rounds. Its bar is from the "
        "rounds with the first baseline.")
    return bars.draw(page(section, "Pull", note, panels, footer), panels, columns=2)


def encryption(section):
    """Draws the share of encryption in the time of a store, in both formats and with SQLCipher."""
    tasks = [
        ("Insert 100,000 objects", "insert"), ("Read 100,000 objects in order", "scan"),
        ("Read 10,000 objects by local ID", "points"), ("Commit 2,000 times, one object each", "commits"),
    ]
    panels = []
    for name, task in tasks:
        rows = [
            ("Tandem, GCM", True, section.row(f"gcm-{task}", "tandem", "plain")),
            ("Tandem, SQLCipher", True, section.row(f"sqlcipher-{task}", "tandem", "plain")),
            # Missing if the run had no Python with SQLCipher.
            ("SQLCipher 4", False, section.find(f"sqlcipher-{task}", "sqlcipher4-store", "sqlcipher-plain-store")),
        ]
        drawn = [
            Bar(label, row.subject_seconds * 1e3, is_own, row.baseline_seconds * 1e3, f"{row.ratio}×")
            for label, is_own, row in rows if row
        ]
        panels.append(Panel(name, "ms", drawn))
    note = "Time with encryption, and its multiple of the time without. Shorter is better."
    footer = "Tandem encrypts pages with AES-256-GCM or in the format of SQLCipher 4."
    has_peer = any(not bar.is_own for panel in panels for bar in panel.bars)
    if has_peer:
        footer += (
            " SQLCipher 4 itself executes Tandem's statements on Tandem's tables, through its Python driver. Instead "
            "of reading all objects, it sums their sizes in SQL.")
    marks = ("own", "other") if has_peer else ("own",)
    legend = [
        (marks, "the same work without encryption"), ([f"{mark}-more" for mark in marks], "added by encryption"),
    ]
    return bars.draw(page(section, "Encryption", note, panels, footer, legend), panels, columns=2)


def live(section):
    """Draws the time from a commit to its change set, by the number of rows of the live query."""
    tasks = [("live-1k", 1_000), ("live-10k", 10_000), ("live-100k", 100_000), ("live-1m", 1_000_000)]
    observed = [(count, section.row(task, "tandem", "value-observation")) for task, count in tasks]
    queued = [(count, section.row(task, "tandem", "tandem-queue")) for task, count in tasks]
    series = [
        Series("GRDB ValueObservation", [(count, row.baseline_seconds) for count, row in observed], is_own=False),
        Series(
            "Tandem, DispatchQueue", [(count, row.baseline_seconds) for count, row in queued], is_own=True,
            is_second=True),
        Series(
            "Tandem, immediate", [(count, row.subject_seconds) for count, row in observed], is_own=True,
            is_above=False),
    ]
    note = "Time from the commit of one object to the change of a sorted list. Lower is better."
    footer = (
        "Both axes are logarithmic. ValueObservation reads the row number, sort key and ID of each row from a covering "
        "index, and no objects.")
    described = [note]
    for one in series:
        points = ", ".join(f"{time(y)} with {count:,} rows" for count, y in one.points)
        described.append(f"{one.name}: {points}.")
    frame = Page("Live queries", note, [footer, provenance(section)], " ".join(described))
    return lines.draw(frame, series, "rows of the live query", "time from the commit")


def comparison(section, name, task, baselines, count, unit, *, subject="tandem", own="Tandem", scale=""):
    """Returns a panel that compares a subject with its baselines, by the time of one of `count` parts of the work."""
    rows = [section.row(task, subject, baseline) for baseline in baselines]
    drawn = [Bar(own, rows[0].subject_seconds / count * 1e6, is_own=True)]
    drawn += [Bar(NAMES[row.baseline], row.baseline_seconds / count * 1e6) for row in rows]
    ratios = ", ".join(f"{row.ratio}× {NAMES[row.baseline]}" for row in rows)
    return Panel(name, unit, drawn, f"{own}: {ratios}", scale)


def page(section, title, note, panels, footer, legend=()):
    """Returns the texts around panels."""
    described = [note]
    for panel in panels:
        values = ", ".join(
            f"{bar.name} {number(bar.value)}" + (f" ({bar.factor})" if bar.factor else "") for bar in panel.bars)
        described.append(f"{panel.name}, {panel.unit}: {values}.")
    return Page(title, note, [footer, provenance(section)], " ".join(described), list(legend))


def provenance(section):
    """Describes the run of a section."""
    rounds = section.fact("Rounds").split(",")[0]
    swift = section.fact("Swift").removeprefix("Swift version ").split(" ")[0]
    return (
        f"Medians of {rounds} rounds. Commit {section.fact('Commit')}, {section.fact('Date')}. "
        f"{section.fact('Processor')}, {section.fact('System').split(' (')[0].split(',')[0]}, "
        f"SQLite {section.fact('SQLite')}, Swift {swift}.")
