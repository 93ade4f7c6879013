#!/usr/bin/env python3
"""Counts habits of style that make comments, documents, messages, tests and files hard to read or find.

  comments   comments that begin with what, who, whose, those or one
  words      whoever, nobody, somebody, anew, afresh, "for ever", "upon which" in comments, documents, string literals
  columns    lines of Swift and Markdown over 120 columns, outside tables, links and blocks of code
  tests      tests whose names begin with what, who, whose, those or one
  files      files in Sources that declare a type, but neither declare, extend nor conform to the type in their name
  types      types in Sources that have the name of a type in another target
  sentences  sentences of more than 20 words in comments of Swift and C, and in documents other than CHANGELOG.md. Code,
             tables, headings and measured blocks are left out. A colon or semicolon also ends a sentence. A code span
             counts as one word, and the address of a link does not count
  labels     functions in Sources, Examples and Benchmarks with three or more unlabelled parameters, or with two whose
             types differ. Operators and closure parameters do not count

Usage: count-style.py [--list | --check] [FOLDER...]
  --list    print each finding as well
  --check   print each finding, and fail if there is one
"""

import collections
import os
import re
import subprocess
import sys
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HABITS = ["comments", "words", "columns", "tests", "files", "types", "sentences", "labels"]
LABELLED = ("Sources/", "Examples/", "Benchmarks/")

OPENING = re.compile(r"(?:what|who|whose|those|one)\b", re.IGNORECASE)
WORD = re.compile(r"\b(?:whoever|nobody|somebody|anew|afresh|for\s+ever|upon\s+which)\b", re.IGNORECASE)
TEST_OPENING = re.compile(r"(?:what|who|whose|those|one)(?![a-z])", re.IGNORECASE)
MARKER = re.compile(r"[-*]\s+|MARK:[\s-]*|NB:\s*")
FENCE = re.compile(r"\s*(?:```|~~~)")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
# Tables, headings, HTML and directives, but not lines that begin with a link to an article.
NO_PROSE = re.compile(r"\s*(?:[|#@]|<(?!doc:)|$)")
SPAN = re.compile(r"``?[^`]+``?|<doc:[^>]*>")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs)\.")
SENTENCE_END = re.compile(r"(?<=[.!?:;])[\"”)*]*\s+")
# The tokens that end code in Swift: comments, and string literals with any number of number signs. A regex literal can
# contain quotes. It is recognized by the characters around it.
REGEX = r"(?<=[(,:=\s])/(?![/*\s])(?:\\.|[^/\\\n])+(?<!\s)/(?=[),.\s])"
TOKEN = re.compile(REGEX + r'|//[^\n]*|/\*|#*"')
ATTRIBUTE = re.compile(r"\s*@\w+")
FUNCTION = re.compile(r"\s*(?:(?:@\w+(?:\([^()]*\))?|static|private|fileprivate|mutating)\s+)*func\s+(?:`([^`]*)`|(\w+))")

# A declaration with parameters. An operator has another kind of name.
CALLABLE = re.compile(r"(?:\bfunc\s+(`[^`]*`|\w+)|(?<![.\w])(init)[?!]?|(?<![.\w])(subscript))\s*(?=[<(])")
PARAMETER = re.compile(r"(?:@\w+(?:\([^()]*\))?\s+)*(?:(\w+|`\w+`)\s+)?(\w+|`\w+`)\s*:\s*(.*)", re.DOTALL)

DECLARATION = re.compile(
    r"^\s*(?:@\w+(?:\([^()]*\))?\s+)*((?:(?:public|package|internal|private|fileprivate|final|indirect)\s+)*)"
    r"(struct|class|enum|actor|protocol|typealias|extension)\s+(\[?[\w.]+)([^{=]*)",
    re.MULTILINE,
)


