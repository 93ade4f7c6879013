"""Compares the test vectors in VectorTests.swift with those that vectors.py computes from the formats' description.

It needs cryptography from PyPI; `make interop` has it.
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def vectors(text):
    """The constants of hexadecimal text, by name."""
    found = re.findall(r'static let (\w+) =\s*"""(.*?)"""', text, re.DOTALL)
    return {name: re.sub(r"[\s\\]", "", digits) for name, digits in found}


computed = vectors(
    subprocess.run([sys.executable, root / "Scripts/vectors.py"], check=True, capture_output=True, text=True).stdout)
tested = vectors((root / "Tests/SQLiteCipherTests/VectorTests.swift").read_text())
wrong = sorted(name for name in computed.keys() | tested.keys() if computed.get(name) != tested.get(name))
if wrong or not computed:
    raise SystemExit(f"vectors: {', '.join(wrong) or 'none'} of VectorTests.swift and vectors.py differ")
print(f"vectors: all {len(computed)} are what their description gives")
