#!/usr/bin/env python3
"""Counts dependencies between rooms (folders of a target) that point up.

Usage: count-arrows.py [--list] [--check] [--record]. It reads the compiler's index in .build, so build first.

A room may use the rooms below it, the last in ORDER being the lowest. An arrow is a pair of files of two rooms: the first
refers to a declaration of the second, whose room is above. .ci/arrows holds the known arrows by pair of rooms.
--check fails if a pair of rooms has more arrows than recorded, and --record writes the counts.
"""

import collections
import ctypes
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / ".ci" / "arrows"
# The rooms of each target, from the highest to the lowest. '' is the target's root folder.
ORDER = {
    "Tandem": [
        "", "Dynamic", "Maintenance", "Migration", "Live", "Attachments", "Operations", "Query", "Transactions", "Schema", "SQLite",
        "Model", "Text",
    ],
    "TandemSync": [
        "", "Scheduling", "Files", "Push", "Direct", "Pull", "Context", "Conflicts", "StoreAccess", "Coding", "Remote",
        "Internal",
    ],
}
# Files that every room may use, wherever they are.
SHARED = {"TandemError.swift", "SyncError.swift"}
REFERENCE, DEFINITION = 1 << 2, 1 << 1
RECORD_DEPENDENCY = 2


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


def library():
    import shutil

    swift = pathlib.Path(shutil.which("swift")).resolve()
    lib = ctypes.CDLL(str(swift.parent.parent / "lib" / "libIndexStore.so"))
    pointer = ctypes.c_void_p
    for name, result, *arguments in [
        ("store_create", pointer, ctypes.c_char_p, ctypes.POINTER(pointer)),
        ("unit_reader_create", pointer, pointer, ctypes.c_char_p, ctypes.POINTER(pointer)),
        ("unit_reader_dispose", None, pointer),
        ("unit_reader_get_main_file", String, pointer),
        ("unit_reader_get_module_name", String, pointer),
        ("unit_reader_get_modification_time", None, pointer, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_int64)),
        ("unit_dependency_get_kind", ctypes.c_int, pointer),
        ("unit_dependency_get_name", String, pointer),
        ("record_reader_create", pointer, pointer, ctypes.c_char_p, ctypes.POINTER(pointer)),
        ("record_reader_dispose", None, pointer),
        ("occurrence_get_symbol", pointer, pointer),
        ("occurrence_get_roles", ctypes.c_uint64, pointer),
        ("symbol_get_usr", String, pointer),
        ("symbol_get_name", String, pointer),
    ]:
        function = getattr(lib, "indexstore_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


def apply(function, *arguments, item=ctypes.c_void_p):
    """Returns the items that a function of the index passes to its callback."""
    items = []
    callback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, item)

    def collect(_, value):
        items.append(str(value) if item is String else value)
        return True

    function(*arguments, None, callback(collect))
    return items


