#!/usr/bin/env python3
"""Compares the order of Tandem's collation keys with ICU 72's, in all languages, with and without numeric order.

Usage: compare.py PEER [--strings N] [--language CODE] [--seed N]. PEER is the executable CollationTestPeer. Needs
Debian's package libicu72. Ends with `collation: N comparisons, no difference`, or with the first differences and 1.

The texts are all scalars, the brand names of TANDEM_SHARED, and random strings. Sorted by ICU's keys, each text's key
must be greater than that of the text before it, or equal if ICU's keys are equal. So all pairs are compared.
"""

import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys

import icu


ALPHABETS = [
    list(range(0x20, 0x7F)), list(range(0xA0, 0x250)), list(range(0x300, 0x370)), list(range(0x370, 0x400)),
    list(range(0x400, 0x530)), list(range(0x590, 0x700)), list(range(0x900, 0xE00)), list(range(0xE00, 0xF00)),
    list(range(0xF00, 0xFD0)), list(range(0x1000, 0x1100)), list(range(0x1100, 0x1200)), list(range(0x1E00, 0x2000)),
    list(range(0x2000, 0x2100)), list(range(0x2100, 0x2C00)), list(range(0x3040, 0x3100)),
    list(range(0x3200, 0x3400)), list(range(0x4E00, 0x9FFF)), list(range(0xAC00, 0xD7B0)), list(range(0xF900, 0xFB00)),
    list(range(0xFB00, 0x10000)), list(range(0x10000, 0x11000)), list(range(0x11000, 0x12000)),
    list(range(0x1D100, 0x1D800)), list(range(0x1F300, 0x1FB00)), list(range(0x20000, 0x20100)),
    list(range(0xE0000, 0xE0200)), list(range(0x10FF00, 0x110000)), list(range(0x1980, 0x19DF)),
    list(range(0xAA80, 0xAAE0)), list(range(0x1B00, 0x1B80)), list(range(0, 0x20)) + list(range(0x7F, 0xA0)),
    [0xAD, 0x34F, 0x200B, 0x200D, 0xFE0F, 0x300, 0x301, 0x307, 0x308, 0x30A, 0x30B, 0x30C, 0x323, 0x326, 0x327, 0x328],
]
LETTERS = "aAbcCdDeghHiIlLnNoOpqrsStTuvwyYzZåäöøæœđðþßñłŋıİşğçčćžšőűǆǈйёїґіўүќѓл·"
DIGITS = "0123456789٠١٢٣९०১２３𝟏𝟐"


def random_text(rng):
    """A random text in which neighbors matter."""
    kind = rng.random()
    if kind < 0.3:
        return "".join(rng.choice(LETTERS + DIGITS + "\u0301\u0308\u030a\u030c\u0323\u0327\u0000'- ")
                       for _ in range(rng.randint(1, 7)))
    if kind < 0.45:
        # Few letters, so that texts are often equal at the first levels.
        return "".join(rng.choice("aAáeEсСé\u0301\u0308\u0323\u00ad01") for _ in range(rng.randint(1, 6)))
    if kind < 0.55:
        return rng.choice(LETTERS) + "".join(rng.choice(DIGITS + DIGITS[0] * 4) for _ in range(rng.choice((1, 3, 9))))
    chosen = rng.sample(ALPHABETS, rng.randint(1, 3))
    scalars = [rng.choice(rng.choice(chosen)) for _ in range(rng.randint(1, 9))]
    return "".join(chr(c) for c in scalars if not 0xD800 <= c <= 0xDFFF) or "x"


def brands():
    path = pathlib.Path(os.environ.get("TANDEM_SHARED", "../shared")) / "data/brands.tsv"
    if not path.exists():
        return []
    return [line.split("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def own_keys(peer, language, numeric, texts):
    data = b"".join(struct.pack("<I", len(t)) + t for t in (text.encode() for text in texts))
    output = subprocess.run(
        [peer, language, str(int(numeric))], input=data, stdout=subprocess.PIPE, check=True).stdout
    keys, index = [], 0
    while index < len(output):
        count = struct.unpack_from("<I", output, index)[0]
        keys.append(output[index + 4:index + 4 + count])
        index += 4 + count
    assert len(keys) == len(texts)
    return keys


def compare(peer, language, numeric, texts):
    """Returns the number of neighbors, and the pairs that differ in their order."""
    collator = icu.Collator(language, numeric)
    texts = list(dict.fromkeys(texts))
    own = own_keys(peer, language, numeric, texts)
    rows = sorted(zip((collator.key(text) for text in texts), own, texts), key=lambda row: row[0])
    wrong = []
    for (a, own_a, text_a), (b, own_b, text_b) in zip(rows, rows[1:]):
        if (a == b) != (own_a == own_b) or (a < b) != (own_a < own_b):
            wrong.append((text_a, text_b))
        if own_a != own_b and own_b.startswith(own_a):
            wrong.append((text_a, text_b))
    return len(rows), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer")
    parser.add_argument("--strings", type=int, default=100_000)
    parser.add_argument("--language", action="append")
    parser.add_argument("--seed", type=int, default=20261125)
    options = parser.parse_args()
    scalars = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    names = brands()
    rng = random.Random(options.seed)
    strings = [random_text(rng) for _ in range(options.strings)]
    count = failures = 0
    for language in options.language or sorted(icu.LANGUAGES):
        for numeric in (False, True):
            texts = names + strings + (scalars if language == "root" else scalars[:0x20000])
            compared, wrong = compare(options.peer, language, numeric, texts)
            count += compared
            failures += len(wrong)
            print(f"{language}{' numeric' if numeric else ''}: {compared} texts, {len(wrong)} differences", flush=True)
            for a, b in wrong[:10]:
                print(f"  ICU sorts {ascii(a)} before {ascii(b)}")
    if failures:
        sys.exit(f"collation: {failures} differences")
    print(f"collation: {count} comparisons, no difference")


if __name__ == "__main__":
    main()