class Swift:
    """A Swift source, split into its comments and string literals. The code between them is dropped."""

    def __init__(self, text):
        self.text = text
        self.comments = []  # (offset, text, whether only white space precedes it on its line)
        self.strings = []  # (offset, text), without the code of interpolations
        # The source with comments and string literals blanked, for a search that needs only code.
        self.code = list(text)
        self._read(0, None)
        self.code = "".join(self.code)

    def _blank(self, start, end):
        self.code[start:end] = [c if c == "\n" else " " for c in self.text[start:end]]

    def _read(self, position, closing):
        """Reads code up to the parenthesis that closes an interpolation, or to the end. Returns the offset after it."""
        text, depth = self.text, 1
        while True:
            found = TOKEN.search(text, position)
            end = found.start() if found else len(text)
            if closing:
                for index in range(position, end):
                    depth += {"(": 1, ")": -1}.get(text[index], 0)
                    if depth == 0:
                        return index + 1
            if not found:
                return len(text)
            if found.group().startswith("//"):
                line = text.rfind("\n", 0, end) + 1
                self.comments.append((end, found.group(), not text[line:end].strip()))
                position = found.end()
            elif found.group() == "/*":
                position = self._block_comment(end)
            elif found.group().startswith("/"):
                position = found.end()
            else:
                position = self._literal(end, found.group())
                continue
            self._blank(end, position)

    def _block_comment(self, start):
        depth, position = 1, start + 2
        while depth and position < len(self.text):
            if self.text.startswith("/*", position):
                depth, position = depth + 1, position + 2
            elif self.text.startswith("*/", position):
                depth, position = depth - 1, position + 2
            else:
                position += 1
        line = self.text.rfind("\n", 0, start) + 1
        self.comments.append((start, self.text[start:position], not self.text[line:start].strip()))
        return position

    def _literal(self, start, opening):
        signs = opening[:-1]
        quote = '"""' if self.text.startswith('"""', start + len(signs)) else '"'
        closing, escape = quote + signs, "\\" + signs
        piece = position = start + len(signs) + len(quote)
        while position < len(self.text):
            if self.text.startswith(closing, position):
                break
            if self.text.startswith(escape + "(", position):
                self.strings.append((piece, self.text[piece:position]))
                self._blank(piece, position)
                piece = position = self._read(position + len(escape) + 1, ")")
            elif self.text.startswith(escape, position):
                position += len(escape) + 1
            else:
                position += 1
        self.strings.append((piece, self.text[piece:position]))
        self._blank(start, start + len(signs) + len(quote))
        self._blank(piece, position + len(closing))
        return position + len(closing)

    def tests(self):
        """Yields the offset and the name of each test function."""
        for found in re.finditer(r"@Test\b", self.code):
            position = found.end()
            if self.code[position : position + 1] == "(":
                depth = 0
                while position < len(self.code):
                    depth += {"(": 1, ")": -1}.get(self.code[position], 0)
                    position += 1
                    if depth == 0:
                        break
            function = FUNCTION.match(self.code, position)
            if function:
                yield function.start(1) if function[1] else function.start(2), function[1] or function[2]

    def _closing(self, start, opening, closing):
        """The offset after the bracket that closes the one at `start`. The end of an arrow is not a bracket."""
        depth = 0
        for index in range(start, len(self.code)):
            if self.code[index] == opening:
                depth += 1
            elif self.code[index] == closing and self.code[index - 1 : index + 1] != "->":
                depth -= 1
                if depth == 0:
                    return index + 1
        return len(self.code)

    def unlabelled(self):
        """Yields the offset and the name of each function, initializer and subscript, and the types of its unlabelled
        parameters that are not closures."""
        for found in CALLABLE.finditer(self.code):
            start = found.end()
            if self.code[start] == "<":
                start = self._closing(start, "<", ">")
            opening = re.compile(r"\s*\(").match(self.code, start)
            if not opening:
                continue
            end = self._closing(opening.end() - 1, "(", ")")
            types = []
            for text in parameters(self.code[opening.end() : end - 1]):
                parameter = PARAMETER.match(text.strip())
                # The parameters of a subscript have no labels without two names.
                if parameter and (parameter[1] == "_" or found[3] and not parameter[1]) and "->" not in parameter[3]:
                    types.append(" ".join(re.sub(r"\s=\s.*", "", parameter[3], flags=re.DOTALL).split()))
            yield found.start(), (found[1] or found[2] or found[3]).strip("`"), types

    def types(self):
        """Yields the offset, the modifiers, the keyword, the name and the conformances of each declaration that is not
        inside another one."""
        depth = position = 0
        for found in DECLARATION.finditer(self.code):
            start = found.start(2)
            depth += self.code.count("{", position, start) - self.code.count("}", position, start)
            position = start
            if depth == 0:
                yield start, found[1].split(), found[2], found[3].lstrip("["), re.findall(r"\w+", found[4])


