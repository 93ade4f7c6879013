"""The encoding of tables in Swift's literals, which TableReader.swift reads.

A table is a text of 6-bit characters: the 64 from '#' to 'c' without the backslash. A number is encoded in groups of
five bits, lowest first. The sixth bit announces another group.
"""


class Writer:
    def __init__(self):
        self.text = []

    def number(self, value):
        assert value >= 0
        while True:
            group, value = value & 31, value >> 5
            code = 0x23 + (group | (32 if value else 0))
            self.text.append(chr(code + (code >= 0x5C)))
            if not value:
                return

    def signed(self, value):
        self.number(value * 2 if value >= 0 else -value * 2 - 1)

    def numbers(self, values):
        self.number(len(values))
        for value in values:
            self.number(value)

    def runs(self, values):
        """`values`: scalar to number. Gap, then length and stride (alternating cases have a stride of two), number."""
        end, done = 0, 0
        for first in sorted(values):
            if first < done:
                continue
            value, stride = values[first], 1
            if first + 1 not in values and values.get(first + 2) == value:
                stride = 2
            count = 1
            while values.get(first + count * stride) == value and (
                stride == 1 or first + count * 2 - 1 not in values
            ):
                count += 1
            self.number(first - end)
            self.number(count * 2 + (stride == 2))
            self.signed(value)
            end = done = first + (count - 1) * stride + 1
        self.number(0)
        self.number(0)

    def sequences(self, values):
        """`values`: scalar to scalars. Gap, length, and the scalars, each as the difference from the one before."""
        end = last = 0
        for c in sorted(values):
            self.number(c - end)
            self.number(len(values[c]))
            for d in values[c]:
                self.signed(d - last)
                last = d
            end = c + 1
        self.number(0)
        self.number(0)


def literal(name, text):
    assert "\\" not in text and '"' not in text and "#" * 9 not in text
    lines = [text[i:i + 110] + "\\" for i in range(0, len(text), 110)]
    lines[-1] = lines[-1][:-1]
    body = "\n".join("        " + line for line in lines)
    return f'    static let {name}: StaticString = """\n{body}\n        """\n'
