import Synchronization

/// Finds the entry behind a handle when SQLite opens a file.
enum KeyRegistry {
    private struct Weak: Sendable {
        weak let entry: KeyEntry?
    }
    private static let entries = Mutex<[String: Weak]>([:])

    /// Makes an entry known for as long as somebody holds it: an `EncryptedDatabase`, an open file.
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
