import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Read-only databases can be read, or the error says why not", .startsProcesses, .ownThreads)
struct ReadOnlyTests {
    private var readOnly: Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        return configuration
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `database on a read-only medium is read`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch()
        guard let medium = Medium(scratch) else { try Test.cancel("file systems can't be mounted here") }
        let path = medium.path + "/a.db"
        _ = try Peer(path, kind, mode, "add", "3").words()
        try medium.protect()
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        let queue = try database.openQueue(configuration: readOnly)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == 3)
        #expect(try queue.read { try $0.integrity() } == ["ok"])
        #expect(throws: DatabaseError.self) { try queue.write { try $0.execute(sql: "DELETE FROM batch") } }
        #expect(try database.fileKey().master == database.fileKey().master)
        let wrong = try EncryptedDatabase(path: path, key: otherKey, profile: kind.profile)
        let error = #expect(throws: CipherError.self) { try wrong.openQueue(configuration: readOnly) }
        #expect(error?.code == .wrongKey)
        let target = try EncryptedDatabase(path: scratch.path("b.db"), key: testKey)
        #expect(try database.salvage(to: target).rows["batch"] == 3)
        let refused = #expect(throws: CipherError.self) { try database.changeKey(to: otherKey) }
        #expect(refused?.code == .readOnly)
    }

    /// A log that was not checkpointed can't be ignored, and its index can't be created there.
    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `hot log or journal on a read-only medium is a specific error, or is read`(
        _ kind: Profile, _ mode: JournalMode
    ) throws {
        let scratch = try Scratch()
        guard let medium = Medium(scratch) else { try Test.cancel("file systems can't be mounted here") }
        let path = medium.path + "/a.db"
        _ = try Peer(path, kind, mode, "add", "3").words()
        _ = try Peer(path, kind, mode, "die").words()
        try medium.protect()
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        do {
            let queue = try database.openQueue(configuration: readOnly)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == 3)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 21)
        } catch {
            let found = database.explain(error) as? CipherError
            #expect(found?.code == .readOnly && found?.advice != nil, "\(error)")
        }
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func `read-only user reads while another user writes`(_ mode: JournalMode) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, .gcm, mode, "add", "3").words()
        let holder = try Peer(path, .gcm, mode, "hold")
        try holder.waitForWord("open")
        defer { holder.kill() }
        #expect(chmod(scratch.url.path, 0o555) == 0 && chmod(path, 0o444) == 0)
        defer { chmod(scratch.url.path, 0o700) }
        #expect(try Peer(path, .gcm, mode, "readonly", "unprivileged").words() == ["4"])
        #expect(chmod(path, 0) == 0)
        #expect(try Peer(path, .gcm, mode, "readonly", "unprivileged").words() == ["cannotOpen"])
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `database in a read-only folder is read, and its key is not changed`(
        _ kind: Profile, _ mode: JournalMode
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, mode, "add", "3").words()
        #expect(try scratch.companions(of: path) == [])
        #expect(chmod(scratch.url.path, 0o555) == 0 && chmod(path, 0o444) == 0)
        defer { chmod(scratch.url.path, 0o700) }
        #expect(try Peer(path, kind, mode, "readonly", "unprivileged").words() == ["3"])
        let peer = try Peer(path, kind, mode, "rekey", "gcm", "unprivileged")
        #expect(peer.words() == [] && peer.complaint.contains("The folder can't be written"))
        #expect(peer.process.terminationStatus == 1)
    }
}
