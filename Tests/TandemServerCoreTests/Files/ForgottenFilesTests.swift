import Foundation
import Synchronization
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

/// Idle partial uploads are removed.
@Suite(.ownThreads) struct ForgottenFilesTests {
    private static let third = "aa112233445566778899aabbccddeeff"

    /// A clock that only advances on demand.
    private final class Clock: Sendable {
        private let hours = Mutex(0.0)
        let start = Date()

        func advance(hours more: Double) { hours.withLock { $0 += more } }
        var server: ServerClock { ServerClock(now: { self.start + self.hours.withLock { $0 } * 3600 }) }
    }

    private func names(_ server: FileFixture) throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: server.folder.path(of: "storage"))
                .filter { $0.contains("/") })
    }

    @Test(arguments: StorageKind.allCases)
    func `a partial upload is removed if another one begins a day later`(kind: StorageKind) async throws {
        let clock = Clock()
        let server = try FileFixture(kind, clock: clock.server)
        let bytes = FileFixture.bytes(9000)
        #expect(try await server.put(FileFixture.id, bytes, ending: 4000) == nil)
        clock.advance(hours: 23)
        #expect(try await server.put(FileFixture.other, bytes, ending: 2000) == nil)
        #expect(try server.storage.offset(of: FileFixture.id) == 4000)
        clock.advance(hours: 2)
        #expect(try await server.put(Self.third, bytes)?.status == 201)
        #expect(try await server.ask(.head, "/files/\(FileFixture.id)")?.status == 404)
        #expect(try server.storage.offset(of: FileFixture.other) == 2000)
        if kind == .folder {
            let (other, third) = (FileFixture.other, Self.third)
            #expect(
                try names(server) == [
                    "ff/\(other).json", "ff/\(other).data", "aa/\(third).json", "aa/\(third).data",
                ])
        }
        // The client starts from the beginning.
        #expect(try await server.put(FileFixture.id, 4000..<9000, of: bytes)?["Upload-Offset"] == "0")
        #expect(try await server.put(FileFixture.id, bytes)?.status == 201)
    }

    @Test(arguments: StorageKind.allCases, [false, true])
    func `a continued partial upload is kept`(kind: StorageKind, asks: Bool) async throws {
        let clock = Clock()
        let server = try FileFixture(kind, clock: clock.server)
        let bytes = FileFixture.bytes(9000)
        #expect(try await server.put(FileFixture.id, bytes, ending: 4000) == nil)
        clock.advance(hours: 23)
        if asks {
            #expect(try await server.ask(.head, "/files/\(FileFixture.id)")?["Upload-Offset"] == "4000")
        } else {
            #expect(try await server.put(FileFixture.id, 4000..<9000, of: bytes, ending: 1000) == nil)
        }
        clock.advance(hours: 23)
        #expect(try await server.put(FileFixture.other, bytes)?.status == 201)
        #expect(try server.storage.offset(of: FileFixture.id) == (asks ? 4000 : 5000))
    }

    @Test(arguments: StorageKind.allCases) func `a request blocked for a day is refused`(kind: StorageKind) async throws
    {
        let clock = Clock()
        let server = try FileFixture(kind, clock: clock.server)
        let bytes = FileFixture.bytes(9000)
        let request = try #require(
            FileFixture.request(
                .put, FileFixture.id,
                ["If-None-Match": "*", "Repr-Digest": FileFixture.digest(bytes), "Content-Length": "9000"]))
        var step = 0
        let outcome = await server.core.exchangeFile(request) { () async throws -> [UInt8]? in
            defer { step += 1 }
            if step == 1 {
                clock.advance(hours: 25)
                #expect(try await server.put(FileFixture.other, bytes)?.status == 201)
            }
            return Array(step == 0 ? bytes[..<4000] : bytes[4000...])
        }
        guard case .response(let response, _) = outcome else {
            Issue.record("No response")
            return
        }
        #expect(response.status.code == 409)
        #expect(try server.storage.files().map(\.id) == [FileFixture.other])
    }

    @Test(arguments: [23.0, 25.0]) func `files left by an earlier server are removed by their age`(
        hours: Double
    ) async throws {
        let first = try FileFixture(.folder)
        let bytes = FileFixture.bytes(9000)
        #expect(try await first.put(FileFixture.id, bytes, ending: 4000) == nil)
        #expect(try await first.put(FileFixture.other, bytes)?.status == 201)
        // Simulates crashes of the earlier server: before the record of a file, and during the write of another one.
        let storage = first.folder.path(of: "storage")
        let orphans = ["00/00ffffffffffffffffffffffffffffff.data", "ff/\(FileFixture.other).json.partial"]
        for name in orphans { try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(storage)/\(name)")) }
        // A file that the storage has not created.
        let strange = "00/notes.data"
        try Data([4]).write(to: URL(fileURLWithPath: "\(storage)/\(strange)"))

        let clock = Clock()
        clock.advance(hours: hours)
        let again = try FileStorage.inFolder(at: storage, clock: clock.server)
        let second = try FileFixture(.memory) { $0.files = ServerFiles(again) }
        let isOld = hours > 24
        let whole: Set = ["ff/\(FileFixture.other).json", "ff/\(FileFixture.other).data", strange]
        let begun: Set = ["00/\(FileFixture.id).json", "00/\(FileFixture.id).data"]
        #expect(try names(first) == (isOld ? whole : whole.union(begun).union(orphans)))
        #expect(try again.offset(of: FileFixture.id) == (isOld ? nil : 4000))
        #expect(try await second.ask(.get, "/files/\(FileFixture.other)")?.body == bytes)
    }

    @Test func `a partial upload of an earlier server is removed after a day`() async throws {
        let first = try FileFixture(.folder)
        let bytes = FileFixture.bytes(9000)
        #expect(try await first.put(FileFixture.id, bytes, ending: 4000) == nil)
        let clock = Clock()
        clock.advance(hours: 1)
        let again = try FileStorage.inFolder(at: first.folder.path(of: "storage"), clock: clock.server)
        let second = try FileFixture(.memory) { $0.files = ServerFiles(again) }
        clock.advance(hours: 22)
        #expect(try await second.put(FileFixture.other, bytes)?.status == 201)
        #expect(try names(first).contains("00/\(FileFixture.id).json"))
        clock.advance(hours: 2)
        #expect(try await second.put(Self.third, bytes)?.status == 201)
        #expect(try !names(first).contains("00/\(FileFixture.id).json"))
    }
}