def parameters(text):
    """Splits the parameters of a function at the commas that are not in brackets."""
    depth, start = 0, 0
    for index, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and text[index - 1] != "-":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    yield text[start:]


def columns(line):
    """The width of a line: combining and invisible characters have none."""
    return sum(unicodedata.category(c) not in ("Mn", "Me", "Cf") for c in line)


def content(comment):
    """A comment without its signs, and without the marker of a list or a section."""
    text = comment.lstrip("/*#! \t").rstrip("*/ \t\n")
    return MARKER.sub("", text, count=1) if MARKER.match(text) else text


def paragraphs(rows):
    """Yields the first line and the text of each paragraph and list item.

    - Parameter rows: The lines of Markdown, each with its number.
    """
    paragraph, start, is_code = [], 0, False
    for number, row in rows:
        is_fence, item = FENCE.match(row), ITEM.match(row)
        is_prose = not (is_fence or is_code or NO_PROSE.match(row))
        if paragraph and (item or not is_prose):
            yield start, "\n".join(paragraph)
            paragraph = []
        if is_fence:
            is_code = not is_code
        elif is_prose:
            if not paragraph:
                start = number
            paragraph.append(row[item.end() :] if item else row)
    if paragraph:
        yield start, "\n".join(paragraph)


def sentence_findings(rows):
    """Yields the long sentences of Markdown, each with its line."""
    for line, text in paragraphs(rows):
        # Line breaks are kept, so that they give the line of a sentence.
        text = SPAN.sub(lambda span: "code" + "\n" * span.group().count("\n"), text)
        text = ABBREVIATION.sub(r"\1", LINK.sub(r"\1", text))
        starts = [0, *(end.end() for end in SENTENCE_END.finditer(text))]
        for start, end in zip(starts, [*starts[1:], len(text)]):
            words = [word for word in text[start:end].split() if re.search(r"\w", word)]
            if len(words) > 20:
                yield "sentences", line + text.count("\n", 0, start), f"{len(words)} words: {' '.join(words)}"


def comment_rows(comments):
    """Yields the lines of each block of comments, without the slashes. A comment after code is a block of its own."""
    block, last = [], None
    for line, text, is_alone in comments:
        if not text.startswith("//"):
            continue
        slashes, row = re.match(r"(//+)[!:]? ?(.*)", text).groups()
        if block and last != (line - 1, slashes, is_alone and "MARK:" not in row):
            yield block
            block = []
        block.append((line, row))
        last = (line, slashes, True) if is_alone else None
    if block:
        yield block


def comment_findings(comments):
    """Yields the findings in comments, each with its line. Only the first line of a block is the beginning."""
    last = None
    for line, text, is_alone in comments:
        for word in WORD.finditer(text):
            yield "words", line + text.count("\n", 0, word.start()), word.group()
        if not (is_alone and last == line - 1) and OPENING.match(content(text)):
            yield "comments", line, content(text).split("\n")[0]
        last = line if is_alone else None


