#!/usr/bin/env python3
"""Writes the tables of Sources/*/Text/Internal from Unicode's own data files.

    apt-get install -y unicode-data
    Scripts/generate-folding-tables.py            write the tables and the tests' expectations
    Scripts/generate-folding-tables.py --check    fail if they differ from what is checked in, or from Python's oracle

The data are those of Debian's package `unicode-data`, of ONE version: a store's folded columns are only comparable
with keys folded by the same tables, so a new Unicode version is a deliberate step (raise UNICODE and DIGEST here and
`Folding.version` in Swift; stores then refold), never a side effect of an upgraded build machine.
"""

import argparse
import bz2
import collections
import hashlib
import pathlib
import random
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Scripts/tables"))
from writer import Writer, literal  # noqa: E402

UNICODE = "15.0.0"
# UnicodeData.txt is the only file without a version line.
DIGEST = "806e9aed65037197f1ec85e12be6e8cd870fc5608b4de0fffd990f689f376a73"
DATA = pathlib.Path("/usr/share/unicode")
LIMIT = 0x110000

# --------------------------------------------------------------------------------------------------------------------
# Decisions of the search key beyond Unicode's properties. A change here is a change of `Folding.version`.

# Marks are dropped only from letters of these scripts. In other scripts, a mark is a letter or a part of one.
MARKS_FALL_IN = {"Latin", "Greek", "Cyrillic", "Hebrew", "Arabic"}
# A mark is dropped only if it can combine with such letters: a Thai vowel is never an accent.
FALLING_MARKS = MARKS_FALL_IN | {"Inherited", "Common"}
# The breve on these letters stays: й and ў are separate letters.
KEEPS_BREVE = {0x0438, 0x0443}
BREVE = 0x0306

# Letters that Unicode does not decompose but that users type without a mark. Lower case only: the table applies after
# the fold.
PLAIN = {
    "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h", "ı": "i", "ŋ": "n",
    "ŧ": "t", "ĸ": "q", "ƀ": "b", "ƃ": "b", "ɓ": "b", "ƈ": "c", "ȼ": "c", "ƌ": "d", "ɖ": "d", "ɗ": "d", "ȡ": "d",
    "ǝ": "e", "ə": "e", "ɛ": "e", "ɇ": "e", "ƒ": "f", "ǥ": "g", "ɠ": "g", "ⱨ": "h", "ɨ": "i", "ɉ": "j", "ȷ": "j",
    "ƙ": "k", "ⱪ": "k", "ƚ": "l", "ɫ": "l", "ɬ": "l", "ⱡ": "l", "ȴ": "l", "ƞ": "n", "ɲ": "n", "ȵ": "n",
    "ɔ": "o", "ɵ": "o", "ƥ": "p", "ᵽ": "p", "ɍ": "r", "ɽ": "r", "ȿ": "s", "ʂ": "s", "ƫ": "t", "ƭ": "t", "ʈ": "t",
    "ȶ": "t", "ⱦ": "t", "ʉ": "u", "ʋ": "v", "ⱳ": "w", "ƴ": "y", "ɏ": "y", "ƶ": "z", "ȥ": "z", "ɀ": "z", "ʒ": "z",
    "ⱬ": "z", "ⱥ": "a", "ꜳ": "aa", "ꜵ": "ao", "ꜷ": "au", "ꜹ": "av", "ꜻ": "av", "ꜽ": "ay", "ꝏ": "oo",
    # Arabic letters that differ by keyboard rather than by word: alef wasla, alef maksura, Farsi yeh, keheh.
    "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك",
}

# Characters that are dropped although they are neither punctuation nor controls: the ypogegrammeni (which a case fold
# would turn into a letter), Arabic tatweel, the grave accent (typed as an apostrophe), and letters shaped like an
# apostrophe or a prime and typed as one.
VANISHES = {0x0345, 0x0640, 0x0060, 0x02B9, 0x02BA, 0x02BB, 0x02BC, 0x02BD, 0x02BE, 0x02BF, 0x02C8, 0x02EE,
            0xA78B, 0xA78C}


