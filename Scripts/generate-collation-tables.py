#!/usr/bin/env python3
"""Writes the collation tables of Sources/Tandem/Text/Internal from the collators of ICU 72 (Unicode 15, CLDR 42).

    apt-get install -y libicu72
    Scripts/generate-collation-tables.py            write the tables, and vectors for the tests
    Scripts/generate-collation-tables.py --check    fail if they differ from what is checked in

ICU is of ONE version: stored keys are only comparable with keys of the same tables. A newer version is a deliberate
step: raise VERSION in Scripts/collation/icu.py and `Collation.version` in Swift. Stores then rebuild their keys.

The article SortOrder.md describes the keys; CollationTables.swift reads what this script writes.
"""

import argparse
import collections
import pathlib
import random
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Scripts/collation"))
sys.path.insert(0, str(ROOT / "Scripts/tables"))
import compare  # noqa: E402
import icu  # noqa: E402
from writer import Writer, literal  # noqa: E402

LIMIT = 0x110000
COMMON = 0x0500
UPPER = 2  # The case bits of upper case.
CASE_FIRST = ("da",)
# The primaries of ICU: Chinese characters, and unassigned scalars by their code points.
HAN, UNASSIGNED, TOP = 0xFA000000, 0xFE000000, 0xFF000000
NUMERIC = 0x0F000000
# The bounds of the groups of primaries that languages reorder: special characters and digits, Latin, Greek, Coptic,
# Cyrillic, and the rest.
GROUPS = (0, 0x26000000, 0x60000000, 0x605F0000, 0x61000000, 0x62000000)
REORDER = {
    "Cyrl": (0, 4, 1, 2, 3, 5), "Latn Cyrl": (0, 1, 4, 2, 3, 5), "Grek": (0, 2, 1, 3, 4, 5), "": (0, 1, 2, 3, 4, 5),
}
# Primaries of one byte: the letters of English and of the Cyrillic alphabets, digits, and frequent punctuation.
SINGLES = (
    " -,.'’!&/()+" + "0123456789" + "abcdefghijklmnopqrstuvwxyz" + "абвгдежзийклмнопрстуфхцчшщъыьэюя" + "іїєґў")
# ICU's lead bytes of primaries with two bytes: those of the scripts in daily use. Others have three.
TWO_BYTES = [*range(0x02, 0x0C), *range(0x0E, 0x66), 0x66, 0x67, *range(0x68, 0x70), 0x79, 0x7A]

BEGINS, ENDS, STARTS, CONTINUES, PLAIN, BELOW, DIGIT, HEADING = (1 << bit for bit in range(8))
SINGLE, POOL, IMPLICIT, DECOMPOSE = "single", "pool", "implicit", "decompose"

Entry = collections.namedtuple("Entry", "kind elements flags")


def nfd(text):
    return unicodedata.normalize("NFD", text)


def combining(c):
    return icu.u_getCombiningClass(ord(c))


def is_mark(c):
    return combining(c) != 0


