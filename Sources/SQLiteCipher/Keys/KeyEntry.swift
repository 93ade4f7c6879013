import Synchronization

/// What the VFS knows under one handle: a key and a profile, the keys derived so far, and what last went wrong.
///
/// Only the handle, a random name, stands in the URI that SQLite opens, so neither a log nor an error can show a key.
final class KeyEntry: Sendable {
    let handle: String
    let profile: CipherProfile
    let path: String
    let key: CipherKey
    /// Where the index of the write-ahead log may be kept; if none is fit, this process has it to itself.
    let indexFolders: [String]

    private struct State {
        var derived: [[UInt8]: DerivedKeys] = [:]
        var newSalts: [String: [UInt8]] = [:]
        var incidents = IncidentLog()
    }
    private let state = Mutex(State())
    // Deriving takes long; it must not keep others from noting what went wrong.
    private let derivation = Mutex(())

    init(
        path: String, key: CipherKey, profile: CipherProfile, indexFolders: [String] = IndexFolders.system
    ) throws {
        self.path = path
        self.key = key
        self.profile = profile
        self.indexFolders = indexFolders
        handle = try RandomPool.bytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The keys for a salt, derived once however many connections ask.
    func keys(salt: [UInt8]) throws -> DerivedKeys {
        try derivation.withLock { _ in
            if let known = state.withLock({ $0.derived[salt] }) { return known }
            let made = try DerivedKeys(key: key.resolved(), salt: salt, profile: profile)
            state.withLock { state in
                // A file that is made anew time and again has a new salt each time.
                if state.derived.count >= 16 { state.derived.removeAll() }
                state.derived[salt] = made
            }
            return made
        }
    }

    /// The salt that a file gets which has none yet: one for all of this process's connections to it.
    func newSalt(for path: String) throws -> [UInt8] {
        if case .raw(_, let salt?) = key.source { return salt }
        let random = try RandomPool.bytes(16)
        return state.withLock { state in
            if let known = state.newSalts[path] { return known }
            state.newSalts[path] = random
            return random
        }
    }

    /// A salt was written to disk: a file made later under the same name gets another.
    func saltIsOnDisk(_ path: String) {
        state.withLock { _ = $0.newSalts.removeValue(forKey: path) }
    }

    /// Keeps what SQLite's result codes can't say.
    ///
    /// - Parameter code: the code that SQLite is told.
    func note(_ incident: CipherError, code: Int32) {
        state.withLock { $0.incidents.note(incident, code: code) }
    }

    /// What was noted last of a result code, once.
    func takeIncident(code: Int32, after serial: Int = 0) -> CipherError? {
        state.withLock { $0.incidents.take(code: code, after: serial) }
    }

    /// A moment in the log of incidents.
    var incidentSerial: Int { state.withLock { $0.incidents.serial } }
}
