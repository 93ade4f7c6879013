"""ICU 72's collators, by ctypes: the reference of Tandem's sort order. Needs Debian's package libicu72."""

import ctypes

VERSION = "72"
UNICODE = "15.0.0"
BUFFER = 1 << 16
pointer, integer, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
status = ctypes.POINTER(integer)

# The language's raw value in Swift, and ICU's locale.
LANGUAGES = {code: code for code in (
    "sq az be hr cs da et fi el hu is kk lv lt mk no pl ro ru sr sk sl es sv tr uk vi cy").split()}
LANGUAGES |= {"root": "root", "de-phonebook": "de@collation=phonebook", "es-traditional": "es@collation=traditional"}


def load(name):
    library = ctypes.CDLL(f"{name}.so.{VERSION}")

    def function(symbol, result, *arguments):
        found = getattr(library, f"{symbol}_{VERSION}")
        found.restype, found.argtypes = result, arguments
        return found

    return function


common, collation = load("libicuuc"), load("libicui18n")
ucol_open = collation("ucol_open", pointer, text, status)
ucol_setAttribute = collation("ucol_setAttribute", None, pointer, integer, integer, status)
ucol_getSortKey = collation("ucol_getSortKey", integer, pointer, text, integer, text, integer)
ucol_openElements = collation("ucol_openElements", pointer, pointer, text, integer, status)
ucol_setText = collation("ucol_setText", None, pointer, text, integer, status)
ucol_next = collation("ucol_next", integer, pointer, status)
ucol_getTailoredSet = collation("ucol_getTailoredSet", pointer, pointer, status)
ucol_getContractionsAndExpansions = collation(
    "ucol_getContractionsAndExpansions", None, pointer, pointer, pointer, integer, status)
ucol_getRulesEx = collation("ucol_getRulesEx", integer, pointer, integer, text, integer)
u_getCombiningClass = common("u_getCombiningClass", ctypes.c_uint8, integer)
u_charDigitValue = common("u_charDigitValue", integer, integer)
u_charType = common("u_charType", ctypes.c_int8, integer)
uset_openEmpty = common("uset_openEmpty", pointer)
uset_getItemCount = common("uset_getItemCount", integer, pointer)
uset_getItem = common("uset_getItem", integer, pointer, integer, status, status, text, integer, status)


def utf16(value):
    return value.encode("utf-16-le", "surrogatepass")


def items(uset):
    """The scalars and strings of a USet."""
    result, start, end, code = set(), integer(), integer(), integer(0)
    for index in range(uset_getItemCount(uset)):
        buffer = ctypes.create_string_buffer(512)
        count = uset_getItem(uset, index, start, end, buffer, 256, code)
        if count:
            result.add(buffer.raw[:count * 2].decode("utf-16-le", "surrogatepass"))
        else:
            result.update(map(chr, range(start.value, end.value + 1)))
    return result


class Collator:
    """A collator with strength IDENTICAL, alternate NON_IGNORABLE and normalization."""

    def __init__(self, language, numeric=False):
        code = integer(0)
        self.collator = ucol_open(LANGUAGES[language].encode(), code)
        for attribute, value in ((1, 21), (4, 17), (5, 15), (7, 17 if numeric else 16)):
            ucol_setAttribute(self.collator, attribute, value, code)
        assert code.value <= 0, f"ICU's error {code.value} for {language}"
        self.buffer = ctypes.create_string_buffer(BUFFER)
        self.code = integer(0)
        self.held = utf16("a")
        self.elements = ucol_openElements(self.collator, self.held, 1, self.code)

    def key(self, value):
        encoded = utf16(value)
        count = ucol_getSortKey(self.collator, encoded, len(encoded) // 2, self.buffer, BUFFER)
        assert count <= BUFFER, "a sort key exceeds the buffer"
        return ctypes.string_at(self.buffer, count)

    def rules(self):
        count = ucol_getRulesEx(self.collator, 0, self.buffer, BUFFER // 2)
        return self.buffer.raw[:count * 2].decode("utf-16-le")

    def ces(self, value):
        """The collation elements of `value`: (primary, secondary, case and tertiary), each as a number."""
        self.held, self.code.value = utf16(value), 0
        ucol_setText(self.elements, self.held, len(self.held) // 2, self.code)
        result = []
        while (element := ucol_next(self.elements, self.code)) != -1:
            element &= 0xFFFFFFFF
            if result and element & 0xC0 == 0xC0:
                # The second half of the element before it.
                primary, secondary, tertiary = result[-1]
                result[-1] = (
                    primary | element >> 16, secondary | element >> 8 & 0xFF, tertiary | element & 0x3F)
            else:
                result.append((element & 0xFFFF0000, element & 0xFF00, (element & 0xFF) << 8))
        return tuple(element for element in result if element != (0, 0, 0))

    def contractions(self):
        """Contractions, and prefixes with what follows them, such as `l·`."""
        found = uset_openEmpty()
        ucol_getContractionsAndExpansions(self.collator, found, uset_openEmpty(), 1, self.code)
        return items(found)

    def tailored(self):
        return items(ucol_getTailoredSet(self.collator, self.code))