class Language:
    """The collation elements of a language's units: scalars in NFD, and contractions."""

    def __init__(self, code, root=None):
        self.code, self.root = code, root
        self.collator = icu.Collator(code)
        contractions = {s for s in self.collator.contractions() if len(s) > 1 and nfd(s) == s}
        # A middle dot after `l` depends on the letter before it, wherever that ends.
        for s in sorted(contractions):
            if s[-1] in "lL" and len(s) > 1:
                contractions.add(s + "·")
        self.contractions = {s: self.collator.ces(s) for s in contractions}
        if root is None:
            self.scalars = {
                chr(c): self.collator.ces(chr(c)) for c in range(LIMIT)
                if not 0xD800 <= c <= 0xDFFF and not 0xAC00 <= c <= 0xD7A3}
            self.changed = set(self.scalars)
        else:
            candidates = {s for s in self.collator.tailored() if len(s) == 1} | root.composed
            changed = {s: self.collator.ces(s) for s in candidates}
            self.changed = {s for s, ces in changed.items() if root.scalars[s] != ces}
            self.scalars = {**root.scalars, **changed}
        self.by_first = collections.defaultdict(list)
        for s in self.contractions:
            self.by_first[s[0]].append(s)
        if root is None:
            self.composed = {s for s in self.scalars if nfd(s) != s}

    def prepare(self, implicit):
        """Chooses the plain units and the headings."""
        elements = {self.scalars[s][0] for s in implicit}
        units = [(s, ces) for s, ces in self.scalars.items() if s not in implicit and ces and nfd(s) == s]
        units += self.contractions.items()
        first, headings = {}, {}
        for s, ces in units:
            rank = (len(ces) > 1, len(s), s)
            if ces and ces[0] not in elements and (ces[0] not in first or rank < first[ces[0]][0]):
                first[ces[0]] = (rank, s)
            if len(ces) == 1 and ces[0][0] and ces[0][1] == COMMON and "\ufdd1" not in s:
                upper = ces[0][2] >> 14 == UPPER and icu.u_charType(ord(s[0])) == 1
                rank = (not upper, ces[0][2] & 0x3F3F, s)
                if ces[0][0] not in headings or rank < headings[ces[0][0]][0]:
                    headings[ces[0][0]] = (rank, s)
        self.identities = {}
        self.first = {ce: s for ce, (_, s) in first.items()}
        self.headings = {s for _, s in headings.values()}
        self.starts = {c for s in self.contractions for c in s[:-1]}
        self.continues = {c for s in self.contractions for c in s[1:]}

    def units(self, text):
        """The units of an NFD text, and whether each is contiguous (UTS #10, S2.1)."""
        text, index = list(text), 0
        while index < len(text):
            unit, rest, contiguous = self.match(text, index)
            yield unit, contiguous
            text[index:rest] = []

    def match(self, text, index):
        unit, end = text[index], index + 1
        for s in self.by_first.get(unit, ()):
            if len(s) > len(unit) and text[index:index + len(s)] == list(s):
                unit, end = s, index + len(s)
        contiguous, position, last = True, end, 0
        while position < len(text):
            order = combining(text[position])
            if order == 0:
                break
            if order > last and unit + text[position] in self.contractions:
                contiguous &= position == end
                unit += text[position]
                del text[position]
                continue
            last = order
            position += 1
        return unit, end, contiguous

    def elements(self, unit):
        return self.contractions[unit] if len(unit) > 1 else self.scalars[unit]

    def identity(self, unit):
        """The flags for the identical level of a unit."""
        if unit in self.identities:
            return self.identities[unit]
        ces, index, canonical = self.elements(unit), 0, []
        while index < len(ces):
            other = self.first.get(ces[index])
            canonical += [LIMIT] if other is None else map(ord, other)
            own = self.elements(other) if other else ()
            index += len(own) if own and ces[index:index + len(own)] == own else 1
        scalars = list(map(ord, unit))
        if scalars == canonical:
            result = PLAIN
        else:
            if ces and (canonical[:len(scalars)] == scalars or scalars[:len(canonical)] == canonical):
                print(f"{self.code}: {ascii(unit)} is a prefix of its canonical text, or has it as a prefix")
            result = BELOW if scalars < canonical else 0
        self.identities[unit] = result
        return result

    def entry(self, s):
        """The entry of a scalar."""
        text, ces = nfd(s), self.scalars[s]
        flags = BEGINS * is_mark(text[0]) | ENDS * is_mark(text[-1])
        flags |= STARTS * any(c in self.starts for c in text) | CONTINUES * (text[0] in self.continues)
        digit = icu.u_charDigitValue(ord(s))
        if digit >= 0:
            assert ces[0][0] == self.scalars[str(digit)][0][0], s
            flags |= DIGIT
        if text == s:
            flags |= self.identity(s)
        else:
            units = list(self.units(text))
            parts = tuple(ce for unit, _ in units for ce in self.elements(unit))
            assert parts == ces, (self.code, s, parts, ces)
            identity = [self.identity(unit) if contiguous else 0 for unit, contiguous in units]
            flags |= next((i for i in identity if i != PLAIN), PLAIN)
        flags |= HEADING * (s in self.headings)
        if len(ces) == 1 and ces[0][0] and ces[0][1] == COMMON and not flags & BELOW:
            return Entry(SINGLE, ces, flags)
        return Entry(POOL, ces, flags)

    def contraction(self, s):
        return Entry(POOL, self.contractions[s], self.identity(s) | HEADING * (s in self.headings))