# --------------------------------------------------------------------------------------------------------------------
# The data files


def rows(name, version_line=True):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    if version_line and lines[0] != f"# {name[:-4]}-{UNICODE}.txt":
        sys.exit(f"{DATA / name} is '{lines[0]}', not of Unicode {UNICODE}; install that version of unicode-data")
    for line in lines:
        fields = [field.strip() for field in line.split("#")[0].split(";")]
        if fields[0]:
            yield fields


def span(text):
    first, _, last = text.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


def scalars(text):
    return [int(part, 16) for part in text.split()]


def members(name, value):
    return {c for fields in rows(name) if fields[1] == value for c in span(fields[0])}


class Unicode:
    def __init__(self):
        digest = hashlib.sha256((DATA / "UnicodeData.txt").read_bytes()).hexdigest()
        if digest != DIGEST:
            sys.exit(f"{DATA / 'UnicodeData.txt'} is not Unicode {UNICODE}'s: its SHA-256 is {digest}")
        self.category, self.ccc, self.canonical, self.compatible = {}, {}, {}, {}
        first = None
        for fields in rows("UnicodeData.txt", version_line=False):
            c, name = int(fields[0], 16), fields[1]
            if name.endswith(", First>"):
                first = c
                continue
            for each in range(first if first is not None else c, c + 1):
                self.category[each] = fields[2]
            first = None
            if fields[3] != "0":
                self.ccc[c] = int(fields[3])
            if fields[5].startswith("<"):
                self.compatible[c] = scalars(fields[5].split("> ")[1])
            elif fields[5]:
                self.canonical[c] = scalars(fields[5])
        self.folds = {int(f[0], 16): scalars(f[2]) for f in rows("CaseFolding.txt") if f[1] in "CF"}
        self.script = {c: f[1] for f in rows("Scripts.txt") for c in span(f[0])}
        self.white = members("PropList.txt", "White_Space")
        self.ignorable = members("DerivedCoreProperties.txt", "Default_Ignorable_Code_Point")
        excluded = members("DerivedNormalizationProps.txt", "Full_Composition_Exclusion")
        self.not_nfc = {c for f in rows("DerivedNormalizationProps.txt") if f[1] == "NFC_QC" for c in span(f[0])}
        self.pairs = {tuple(d): c for c, d in self.canonical.items() if c not in excluded}
        self.seconds = {second for _, second in self.pairs} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))

    def decomposed(self, c, compatibly=False):
        if 0xAC00 <= c <= 0xD7A3:
            s = c - 0xAC00
            parts = [0x1100 + s // 588, 0x1161 + s % 588 // 28, 0x11A7 + s % 28]
            return parts if s % 28 else parts[:2]
        mapping = self.canonical.get(c) or (self.compatible.get(c) if compatibly else None)
        return [c] if mapping is None else [d for part in mapping for d in self.decomposed(part, compatibly)]

    def ordered(self, text):
        text = list(text)
        start = 0
        for index in range(len(text) + 1):
            if index == len(text) or text[index] not in self.ccc:
                text[start:index] = sorted(text[start:index], key=lambda c: self.ccc.get(c, 0))
                start = index + 1
        return text

    def nfd(self, text):
        return self.ordered(d for c in text for d in self.decomposed(c))

    def nfkd(self, text):
        return self.ordered(d for c in text for d in self.decomposed(c, compatibly=True))

    def nfc(self, text):
        result, starter, blocking = [], None, 0
        for c in self.nfd(text):
            ccc = self.ccc.get(c, 0)
            joined = None
            if starter is not None and (blocking < ccc or (blocking == 0 and len(result) == starter + 1)):
                joined = self.joined(result[starter], c)
            if joined is not None:
                result[starter] = joined
                continue
            if ccc == 0:
                starter = len(result)
            blocking = ccc
            result.append(c)
        return result

    def joined(self, a, b):
        if 0x1100 <= a <= 0x1112 and 0x1161 <= b <= 0x1175:
            return 0xAC00 + ((a - 0x1100) * 21 + b - 0x1161) * 28
        if 0xAC00 <= a <= 0xD7A3 and (a - 0xAC00) % 28 == 0 and 0x11A8 <= b <= 0x11C2:
            return a + b - 0x11A7
        return self.pairs.get((a, b))

    def folded(self, text):
        return [d for c in text for d in self.folds.get(c, [c])]

    def is_boundary(self, c):
        """Whether normalisation never joins or reorders across the front of `c`."""
        return c not in self.ccc and c not in self.not_nfc


# --------------------------------------------------------------------------------------------------------------------
# The rules: the result of each scalar on its own, and whether its neighbors can matter

Entry = collections.namedtuple("Entry", "kind scalars slow")


class Rules:
    def __init__(self, u):
        self.u = u
        self.plain = {ord(k): [ord(c) for c in v] for k, v in PLAIN.items()}
        for k, v in self.plain.items():
            assert u.folded([k]) == [k] and u.decomposed(k, True) == [k], f"{k:04X} is not plain lower case"
            assert not any(c in self.plain for c in v)
        marks = {c for c, category in u.category.items() if category[0] == "M"}
        self.falling = {c for c in marks if u.script.get(c) in FALLING_MARKS}
        self.bases = {c for c, s in u.script.items() if s in MARKS_FALL_IN and c not in marks}

    def sort_entry(self, c):
        u = self.u
        text = u.nfc(u.folded(u.nfd([c])))
        slow = c in u.ccc or not all(u.is_boundary(d) for d in text)
        return Entry("scalars", u.folded([c]) if slow and c not in u.canonical else text, slow)

    def letters(self, c):
        """What one fully decomposed scalar becomes in a search key, neighbours apart."""
        u = self.u
        if c in u.white:
            return [0x20]
        category = u.category.get(c, "Cn")
        if c in VANISHES or c in u.ignorable or category[0] == "P" or category in ("Cc", "Cf"):
            return []
        if c in self.plain:
            return self.plain[c]
        text = u.nfkd(u.folded([c]))
        return [c] if text == [c] else [e for d in text for e in self.letters(d)]

    def is_spacing_accent(self, c):
        """A spacing clone of an accent, such as U+00B4: a space with marks by its decomposition."""
        text = self.u.decomposed(c, compatibly=True)
        return len(text) > 1 and text[0] == 0x20 and all(self.u.category[d][0] == "M" for d in text[1:])

    def search_entry(self, c):
        u = self.u
        if self.is_spacing_accent(c):
            return Entry("accent", [], False)
        if c in u.white:
            return Entry("space", [], False)
        loose = [e for d in u.decomposed(c, compatibly=True) for e in self.letters(d)]
        if not loose:
            return Entry("nothing", [], False)
        text = u.nfc(self.without_marks(loose))
        slow = any(not u.is_boundary(d) or d in self.falling for d in text)
        # Whether a breve that follows ѝ belongs to the letter depends on the mark that fell.
        slow = slow or (text != loose and text[-1] in KEEPS_BREVE)
        return Entry("scalars", loose if slow else text, slow)

    def without_marks(self, text):
        """Drops the marks of alphabets. A mark's base is the scalar before it that is not such a mark and has class 0."""
        result, base, breve = [], None, False
        for c in text:
            ccc = self.u.ccc.get(c, 0)
            if c in self.falling:
                if base == "accent":
                    continue
                if base is not None and c == BREVE and base in KEEPS_BREVE and breve:
                    breve = False
                elif base in self.bases:
                    breve = breve and ccc not in (0, 230)
                    continue
            elif ccc == 0:
                base, breve = c, True
                if c == ACCENT:
                    base = "accent"
                    continue
            elif ccc == 230:
                breve = False
            result.append(c)
        return result


ACCENT = -1


# --------------------------------------------------------------------------------------------------------------------
# Encoding


KINDS = {"scalars": 0, "nothing": 2, "space": 3, "accent": 4}
SLOW = 8


def fold_table(entries):
    """Singles as runs of a value that holds kind, slowness and difference; sequences after them."""
    singles, fast, slow = {}, {}, {}
    for c, e in entries.items():
        if len(e.scalars) > 1:
            (slow if e.slow else fast)[c] = e.scalars
        else:
            delta = e.scalars[0] - c if e.scalars else 0
            value = delta * 16 + KINDS[e.kind] + (SLOW if e.slow else 0)
            if value:
                singles[c] = value
    writer = Writer()
    writer.runs(singles)
    writer.sequences(fast)
    writer.sequences(slow)
    return "".join(writer.text)


def normal_table(u, rules):
    properties = {}
    for c in range(LIMIT):
        value = u.ccc.get(c, 0)
        value |= (c in rules.falling) << 8 | (c in rules.bases) << 9 | (c in u.seconds) << 10
        if value:
            properties[c] = value
    writer = Writer()
    writer.runs(properties)
    writer.sequences({c: u.decomposed(c) for c in u.canonical})
    last = 0
    for (a, b), c in sorted(u.pairs.items()):
        writer.number(a - last)
        writer.number(b)
        writer.signed(c - a)
        last = a
    writer.number(0)
    writer.number(0)
    return "".join(writer.text)


HEADER = f"// swift-format-ignore-file\n// Written by Scripts/generate-folding-tables.py from Unicode {UNICODE}. Do not edit.\n"


def swift_table(name, text, before=""):
    return f"{HEADER}\nextension FoldingTables {{\n{before}{literal(name, text)}}}\n"


# --------------------------------------------------------------------------------------------------------------------
# Expectations for the tests: the rules applied to whole strings (no fast path, no per-scalar tables)


def plain_sort_key(u, text):
    return u.nfc(u.folded(u.nfd(text)))


def plain_search_key(u, rules, text):
    loose = []
    for c in u.nfd(text):
        if rules.is_spacing_accent(c):
            loose.append(ACCENT)
        else:
            loose += [e for d in u.decomposed(c, compatibly=True) for e in rules.letters(d)]
    # Marks see the remaining letters, so dropped characters in between have no effect.
    kept = "".join(map(chr, u.nfc(rules.without_marks(loose))))
    return [ord(c) for c in " ".join(part for part in kept.split(" ") if part)]


def fnv(hash_, text):
    for byte in "".join(map(chr, text)).encode() + b"\xff":
        hash_ = (hash_ ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return hash_


def samples(u, rules, count=3000):
    """Strings in which neighbours matter: marks, jamo, removed scalars and letters thrown together."""
    rng = random.Random(20260101)
    marks = sorted(u.ccc) + sorted(rules.falling)
    pools = [
        marks, list(range(0x1100, 0x1200)),
        [0x20, 0x2D, 0xAD, 0x200D, 0x34F, 0xB4, 0x385, 0x640, 0x3099, 0x309A, 0x345],
        [0x438, 0x418, 0x443, 0x423, 0x306, 0x301, 0x323], sorted(u.canonical), sorted(u.compatible),
        list(range(0x20, 0x250)), list(range(0x370, 0x530)), list(range(0x590, 0x700)), list(range(0x3040, 0x3100)),
        sorted(u.seconds), [c for c in range(0x900, 0xE80)], list(range(0xAC00, 0xAD00)),
    ]
    for _ in range(count):
        chosen = rng.sample(pools, 3)
        yield [rng.choice(rng.choice(chosen)) for _ in range(rng.randint(1, 9))]


def expectations(u, rules):
    block, sort_hashes, search_hashes = 0x8000, [], []
    for start in range(0, LIMIT, block):
        sort_hash = search_hash = 0xCBF29CE484222325
        for c in range(start, start + block):
            if 0xD800 <= c <= 0xDFFF:
                continue
            sort_hash = fnv(sort_hash, plain_sort_key(u, [c]))
            search_hash = fnv(search_hash, plain_search_key(u, rules, [c]))
        sort_hashes.append(sort_hash)
        search_hashes.append(search_hash)
    lines = []
    for text in samples(u, rules):
        hashes = [fnv(0xCBF29CE484222325, key) & 0xFFFFFF
                  for key in (plain_sort_key(u, text), plain_search_key(u, rules, text))]
        lines.append("%s:%x,%x" % (",".join("%X" % c for c in text), *hashes))

    def array(name, values):
        body = "\n".join("        " + ", ".join(f"0x{v:016X}" for v in values[i:i + 5]) + ","
                         for i in range(0, len(values), 5))
        return f"    static let {name}: [UInt64] = [\n{body}\n    ]\n"

    swift = (f"{HEADER}\n/// Hashes of the keys of every scalar, in blocks of 0x8000, by the script's plain reading "
             f"of the rules.\nenum ScalarExpectations {{\n{array('sort', sort_hashes)}{array('search', search_hashes)}}}\n")
    return swift, "\n".join(lines) + "\n"


# --------------------------------------------------------------------------------------------------------------------
# Oracles: the Unicode Consortium's normalization test, and Python's own tables for the characters of its version


def check_oracles(u):
    text = bz2.decompress((DATA / "NormalizationTest.txt.bz2").read_bytes()).decode()
    assert text.startswith(f"# NormalizationTest-{UNICODE}.txt")
    lines = 0
    for line in text.splitlines():
        fields = line.split("#")[0].split(";")
        if len(fields) < 5:
            continue
        source, nfc, nfd, _, nfkd = [scalars(f) for f in fields[:5]]
        for form in (source, nfc, nfd):
            assert u.nfc(form) == nfc and u.nfd(form) == nfd and u.nfkd(form) == nfkd, line
        lines += 1
    known = [c for c in range(LIMIT) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]
    for c in known:
        assert u.category[c] == unicodedata.category(chr(c)), hex(c)
        for form, own in (("NFC", u.nfc), ("NFD", u.nfd), ("NFKD", u.nfkd)):
            assert [ord(d) for d in unicodedata.normalize(form, chr(c))] == own([c]), hex(c)
        assert [ord(d) for d in chr(c).casefold()] == u.folded([c]), hex(c)
    print(f"{lines} lines of NormalizationTest.txt and {len(known)} scalars of Python's Unicode "
          f"{unicodedata.unidata_version} agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--sources", type=pathlib.Path, help="folder of the Swift tables")
    parser.add_argument("--tests", type=pathlib.Path, help="folder of the tests' expectations")
    options = parser.parse_args()

    def folder(*candidates):
        return next((ROOT / c for c in candidates if (ROOT / c).is_dir()), None)

    sources = options.sources or folder("Sources/Tandem/Text/Internal", "Sources/Text/Internal")
    tests = options.tests or folder("Tests/TandemTests/Text", "Tests/TextTests")

    u = Unicode()
    rules = Rules(u)
    every = [c for c in range(LIMIT) if not 0xD800 <= c <= 0xDFFF]
    sort_entries = {c: rules.sort_entry(c) for c in every}
    search_entries = {c: rules.search_entry(c) for c in every}
    for c in every:
        # Only the ypogegrammeni is a mark whose case fold is not a mark. The Swift code relies on it for sort keys.
        e = sort_entries[c]
        assert not e.slow or c in u.canonical or e.scalars == [c] or c in (0x345,), hex(c)
        if u.category.get(c, "Cn")[0] == "P":
            assert not search_entries[c].scalars, hex(c)
    scalar_hashes, strings = expectations(u, rules)
    outputs = {
        sources / "FoldingTables+Sort+Generated.swift": swift_table(
            "sortData", fold_table(sort_entries), f'    static let unicodeVersion = "{UNICODE}"\n\n'),
        sources / "FoldingTables+Search+Generated.swift": swift_table("searchData", fold_table(search_entries)),
        sources / "FoldingTables+Normal+Generated.swift": swift_table("normalData", normal_table(u, rules)),
        tests / "ScalarExpectations+Generated.swift": scalar_hashes,
        tests / "folding-strings.txt": strings,
    }
    if options.check:
        check_oracles(u)
        stale = [str(path) for path, text in outputs.items() if not path.exists() or path.read_text() != text]
        if stale:
            sys.exit("not what this script writes: " + ", ".join(stale))
        print("the checked-in files are what this script writes")
    else:
        for path, text in outputs.items():
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: {len(text.splitlines())} lines, {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
