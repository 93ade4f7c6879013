#!/usr/bin/env python3
"""Tests the charts. `make lint` runs them."""

import contextlib
import importlib.util
import io
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import bars
import charts
import lines
import page
import results

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDED = (ROOT / "Benchmarks/RESULTS.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"

HEAD = f"| {' | '.join(results.COLUMNS)} |\n|---|---|---|---:|---:|---:|---:|---:|---|\n"
ROWS = {
    "Store": [
        "insert-bulk | tandem | raw-sqlite | 1.20 | 1.00 | 1.30 | 1.2000 | 1.0000 | -",
        "insert-bulk | tandem | grdb | 0.50 | 0.40 | 0.60 | 1.3000 | 2.6000 | -",
        "commit-single | tandem | raw-sqlite | 1.10 | 1.00 | 1.30 | 0.2200 | 0.2000 | -",
        "commit-single | tandem | grdb | 0.80 | 0.70 | 0.90 | 0.2400 | 0.3000 | -",
        "update-bulk | tandem | raw-sqlite | 1.50 | 1.40 | 1.60 | 0.3000 | 0.2000 | -",
        "update-bulk | tandem | grdb | 0.30 | 0.20 | 0.40 | 0.3000 | 1.0000 | -",
        "point-read | tandem | raw-sqlite | 1.10 | 1.00 | 1.20 | 0.3300 | 0.3000 | -",
        "point-read | tandem | grdb | 0.06 | 0.05 | 0.07 | 0.3300 | 5.5000 | -",
        "point-read-single | tandem | raw-sqlite | 1.16 | 1.00 | 1.20 | 0.5800 | 0.5000 | -",
        "point-read-single | tandem | grdb | 0.09 | 0.08 | 0.10 | 0.5800 | 6.4000 | -",
    ],
    "Live": [
        f"live-{name} | tandem | {baseline} | 0.10 | 0.10 | 0.10 | {own:.7f} | {other:.7f} | -"
        for name, own, slow in (("1k", 7e-6, 5e-4), ("10k", 9e-6, 3e-3), ("100k", 12e-6, 3e-2), ("1m", 21e-6, 0.25))
        for baseline, other in (("value-observation", slow), ("tandem-queue", 4e-5))
    ],
    "Sync": [
        "pull-100k | pull | insert | 1.50 | 1.40 | 1.60 | 6.0000 | 4.0000 | <= 1.3",
        "pull-100k | pull-recorded | sqlite-alone | 1.40 | 1.30 | 1.50 | 3.5000 | 2.5000 | -",
        "pull-100k | pull-recorded | insert | 1.25 | 1.20 | 1.30 | 3.5000 | 2.8000 | -",
    ],
    "Encryption": [
        f"{profile}-{task} | {subject} | {plain} | {ratio} | 1.00 | 3.00 | {0.1 * float(ratio):.4f} | 0.1000 | -"
        for task in ("insert", "scan", "points", "commits")
        for profile, subject, plain, ratio in (
            ("gcm", "tandem", "plain", "0.98"), ("sqlcipher", "tandem", "plain", "1.25"),
            ("sqlcipher", "sqlcipher4-store", "sqlcipher-plain-store", "2.00"))
    ],
}


def results_page(rows=None):
    """Returns a page as `make bench` writes it."""
    text = "# Benchmark results\n\nIntroduction.\n"
    for name, lines_of_section in (rows or ROWS).items():
        text += (
            f"\n## {name}\n\nText.\n\n<!-- measured -->\n\n- Commit: abc1234\n- Date: 2026-01-02\n"
            "- Rounds: 7, interleaved, after a warm-up\n- Processor: Some & Processor, 2 cores\n- Memory: 24 GiB\n"
            "- System: Debian GNU/Linux 12 (bookworm), kernel 6.1\n- SQLite: 3.40.1\n"
            f"- Swift: Swift version 6.3.1 (swift-6.3.1-RELEASE)\n\n{HEAD}")
        text += "".join(f"| {line} |\n" for line in lines_of_section)
        text += "\nBeside them:\n\n- a task: Not a fact\n\n<!-- end of measured -->\n"
    return text


def without(task, subject, baseline=""):
    """Returns the rows without those of a comparison."""
    start = f"{task} | {subject} | {baseline}"
    return {name: [line for line in section if not line.startswith(start)] for name, section in ROWS.items()}


def with_rows(*lines_of_store):
    return ROWS | {"Store": ROWS["Store"] + list(lines_of_store)}


def draw(rows=None):
    return charts.draw(results.read(results_page(rows)))


def texts(svg):
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


class ReadingTests(unittest.TestCase):
    def test_a_section_has_its_facts_and_rows(self):
        section = results.read(results_page())["Store"]
        self.assertEqual(section.fact("Commit"), "abc1234")
        self.assertEqual(section.fact("Processor"), "Some & Processor, 2 cores")
        row = section.row("insert-bulk", "tandem", "grdb")
        self.assertEqual((row.ratio, row.subject_seconds, row.baseline_seconds), ("0.50", 1.3, 2.6))
        self.assertEqual(len(section.rows), len(ROWS["Store"]))

    def test_a_section_without_measurements_is_skipped(self):
        self.assertEqual(results.read("# Results\n\n## Kinto\n\nText.\n"), {})

    def test_a_row_that_does_not_exist_is_named(self):
        with self.assertRaisesRegex(results.ResultsError, r"section Store has no row insert-bulk \| tandem \| realm"):
            results.read(results_page())["Store"].row("insert-bulk", "tandem", "realm")

    def test_damaged_pages_are_rejected(self):
        whole = results_page()
        for damaged in (
            whole.replace("1.0000 | -", "nan | -", 1), whole.replace("1.0000 | -", "0.0000 | -", 1),
            whole.replace("1.0000 | -", "fast | -", 1), whole.replace("1.0000 | -", "1.0000", 1),
            whole.replace("median-ratio", "ratio", 1), whole.replace("<!-- end of measured -->", "", 1),
        ):
            self.assertNotEqual(damaged, whole)
            with self.assertRaises(results.ResultsError):
                results.read(damaged)


class FormatTests(unittest.TestCase):
    def test_numbers_have_three_significant_digits(self):
        values = [0.0653, 0.35, 1, 9.996, 11.358, 99.96, 136.6, 1234, 65432]
        self.assertEqual(
            [page.number(value) for value in values],
            ["0.0653", "0.350", "1.00", "10.0", "11.4", "100", "137", "1,230", "65,400"])

    def test_times_have_the_largest_unit_below_them(self):
        values = [7.2e-6, 468.8e-6, 999.96e-6, 2.59e-3, 0.263, 0.99996, 1.2]
        self.assertEqual(
            [page.time(value) for value in values],
            ["7.20 µs", "469 µs", "1.00 ms", "2.59 ms", "263 ms", "1.00 s", "1.20 s"])

    def test_ticks_are_round_and_within_the_axis(self):
        self.assertEqual(bars.ticks(67.4, 5), [0, 20, 40, 60])
        self.assertEqual(bars.ticks(623, 4), [0, 200, 400, 600])
        self.assertEqual(bars.ticks(160, 3.6), [0, 50, 100, 150])
        self.assertEqual(bars.ticks(10, 5), [0, 2, 4, 6, 8, 10])
        for maximum in (0.013, 0.5, 1, 3.33, 99, 12_345):
            for intervals in (1.5, 3, 5):
                marks = bars.ticks(maximum, intervals)
                self.assertGreaterEqual(len(marks), 2 if intervals >= 3 else 1)
                self.assertLessEqual(marks[-1], maximum * 1.05)

    def test_powers_of_ten_seconds_have_units(self):
        self.assertEqual(
            [lines.power_of_ten(power) for power in (-7, -6, -4, -3, -1, 0, 1)],
            ["100 ns", "1 µs", "100 µs", "1 ms", "100 ms", "1 s", "10 s"])

    def test_labels_too_near_are_moved_apart(self):
        self.assertEqual(lines.apart([10, 100, 104], 18), [10, 93, 111])
        moved = lines.apart([50, 50, 51], 18)
        self.assertGreater(min(b - a for a, b in zip(sorted(moved), sorted(moved)[1:])), 17.9)


class ChartTests(unittest.TestCase):
    def test_each_chart_is_an_image_with_title_description_and_circumstances(self):
        for name, svg in draw().items():
            root = ElementTree.fromstring(svg)
            self.assertEqual((root.tag, root.get("role")), (f"{SVG}svg", "img"), name)
            self.assertEqual(root.get("aria-labelledby"), "title description", name)
            for tag, key in (("title", "title"), ("desc", "description")):
                self.assertTrue(root.find(f"{SVG}{tag}[@id='{key}']").text.strip(), name)
            words = " ".join(texts(svg))
            run = "Medians of 7 rounds. Commit abc1234, 2026-01-02."
            machine = "Some & Processor, 2 cores, Debian GNU/Linux 12, SQLite 3.40.1, Swift 6.3.1."
            self.assertIn(f"{run} {machine}", words, name)
            self.assertIn("prefers-color-scheme: dark", svg, name)

    def test_a_class_of_an_element_has_a_style(self):
        for name, svg in (draw() | charts.draw(results.read(RECORDED))).items():
            for kinds in re.findall(r'class="([^"]+)"', svg):
                for kind in kinds.split():
                    self.assertRegex(page.STYLE, rf"\.{kind}\b", name)

    def test_texts_are_within_the_page(self):
        long = results_page().replace("Some & Processor", "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz of a cloud")
        for recorded in (results_page(), RECORDED, long.replace("abc1234", "abc1234 with uncommitted changes")):
            for name, svg in charts.draw(results.read(recorded)).items():
                root = ElementTree.fromstring(svg)
                for element in root.iter(f"{SVG}text"):
                    if element.get("transform"):
                        continue
                    content, kind = "".join(element.itertext()), element.get("class", "")
                    size = {"title": 18, "name": 14, "small": 12}.get(kind.split(" ")[0], 13)
                    width = page.text_width(content, size, any(word in kind for word in ("own", "name", "title")))
                    left = float(element.get("x")) - (width if "end" in kind else width / 2 if "middle" in kind else 0)
                    self.assertGreaterEqual(left, page.MARGIN - 1, f"{name}: {content}")
                    self.assertLessEqual(left + width, page.WIDTH - 8, f"{name}: {content}")
                    self.assertLess(float(element.get("y")), float(root.get("height")) - 12, f"{name}: {content}")

    def test_bars_have_the_lengths_of_their_values(self):
        root = ElementTree.fromstring(draw()["writes.svg"])
        rects = [element for element in root.iter(f"{SVG}rect") if element.get("class") in ("own", "other")]
        widths = [float(element.get("width")) for element in rects]
        self.assertEqual([element.get("class") for element in rects], ["own", "other", "other"] * 3)
        for panel, seconds in enumerate([(1.2, 1.0, 2.6), (0.22, 0.2, 0.3), (0.3, 0.2, 1.0)]):
            longest = widths[panel * 3 + 2]
            for width, value in zip(widths[panel * 3 :], seconds):
                self.assertAlmostEqual(width / longest, value / seconds[2], delta=0.002)

    def test_values_are_labeled_and_described(self):
        svg = draw()["writes.svg"]
        for value in ("12.0", "10.0", "26.0", "110", "100", "150", "30.0", "20.0"):
            self.assertIn(value, texts(svg))
        self.assertIn("Tandem: 1.20× raw SQLite, 0.50× GRDB", texts(svg))
        description = " ".join(ElementTree.fromstring(svg).find(f"{SVG}desc").text.split())
        self.assertIn("Bulk insert, µs per object: Tandem 12.0, raw SQLite 10.0, GRDB 26.0.", description)

    def test_panels_with_one_scale_draw_equal_times_equally(self):
        root = ElementTree.fromstring(draw()["reads.svg"])
        drawn = [element for element in root.iter(f"{SVG}rect") if element.get("class") in ("own", "other")]
        widths = [float(element.get("width")) for element in drawn]
        self.assertAlmostEqual(widths[2] / widths[5], 6.4 / 5.5, delta=0.002)

    def test_cached_reads_and_set_based_updates_are_shown_once_recorded(self):
        rows = with_rows(
            "point-read-warm | tandem-single-calls | raw-sqlite | 0.20 | 0.10 | 0.30 | 0.1000 | 0.5000 | <= 0.25",
            "point-read-warm | tandem-one-block | raw-sqlite | 0.10 | 0.10 | 0.30 | 0.0300 | 0.3000 | <= 0.15",
            "update-bulk-set | tandem | raw-sqlite | 0.40 | 0.30 | 0.50 | 0.0800 | 0.2000 | <= 0.45")
        before, after = draw(), draw(rows)
        self.assertIn("One read block, cached objects", texts(after["reads.svg"]))
        self.assertIn("0.300", texts(after["reads.svg"]))
        self.assertNotIn("cached", before["reads.svg"])
        self.assertIn("set-based", texts(after["writes.svg"]))
        self.assertIn("8.00", texts(after["writes.svg"]))
        self.assertNotIn("set-based", before["writes.svg"])

    def test_encryption_is_the_part_of_a_bar_above_the_plain_time(self):
        root = ElementTree.fromstring(draw()["encryption.svg"])
        drawn = [element for element in root.iter(f"{SVG}rect") if element.get("y") not in ("0.5", "78.5")][:5]
        self.assertEqual(
            [element.get("class") for element in drawn], ["own", "own", "own-more", "other", "other-more"])
        widths = [float(element.get("width")) for element in drawn]
        # 98 % of the plain time, 100 and 25 %, 100 and 100 %. The outlines are a pixel less wide.
        for width, percent in zip(widths[:2] + [widths[2] + 1, widths[3], widths[4] + 1], (98, 100, 25, 100, 100)):
            self.assertAlmostEqual(width / widths[3], percent / 100, delta=0.01)

    def test_without_sqlcipher_its_bars_and_notes_are_absent(self):
        rows = {name: [line for line in section if "sqlcipher4" not in line] for name, section in ROWS.items()}
        svg = draw(rows)["encryption.svg"]
        self.assertNotIn("SQLCipher 4", texts(svg))
        self.assertNotIn("Python", svg)
        self.assertNotIn('"other"', svg)

    def test_a_missing_comparison_is_an_error(self):
        for comparison in (
            ("insert-bulk", "tandem", "grdb"), ("point-read", "tandem", "raw-sqlite"), ("gcm-points", "tandem"),
            ("pull-100k", "pull-recorded", "sqlite-alone"), ("live-1m", "tandem", "value-observation"),
        ):
            with self.assertRaisesRegex(results.ResultsError, comparison[0]):
                draw(without(*comparison))

    def test_a_missing_section_is_an_error(self):
        with self.assertRaisesRegex(results.ResultsError, "no measured section Live"):
            draw({name: section for name, section in ROWS.items() if name != "Live"})


class CommandTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.page, self.folder = self.root / "Benchmarks/RESULTS.md", self.root / "docs/charts"
        self.page.parent.mkdir()
        self.page.write_text(results_page(), encoding="utf-8")
        specification = importlib.util.spec_from_file_location("draw_charts", ROOT / "Scripts/draw-charts.py")
        self.command = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.command)

    def run_command(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            return self.command.main(arguments, self.root), errors.getvalue()

    def test_drawn_charts_pass_the_check(self):
        self.assertEqual(self.run_command(), (0, ""))
        self.assertEqual(len(list(self.folder.iterdir())), 5)
        self.assertEqual(self.run_command("--check"), (0, ""))

    def test_the_check_names_the_charts_that_differ_and_writes_nothing(self):
        self.run_command()
        self.page.write_text(results_page().replace("1.2000", "1.1000"), encoding="utf-8")
        before = (self.folder / "writes.svg").read_bytes()
        status, errors = self.run_command("--check")
        self.assertEqual(status, 1)
        self.assertIn(": writes.svg in docs/charts", errors)
        self.assertEqual((self.folder / "writes.svg").read_bytes(), before)
        self.assertEqual(self.run_command(), (0, ""))
        self.assertEqual(self.run_command("--check"), (0, ""))

    def test_the_check_fails_without_charts(self):
        self.assertEqual(self.run_command("--check")[0], 1)
        self.assertFalse(self.folder.exists())

    def test_a_chart_of_no_section_fails_the_check_and_is_deleted(self):
        self.run_command()
        (self.folder / "old.svg").write_text("<svg/>", encoding="utf-8")
        self.assertIn("old.svg", self.run_command("--check")[1])
        self.run_command()
        self.assertFalse((self.folder / "old.svg").exists())

    def test_a_damaged_page_leaves_the_charts_unchanged(self):
        self.run_command()
        before = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.page.write_text(results_page().replace("median-ratio", "ratio"), encoding="utf-8")
        status, errors = self.run_command()
        self.assertEqual(status, 1)
        self.assertIn("draw-charts: Benchmarks/RESULTS.md: section Store has the columns", errors)
        self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()}, before)


if __name__ == "__main__":
    unittest.main()