# --------------------------------------------------------------------------------------------------------------------
# Encoding


class Weights:
    """The numbers of all primaries, secondaries and tertiaries, in their order."""

    def __init__(self, languages, implicit):
        primaries, secondaries, tertiaries = set(), set(), set()
        for language in languages:
            sources = [language.scalars[s] for s in language.changed if s not in implicit]
            for ces in sources + list(language.contractions.values()):
                for p, s, t in ces:
                    primaries.add(p)
                    secondaries.add(s)
                    tertiaries.add(t)
        primaries |= {NUMERIC, HAN, UNASSIGNED}
        primaries.discard(0)
        assert min(secondaries) == COMMON, "a secondary is below the common one"
        self.primaries = sorted(primaries)
        self.rank = {p: i for i, p in enumerate(self.primaries)}
        self.secondary = {s: i for i, s in enumerate(sorted(secondaries))}
        self.tertiaries = sorted(tertiaries)
        self.tertiary = {t: i for i, t in enumerate(self.tertiaries)}
        assert len(self.tertiaries) <= 64 and len(secondaries) <= 512, (len(self.tertiaries), len(secondaries))

    def write(self, writer, root, han):
        """Segments of primaries that have the same number of bytes, and begin a lead byte."""
        single = {root.scalars[c][0][0] for c in SINGLES}
        segments = []
        for p in self.primaries:
            group = sum(p >= bound for bound in GROUPS) - 1
            if p in (NUMERIC, HAN, UNASSIGNED):
                kind = {NUMERIC: 4, HAN: 5, UNASSIGNED: 6}[p]
            else:
                kind = 1 if p in single else 2 if p >> 24 in TWO_BYTES or p >= TOP else 3
            if segments and segments[-1][:2] == [kind, group] and kind in (2, 3):
                segments[-1][2] += 1
            else:
                segments.append([kind, group, 1])
        leads = sum({1: 1, 2: -(-n // 256), 4: 1, 5: -(-han // 65536), 6: 1}.get(kind, -(-n // 65536))
                    for kind, _, n in segments)
        print(f"{len(self.primaries)} primaries in {len(segments)} segments, {leads} lead bytes")
        assert leads <= 253
        writer.number(len(segments))
        for kind, group, count in segments:
            writer.number(kind + 8 * group)
            writer.number(count)
        writer.number(len(self.secondary))
        writer.numbers(self.tertiaries)

    def element(self, writer, ce, last):
        p, s, t = ce
        writer.number(self.secondary[s] << 1 | (p != 0))
        writer.number(self.tertiary[t])
        if not p:
            return last
        writer.signed(self.rank[p] - last)
        return self.rank[p]

    def entries(self, writer, entries, contractions):
        singles = {ord(s): e for s, e in entries.items() if e.kind == SINGLE}
        value = {c: (self.tertiary[e.elements[0][2]], e.flags) for c, e in singles.items()}
        rank = {c: self.rank[e.elements[0][0]] for c, e in singles.items()}
        end = last = 0
        written = set()
        runs = 0
        for first in sorted(singles):
            if first in written:
                continue
            best = (1, 1, 0)
            for stride in (1, 2):
                if value.get(first + stride) != value[first] or first + stride in written:
                    continue
                step, count = rank[first + stride] - rank[first], 2
                while (c := first + count * stride) in singles and value[c] == value[first] and (
                        rank[c] - rank[c - stride] == step) and c not in written:
                    count += 1
                best = max(best, (count, stride, step))
            count, stride, step = best
            written.update(first + i * stride for i in range(count))
            # A run may lie within another with a stride, so that the gap may be negative.
            writer.signed(first - end)
            writer.number(count << 1 | (stride == 2))
            writer.signed(rank[first] - last)
            if count > 1:
                writer.signed(step)
            writer.number(value[first][0])
            writer.number(value[first][1])
            end, last = first + (count - 1) * stride + 1, rank[first] + (count - 1) * step
            runs += 1
        writer.signed(0)
        writer.number(0)
        position = last = 0
        for s in sorted(s for s, e in entries.items() if e.kind != SINGLE):
            e = entries[s]
            writer.number(ord(s) - position)
            writer.number({POOL: len(e.elements), IMPLICIT: 30, DECOMPOSE: 31}[e.kind])
            writer.number(e.flags)
            for ce in e.elements if e.kind == POOL else ():
                last = self.element(writer, ce, last)
            position = ord(s)
        writer.number(LIMIT - position)
        position = 0
        writer.number(len(contractions))
        for s in sorted(contractions):
            e = contractions[s]
            writer.number(len(s))
            for c in s:
                writer.signed(ord(c) - position)
                position = ord(c)
            writer.number(len(e.elements))
            writer.number(e.flags)
            for ce in e.elements:
                last = self.element(writer, ce, last)
        return runs


def han_order(writer, root):
    """The order of Chinese characters, by radical and strokes: runs of successors, each in one of a few blocks.

    Nearly each run begins after the last scalar of an earlier run. The cursors are these scalars.
    """
    # Some radicals (from U+2E80 on) have the elements of a Chinese character, and entries of their own.
    order = sorted((ces[0][0], s) for s, ces in root.scalars.items()
                   if len(ces) == 1 and HAN <= ces[0][0] < UNASSIGNED and ces[0][1:] == (COMMON, COMMON)
                   and nfd(s) == s and ord(s) >= 0x3400)
    assert len({p for p, _ in order}) == len(order)
    runs = []
    for _, s in order:
        if runs and ord(s) == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([ord(s), 1])
    writer.number(len(runs))
    cursors = []
    for first, count in runs:
        if first in cursors:
            index = cursors.index(first)
            cursors.pop(index)
        else:
            index = None
        # Cursors in the order of their last use. A new one states its scalar.
        if index is None or index > 14:
            writer.number(15 | (count - 1) << 4)
            writer.number(first)
        else:
            writer.number(index | (count - 1) << 4)
        cursors.insert(0, first + count)
    print(f"{len(order)} Chinese characters in {len(runs)} runs")
    return {s for _, s in order}, {p: i for i, (p, _) in enumerate(order)}


HEADER = (f"// swift-format-ignore-file\n// Written by Scripts/generate-collation-tables.py from ICU {icu.VERSION}, "
          f"Unicode {icu.UNICODE}. Do not edit.\n")


def swift(*parts):
    return HEADER + "\nextension CollationTables {\n" + "\n".join(parts) + "}\n"


def vectors():
    """Random texts in ICU's order, for the tests. An equals sign marks a text with the key of the one before it."""
    lines = []
    for language in sorted(icu.LANGUAGES):
        for numeric in (False, True):
            rng = random.Random(f"{language} {numeric}")
            collator = icu.Collator(language, numeric)
            count = (60 if numeric else 120) * (3 if language == "root" else 1)
            texts = {compare.random_text(rng) for _ in range(count)}
            lines.append(f"@{language} {'numeric' if numeric else 'plain'}")
            last = None
            for key, text in sorted((collator.key(text), text) for text in texts):
                lines.append(("=" if key == last else "") + " ".join("%X" % ord(c) for c in text))
                last = key
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()

    root = Language("root")
    languages = [root] + [Language(code, root) for code in sorted(icu.LANGUAGES) if code != "root"]
    han_writer = Writer()
    han, han_rank = han_order(han_writer, root)
    unassigned = {s for s, ces in root.scalars.items() if len(ces) == 1 and UNASSIGNED <= ces[0][0] < TOP}
    assert sorted(unassigned) == sorted(unassigned, key=lambda s: root.scalars[s][0][0])
    implicit = han | unassigned
    # Scalars that decompose to a Chinese character.
    decompose = {s for s in root.scalars if len(nfd(s)) == 1 and nfd(s) in han and s not in han}
    skipped = implicit | decompose

    class HanWeights(Weights):
        def element(self, writer, ce, last):
            if ce[0] in han_rank:
                writer.number(self.secondary[ce[1]] << 1 | 1)
                writer.number(self.tertiary[ce[2]])
                # Beyond all ranks.
                writer.signed(len(self.primaries) + han_rank[ce[0]] - last)
                return last
            return super().element(writer, ce, last)

    for language in languages:
        language.prepare(skipped)
    weights = HanWeights(languages, skipped)
    weights.primaries = [p for p in weights.primaries if p not in han_rank]
    weights.rank = {p: i for i, p in enumerate(weights.primaries)}
    for bad in weights.primaries:
        assert not HAN < bad < TOP or bad == UNASSIGNED or bad < min(han_rank) or bad > max(han_rank), hex(bad)

    writer = Writer()
    weights.write(writer, root, len(han))
    for language in languages:
        language.all = {}
        for s in root.scalars:
            if s in decompose:
                entry = Entry(DECOMPOSE, (), 0)
            elif s in implicit:
                flags = CONTINUES * (s in language.continues) | STARTS * (s in language.starts)
                if not flags:
                    continue
                entry = Entry(IMPLICIT, (), flags | PLAIN)
            else:
                entry = language.entry(s)
            if entry.kind == SINGLE and entry.elements[0][0] in han_rank:
                entry = entry._replace(kind=POOL)
            if language is root or root.all.get(s) != entry:
                language.all[s] = entry
    root_runs = weights.entries(writer, root.all, {s: root.contraction(s) for s in root.contractions})
    root_text = "".join(writer.text)
    parts, total = [], 0
    for language in languages[1:]:
        rules = language.collator.rules()
        order = rules.partition("[reorder ")[2].partition("]")[0]
        assert ("[caseFirst upper]" in rules) == (language.code in CASE_FIRST), language.code
        writer = Writer()
        writer.number(language.code in CASE_FIRST)
        for group in REORDER[order]:
            writer.number(group)
        own = {s: language.contraction(s) for s in language.contractions}
        removed = sorted(set(root.contractions) - set(own))
        weights.entries(writer, language.all, {
            s: e for s, e in own.items() if s not in root.contractions or root.contraction(s) != e})
        writer.number(len(removed))
        for s in removed:
            writer.number(ord(s[0]))
            assert len(s) == 2
            writer.number(ord(s[1]))
        text = "".join(writer.text)
        total += len(text)
        parts.append(literal(f"data_{language.code.replace('-', '_')}", text))
    han_text = "".join(han_writer.text)
    print(f"root {len(root_text)} bytes ({len(root.all)} scalars, {root_runs} runs), Chinese {len(han_text)}, "
          f"languages {total}: {len(root_text) + len(han_text) + total} bytes")
    names = "\n".join(
        f'        case "{language.code}": data_{language.code.replace("-", "_")}' for language in languages[1:])
    choose = ("    /// The tailoring of a language, by its raw value.\n"
              "    static func data(of language: String) -> StaticString? {\n        switch language {\n" + names
              + "\n        default: nil\n        }\n    }\n")
    folder = ROOT / "Sources/Tandem/Text/Internal"
    outputs = {
        folder / "CollationTables+Root+Generated.swift": swift(literal("rootData", root_text)),
        folder / "CollationTables+Han+Generated.swift": swift(literal("hanData", han_text)),
        folder / "CollationTables+Languages+Generated.swift": swift(choose, *parts),
        ROOT / "Tests/TandemTests/Text/collation-vectors.txt": vectors(),
    }
    if options.check:
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
