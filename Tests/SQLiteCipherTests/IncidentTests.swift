import Foundation
import GRDBSQLite
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("A recorded error explains only the failure that it belongs to", .ownThreads)
struct IncidentTests {
    private func entry() throws -> KeyEntry {
        try KeyEntry(path: "/tmp/a.db", key: testKey, profile: .aes256gcm)
    }

    private let damage = CipherError(.damagedPage, message: "Page 7 is damaged.", page: 7)
    private let full = CipherError(.ioFailure, message: "No room.")

    @Test func `incident explains only its own result code, with any extension`() throws {
        let entry = try entry()
        entry.record(damage, code: SQLITE_CORRUPT)
        #expect(entry.removeIncident(code: SQLITE_IOERR | 3 << 8) == nil)
        #expect(entry.removeIncident(code: SQLITE_CORRUPT | 1 << 8)?.page == 7)
        #expect(entry.removeIncident(code: SQLITE_CORRUPT) == nil)
    }

    @Test func `two threads that fail at once get the errors of their own pages`() throws {
        let entry = try entry()
        entry.record(damage, code: SQLITE_CORRUPT)
        let other = DispatchQueue(label: "other")
        let done = DispatchSemaphore(value: 0)
        other.async {
            entry.record(CipherError(.damagedPage, message: "Page 9 is damaged.", page: 9), code: SQLITE_CORRUPT)
            done.signal()
        }
        done.wait()
        #expect(entry.removeIncident(code: SQLITE_CORRUPT)?.page == 7)
        // The failure was on a queue's thread, and another thread asks for it.
        #expect(entry.removeIncident(code: SQLITE_CORRUPT)?.page == 9)
    }

    @Test func `second question about a failure leaves the errors of other threads`() throws {
        let entry = try entry()
        let other = DispatchQueue(label: "other")
        let done = DispatchSemaphore(value: 0)
        other.async {
            entry.record(damage, code: SQLITE_CORRUPT)
            done.signal()
        }
        done.wait()
        #expect(entry.removeIncident(code: SQLITE_CORRUPT, ofThisThread: true) == nil)
        #expect(entry.removeIncident(code: SQLITE_CORRUPT)?.page == 7)
    }

    @Test func `earlier incident does not explain a later failure`() throws {
        let entry = try entry()
        entry.record(full, code: SQLITE_IOERR)
        let serial = entry.incidentSerial
        #expect(entry.removeIncident(code: SQLITE_IOERR, after: serial) == nil)
        #expect(entry.removeIncident(code: SQLITE_IOERR)?.code == .ioFailure)
    }
}
