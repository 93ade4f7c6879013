#!/usr/bin/env python3
"""Draws the charts in docs/charts from Benchmarks/RESULTS.md. `make bench` runs this after it has recorded its results.

Usage: draw-charts.py [--check]
  --check   write nothing, and fail if a chart differs from what RESULTS.md gives
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Scripts/charts"))
import charts  # noqa: E402
import results  # noqa: E402


def main(arguments, root=ROOT):
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args(arguments).check
    folder = root / "docs/charts"
    try:
        drawn = charts.draw(results.read((root / "Benchmarks/RESULTS.md").read_text(encoding="utf-8")))
    except results.ResultsError as error:
        print(f"draw-charts: Benchmarks/RESULTS.md: {error}", file=sys.stderr)
        return 1
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.svg")}
    different = sorted(name for name in drawn.keys() | present.keys() if drawn.get(name) != present.get(name))
    if is_check:
        if different:
            print(
                f"draw-charts: not what Benchmarks/RESULTS.md gives: {', '.join(different)} in docs/charts. "
                "Run Scripts/draw-charts.py.", file=sys.stderr)
        return 1 if different else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in different:
        if name in drawn:
            (folder / name).write_text(drawn[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