def swift_findings(path, text):
    source = Swift(text)

    def line(offset):
        return text.count("\n", 0, offset) + 1

    comments = [(line(start), comment, alone) for start, comment, alone in source.comments]
    yield from comment_findings(comments)
    for block in comment_rows(comments):
        yield from sentence_findings(block)
    for start, literal in source.strings:
        for word in WORD.finditer(literal):
            yield "words", line(start + word.start()), word.group()
    for number, row in enumerate(text.split("\n"), 1):
        # Tables and links in comments can't be wrapped.
        if columns(row) > 120 and not re.match(r"\s*///? *\|", row) and "://" not in row:
            yield "columns", number, row.strip()
    for start, name in source.tests():
        if TEST_OPENING.match(name):
            yield "tests", line(start), name
    if path.startswith(LABELLED) and path.endswith(".swift"):
        for start, name, types in source.unlabelled():
            if len(types) > 2 or len(types) == 2 and types[0] != types[1]:
                yield "labels", line(start), f"{name}({', '.join('_: ' + type for type in types)})"


def type_findings(path, text, targets):
    """Yields the findings in the types of a file.

    - Parameter targets: The targets of the types found so far, by name. Those of this file are added.
    """
    names, declares_type = set(), False
    source, target = Swift(text), path.split("/")[1]
    for start, modifiers, keyword, name, conformances in source.types():
        names |= {name.split(".")[-1], *conformances}
        if keyword == "extension":
            continue
        declares_type = True
        if "private" in modifiers or "fileprivate" in modifiers:
            continue
        if targets.setdefault(name, target) != target:
            yield "types", text.count("\n", 0, start) + 1, f"{name} is a type of {targets[name]} too"
    if declares_type and re.split(r"[+.]", os.path.basename(path))[0] not in names:
        yield "files", 1, "declares " + ", ".join(name for _, _, word, name, _ in source.types() if word != "extension")


def markdown_findings(path, text):
    is_code = False
    # A program writes the measured parts of Benchmarks/RESULTS.md.
    is_measured = False
    rows = []
    for number, row in enumerate(text.split("\n"), 1):
        if row.startswith("<!-- "):
            is_measured = row == "<!-- measured -->"
        if is_measured:
            continue
        rows.append((number, row))
        if FENCE.match(row):
            is_code = not is_code
            continue
        for word in WORD.finditer(row):
            yield "words", number, word.group()
        if not is_code and columns(row) > 120 and not row.lstrip().startswith("|") and "](" not in row and "://" not in row:
            yield "columns", number, row.strip()
    if path != "CHANGELOG.md":
        yield from sentence_findings(rows)


def script_findings(path, text):
    comments = []
    for number, row in enumerate(text.split("\n"), 1):
        found = re.match(r"(\s*)#(?!!)(.*)$", row) or re.search(r"(\s)# (.*)$", row)
        if found:
            comments.append((number, found[2], row.lstrip().startswith("#")))
    yield from comment_findings(comments)


def findings(path, targets):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    if path.startswith("Sources/") and path.endswith(".swift"):
        yield from type_findings(path, text, targets)
    if path.endswith((".swift", ".c", ".h")):
        yield from swift_findings(path, text)
    elif path.endswith(".md"):
        yield from markdown_findings(path, text)
    else:
        yield from script_findings(path, text)


def files():
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    for name in sorted(names.split("\0")):
        is_counted = name.endswith((".swift", ".c", ".h", ".md", ".sh", ".py")) or name in ("Makefile", ".ci/run")
        is_this = name == "Scripts/count-style.py"
        if is_counted and not is_this and not name.endswith("+Generated.swift") and os.path.exists(f"{ROOT}/{name}"):
            yield name


def main(arguments):
    modes = [argument for argument in arguments if argument.startswith("-")]
    folders = [argument.rstrip("/") for argument in arguments if not argument.startswith("-")]
    if len(modes) > 1 or not set(modes) <= {"--list", "--check"}:
        sys.exit(__doc__)

    counts = collections.Counter()
    targets = {}
    for path in files():
        if folders and not any(path == name or path.startswith(name + "/") for name in folders):
            continue
        for habit, line, text in findings(path, targets):
            counts[habit] += 1
            if modes:
                print(f"{path}:{line}: {habit}: {text[:100]}")
    if modes != ["--check"]:
        print(", ".join(f"{counts[habit]} {habit}" for habit in HABITS))
    elif counts:
        sys.exit("count-style: reword or rename these; Scripts/count-style.py explains the habits")


if __name__ == "__main__":
    main(sys.argv[1:])