def occurrences(store_path):
    """Returns the symbols that each source file of the targets defines and refers to: file -> (defined, used)."""
    lib, error = library(), ctypes.c_void_p()
    store = lib.indexstore_store_create(str(store_path).encode(), ctypes.byref(error))
    if not store:
        sys.exit(f"count-arrows: {store_path} has no index. Build first: swift build --build-tests")
    newest = {}
    for unit in apply(lib.indexstore_store_units_apply_f, ctypes.c_void_p(store), 0, item=String):
        reader = lib.indexstore_unit_reader_create(store, unit.encode(), ctypes.byref(error))
        if not reader:
            continue
        file = pathlib.Path(str(lib.indexstore_unit_reader_get_main_file(reader)))
        target = file.relative_to(ROOT).parts[1] if file.is_relative_to(ROOT / "Sources") else None
        if target in ORDER and file.exists():
            seconds, rest = ctypes.c_int64(), ctypes.c_int64()
            lib.indexstore_unit_reader_get_modification_time(reader, ctypes.byref(seconds), ctypes.byref(rest))
            records = []
            callback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)

            def collect(_, dependency):
                if lib.indexstore_unit_dependency_get_kind(dependency) == RECORD_DEPENDENCY:
                    records.append(str(lib.indexstore_unit_dependency_get_name(dependency)))
                return True

            lib.indexstore_unit_reader_dependencies_apply_f(ctypes.c_void_p(reader), None, callback(collect))
            stamp = (seconds.value, rest.value)
            if file not in newest or newest[file][0] < stamp:
                newest[file] = (stamp, records)
        lib.indexstore_unit_reader_dispose(reader)

    found = {}
    for file, (_, records) in newest.items():
        defined, used = set(), {}
        for record in records:
            # A unit names the records of its own file only.
            if not record.startswith(file.name + "-"):
                continue
            reader = lib.indexstore_record_reader_create(store, record.encode(), ctypes.byref(error))
            if not reader:
                continue
            callback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)

            def visit(_, occurrence):
                roles = lib.indexstore_occurrence_get_roles(occurrence)
                symbol = lib.indexstore_occurrence_get_symbol(occurrence)
                usr = str(lib.indexstore_symbol_get_usr(symbol))
                if roles & DEFINITION:
                    defined.add(usr)
                elif roles & REFERENCE:
                    used[usr] = str(lib.indexstore_symbol_get_name(symbol))
                return True

            lib.indexstore_record_reader_occurrences_apply_f(ctypes.c_void_p(reader), None, callback(visit))
            lib.indexstore_record_reader_dispose(reader)
        found[file] = (defined, used)
    return found


def arrows(found):
    """Returns, by target, the pairs of files that point up with the names used, and the number of all pairs."""
    result = {}
    for target, order in ORDER.items():
        base = ROOT / "Sources" / target
        files = {file: value for file, value in found.items() if file.is_relative_to(base)}
        room = {file: (file.relative_to(base).parts[0] if len(file.relative_to(base).parts) > 1 else "") for file in files}
        unknown = sorted(set(room.values()) - set(order))
        if unknown:
            sys.exit(f"count-arrows: {target} has rooms without a place in ORDER: {', '.join(unknown)}")
        place = {usr: file for file, (defined, _) in files.items() for usr in defined}
        up, pairs = collections.defaultdict(set), set()
        for file, (_, used) in files.items():
            for usr, name in used.items():
                other = place.get(usr)
                if other is None or room[other] == room[file] or other.name in SHARED:
                    continue
                pairs.add((file, other))
                if order.index(room[other]) < order.index(room[file]):
                    up[file, other].add(name)
        result[target] = (up, len(pairs), room, base)
    return result


def main():
    options = set(sys.argv[1:])
    stores = sorted(ROOT.glob(".build/*/debug/index/store"))
    if not stores:
        sys.exit("count-arrows: .build has no index. Build first: swift build --build-tests")
    lines = []
    for target, (up, pairs, room, base) in arrows(occurrences(stores[0])).items():
        print(f"{target}: {len(up)} of {pairs} pairs of files in different rooms point up")
        counts = collections.Counter((room[a] or "root", room[b] or "root") for a, b in up)
        lines += [f"{target} {a} {b} {count}" for (a, b), count in sorted(counts.items())]
        if "--list" in options:
            for (a, b), names in sorted(up.items()):
                print(f"  {a.relative_to(base)} -> {b.relative_to(base)}: {', '.join(sorted(names))}")
    if "--record" in options:
        RECORD.write_text("".join(line + "\n" for line in lines))
    if "--check" in options:
        known = dict(line.rsplit(" ", 1) for line in RECORD.read_text().splitlines())
        worse = [line for line in lines if int(line.rsplit(" ", 1)[1]) > int(known.get(line.rsplit(" ", 1)[0], 0))]
        if worse:
            sys.exit("count-arrows: new dependencies on a higher room (target, from, to, count):\n" + "\n".join(worse))


main()
