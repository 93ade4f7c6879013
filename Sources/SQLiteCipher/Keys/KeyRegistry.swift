import Synchronization

/// A registry that finds the entry for a handle when SQLite opens a file.
enum KeyRegistry {
    private struct Weak: Sendable {
        weak let entry: KeyEntry?
    }
    private static let entries = Mutex<[String: Weak]>([:])

    /// Registers an entry while an `EncryptedDatabase` or an open file holds it.
    static func register(_ entry: KeyEntry) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.entry != nil }
            entries[entry.handle] = Weak(entry: entry)
        }
    }

    static func entry(_ handle: String) -> KeyEntry? {
        entries.withLock { $0[handle]?.entry }
    }
}
