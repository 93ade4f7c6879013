import Synchronization

/// The VFS's data for a handle: a key and a profile, the keys derived so far, and the last errors.
///
/// The URI that SQLite opens contains only the handle, a random name. Logs and errors therefore can't show a key.
final class KeyEntry: Sendable {
    let handle: String
    let profile: CipherProfile
    let path: String
    let key: CipherKey
    /// The folders that may hold the index of the write-ahead log. If none is suitable, this process can't share the
    /// database.
    let indexFolders: [String]

    private struct State {
        var derived: [[UInt8]: DerivedKeys] = [:]
        var newSalts: [String: [UInt8]] = [:]
        var incidents = IncidentLog()
    }
    private let state = Mutex(State())
    // Derivation is slow and must not block other threads from noting an error.
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

    /// Returns the keys for a salt. They are derived once, however many connections need them.
    func keys(salt: [UInt8]) throws -> DerivedKeys {
        try derivation.withLock { _ in
            if let known = state.withLock({ $0.derived[salt] }) { return known }
            let made = try DerivedKeys(key: key.resolved(), salt: salt, profile: profile)
            state.withLock { state in
                // A file that is created again and again has a new salt each time.
                if state.derived.count >= 16 { state.derived.removeAll() }
                state.derived[salt] = made
            }
            return made
        }
    }

    /// Returns the salt for a file that has none yet. All connections of this process to the file get the same salt.
    func newSalt(for path: String) throws -> [UInt8] {
        if case .raw(_, let salt?) = key.source { return salt }
        let random = try RandomPool.bytes(16)
        return state.withLock { state in
            if let known = state.newSalts[path] { return known }
            state.newSalts[path] = random
            return random
        }
    }

    /// Records that a salt was written to disk. A file created later under the same name gets another salt.
    func saltIsOnDisk(_ path: String) {
        state.withLock { _ = $0.newSalts.removeValue(forKey: path) }
    }

    /// Keeps the details that SQLite's result codes can't express.
    ///
    /// - Parameter code: The code returned to SQLite.
    func record(_ incident: CipherError, code: Int32) {
        state.withLock { $0.incidents.record(incident, code: code) }
    }

    /// Removes and returns the last error noted for a result code.
    func removeIncident(code: Int32, after serial: Int = 0, ofThisThread isOfThisThread: Bool = false) -> CipherError? {
        state.withLock { $0.incidents.removeIncident(code: code, after: serial, ofThisThread: isOfThisThread) }
    }

    /// The serial number of the last incident.
    var incidentSerial: Int { state.withLock { $0.incidents.serial } }
}
