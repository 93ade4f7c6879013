import Foundation
import Tandem
import TandemServerCore
import TandemSyncTestScript
import TandemTesting
import Testing

/// An experiment from the tutorial of Azure Mobile Apps: an app is offline because its server's name is wrong.
extension ProcessTests {
    @Suite struct TutorialTests {
        private let nowhere = SyncPeer.Line(url: URL(string: "http://nonexistent.invalid")!)

        /// Runs an app until it is killed, and returns its output.
        private func play(_ path: String, _ line: SyncPeer.Line, _ steps: String...) async throws -> [String] {
            let peer = try ChildProcess("TandemSyncTestPeer", ["play", path, line.argument()] + steps + ["wait"])
            #expect(try await peer.line("waiting") != nil)
            try await peer.end(SIGKILL)
            return peer.lines.dropLast()
        }

        @Test(arguments: [true, false])
        func `offline changes survive a restart and arrive once the server is found`(isDatasync: Bool) async throws {
            try await withFolder { folder in
                let server = try await ServerOnDisk(
                    in: folder, ["--dialect", isDatasync ? "datasync" : "azure-mobile-apps"])
                var (offline, online) = (nowhere, SyncPeer.Line(url: server.url))
                (offline.isDatasync, online.isDatasync) = (isDatasync, isDatasync)
                let path = folder.path(of: SyncPeer.name(.file))

                let offlineFirst = try await play(
                    path, offline, "sync", "add:1:Молоко", "add:2:Bread", "sync", "edit:1:Кефир")
                #expect(
                    offlineFirst == [
                        "sync failed: unreachable", "added 1", "added 2", "sync failed: unreachable", "edited 1",
                    ])
                // The app restarts, and still finds no server.
                let again = try await play(path, offline, "list", "sync", "list")
                let unsent = ["has 1: Кефир, pending insert", "has 2: Bread, pending insert", "listed"]
                #expect(again == unsent + ["sync failed: unreachable"] + unsent)
                #expect(Found.on(try server.rows()).isEmpty)

                // The correct host.
                let found = try await play(path, online, "list", "sync", "list")
                let synced = ["has 1: Кефир, synced", "has 2: Bread, synced", "listed"]
                #expect(found == unsent + ["sync complete"] + synced)
                #expect(titles(try server.rows()) == ["1 Кефир", "2 Bread"])

                // A later wrong address only fails that sync.
                let lost = try await play(path, offline, "edit:2:Хлеб", "add:3:Eggs", "sync", "list")
                #expect(
                    lost == [
                        "edited 2", "added 3", "sync failed: unreachable", "has 1: Кефир, synced",
                        "has 2: Хлеб, pending update", "has 3: Eggs, pending insert", "listed",
                    ])
                #expect(titles(try server.rows()) == ["1 Кефир", "2 Bread"])
                #expect(try await play(path, online, "sync") == ["sync complete"])
                #expect(titles(try await server.stop()) == ["1 Кефир", "2 Хлеб", "3 Eggs"])
            }
        }

        /// Returns the live titles on a server, by their tags.
        private func titles(_ rows: [ServerRow]) -> [String] {
            Found.on(rows).map { "\($0.tag) \($0.values["title"] ?? "")" }
        }
    }
}
