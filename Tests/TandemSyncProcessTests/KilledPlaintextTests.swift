import Foundation
import Tandem
import TandemDatasync
import TandemSync
import TandemSyncTestScript
import TandemTesting
import TestSupport
import Testing

/// The files left by a process that is killed while it synchronizes an encrypted store.
extension ProcessTests {
    @Suite struct KilledPlaintextTests {
        @Test(arguments: [StoreKind.file, .encrypted, .sqlCipher])
        func `no file contains plaintext after a kill during a sync`(kind: StoreKind) async throws {
            try await withFolder { folder in
                try await withFolder { elsewhere in
                    let server = try await ServerOnDisk(in: elsewhere, ["--latency", "2"])
                    var line = SyncPeer.Line(url: server.url)
                    (line.user, line.reportsConflicts) = ("ПользовательАнна", true)
                    let path = folder.path(of: SyncPeer.name(kind))
                    let found = try await lives(path, line, server)
                    // In a plain store each word is found, which validates the search.
                    #expect(found.here == (kind == .file ? Set(found.words) : []))
                    let store = try SyncPeer.open(path)
                    defer { store.close() }
                    #expect(try store.checkIntegrity() == [])
                    #expect(
                        try await store.objects(ToDo.self).where { $0.title == "НеотправленнаяПравка" }.count() == 1)
                }
            }
        }

        private func lives(
            _ path: String, _ line: SyncPeer.Line, _ server: ServerOnDisk
        ) async throws -> (words: [String], here: Set<String>) {
            let first = try ChildProcess(
                "TandemSyncTestPeer",
                ["play", path, line.argument(), "add:1:ОтправленноеЗначение", "sync", "wait"])
            #expect(try await first.line("waiting") != nil && first.lines.contains("sync complete"))
            try await first.end(SIGKILL)

            // Another device is faster, and the server stores more members than the model knows.
            let before = try #require(try server.rows().first)
            let members: [RemoteItem.Member] = [
                ("tag", .text("1")), ("title", .text("ЗначениеДругого")), ("isDone", .bool(false)),
                ("points", .integer(0)), ("due", .null), ("keeper", .null), ("unknown", .text("ДополнениеСервера")),
            ]
            _ = try await line.remote().update(
                OutgoingItem(
                    table: "ToDo", id: ServerID(before.id), version: before.version, members: members,
                    changed: Set(members.map(\.key))))
            let after = try #require(try server.rows().first)

            let second = try ChildProcess(
                "TandemSyncTestPeer",
                ["play", path, line.argument(), "edit:1:НеотправленнаяПравка", "sync", "wait"])
            #expect(try await second.line("waiting") != nil && second.lines.contains("sync incomplete"))
            let words = [
                "ОтправленноеЗначение", "ЗначениеДругого", "НеотправленнаяПравка", "ДополнениеСервера",
                "ПользовательАнна", "Перекрёсток", before.id, before.version, after.version,
                "ИмяСервера",
            ]
            var here = try PlainTextSearch.words(words, beside: path)
            try await second.end(SIGKILL)
            here.formUnion(try PlainTextSearch.words(words, beside: path))

            // Kill during requests.
            for life in 0..<2 {
                let third = try ChildProcess("TandemSyncTestPeer", ["run", path, line.argument(), "A-\(life)"])
                #expect(try await third.line("sending", 30) != nil)
                here.formUnion(try PlainTextSearch.words(words, beside: path))
                try await third.end(SIGKILL)
                here.formUnion(try PlainTextSearch.words(words, beside: path))
            }
            return (words, here)
        }
    }
}
