import Foundation
import Tandem
import TandemServerCore
import TandemSync
import TandemSyncTestScript
import TandemTesting
import TestSupport
import Testing

/// `kill -9` ends processes that attach, upload, replace, download and delete files, at random moments. After a final
/// quiet sync, every file must be in its exact place on the device and the server.
extension ProcessTests {
    @Suite struct FileKillTests {
        struct Plan: CustomTestStringConvertible, Sendable {
            var kind: StoreKind
            var killsServer = false

            var testDescription: String { "\(kind)\(killsServer ? ", the server killed too" : "")" }
        }

        static let plans = [
            Plan(kind: .file), Plan(kind: .encrypted), Plan(kind: .file, killsServer: true), Plan(kind: .sqlCipher),
        ]

        /// The number of kills of a plan. `TANDEM_SOAK=1` sets more.
        static let kills = isSoak ? 250 : 6
        /// The number of kills after which a history ends. Its files are checked, and the next one begins from scratch.
        static let killsPerHistory = isSoak ? 25 : 6

        @Test(arguments: plans)
        func `every file is in its place after kills at random moments and a quiet sync`(plan: Plan) async throws {
            for _ in 0..<Self.kills / Self.killsPerHistory {
                try await withFolder { folder in
                    try await withFolder { elsewhere in
                        try await FileHistory(plan, folder, elsewhere).live()
                    }
                }
            }
        }
    }
}

/// Several lives of a process on one store, and the files that they leave.
private final class FileHistory {
    private typealias Tests = ProcessTests.FileKillTests

    private let plan: ProcessTests.FileKillTests.Plan
    private let path: String
    private let storagePath: String
    private let server: ServerOnDisk
    private let line: SyncPeer.Line
    private var truth = PeerTruth()
    /// The names of acknowledged files that were removed from a live album. They stay on the server, which only deletes
    /// the files of deleted objects.
    private var leaving: Set<String> = []

    init(_ plan: ProcessTests.FileKillTests.Plan, _ folder: TemporaryFolder, _ elsewhere: TemporaryFolder) async throws
    {
        self.plan = plan
        path = folder.path(of: SyncPeer.name(plan.kind))
        storagePath = elsewhere.path(of: "storage")
        server = try await ServerOnDisk(in: elsewhere, ["--latency", "2", "--files", storagePath])
        var line = SyncPeer.Line(url: server.url)
        line.hasFiles = true
        self.line = line
    }

    func live() async throws {
        var uploads = 0
        for life in 0..<Tests.killsPerHistory {
            let peer = try ChildProcess("TandemSyncTestPeer", ["files", path, line.argument(), "A-\(life)"])
            try await moment(of: peer, isLast: life == Tests.killsPerHistory - 1)
            if plan.killsServer, Bool.random() {
                try await server.killAndRestart()
                if Bool.random() {
                    let synced = peer.lines.count { $0 == "synced" }
                    #expect(try await peer.line("synced", synced + 2) != nil, "it goes on")
                }
            }
            try await end(peer)
            uploads += peer.lines.count { $0.hasPrefix("uploaded") }
            try checkLeftovers()
        }
        try await synchronizeFully()
        try await check()
        // The peers made progress.
        #expect(truth.acknowledged > 0 && uploads > 0)
    }

    /// Waits for the moment at which a peer is killed.
    private func moment(of peer: ChildProcess, isLast: Bool) async throws {
        if isLast || Int.random(in: 0..<5) > 0 {
            let steps = [
                "ack", "attaching", "attached", "syncing", "synced", "uploading", "answered", "uploaded", "fetching",
                "fetched", "sending", "sent",
            ]
            let prefix = isLast ? "uploaded" : steps.randomElement() ?? "ack"
            #expect(try await peer.line(prefix, Int.random(in: 1...10)) != nil, "\(peer.lines.suffix(5))")
        }
        // Or at any moment of its start.
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...40)))
    }

    /// Kills a peer, and reads its output.
    private func end(_ peer: ChildProcess) async throws {
        #expect(peer.isRunning, "\(peer.lines.suffix(5))")
        try await peer.end(SIGKILL)
        let lines = peer.lines
        #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines.filter { $0.hasPrefix("error") })")
        try truth.live(lines)
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            if words.count == 2, words[0] == "leaving" { leaving.insert(words[1]) }
        }
    }

    // MARK: On the device

    /// Checks the files that a killed process has left in the store's folder.
    private func checkLeftovers() throws {
        if plan.kind != .file {
            for (name, bytes) in try Self.files(below: path) {
                let isThere = bytes.shows(PeerPicture.mark)
                #expect(!isThere, "\(name) is in the clear")
            }
        }
        guard Bool.random() else { return }
        // Opening and closing the store sweeps the leftovers.
        let store = try SyncPeer.open(path, hasFiles: true)
        #expect(try store.checkIntegrity() == [])
        let known = try filesOnDevice(store)
        store.close()
        #expect(try names().count == known.count)
    }

    /// Returns all names in the folder of files.
    private func names() throws -> [String] {
        let folder = path + "-files"
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains("/") }
    }

    /// Returns the bytes of a store, its journals and its files.
    private static func files(below path: String) throws -> [String: Data] {
        var all: [String: Data] = [:]
        for name in [path, path + "-wal", path + "-journal"] { all[name] = FileManager.default.contents(atPath: name) }
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: path + "-files")) ?? [] {
            if let data = FileManager.default.contents(atPath: path + "-files/" + name) { all[name] = data }
        }
        return all
    }

    /// Returns the IDs of the files that albums name and that are on this device.
    private func filesOnDevice(_ store: Store) throws -> Set<FileID> {
        let albums = try store.objects(Album.self).all() + store.objects(Album.self).onlyDeleted().all()
        return Set(try albums.flatMap(\.files).filter { try store.attachments.status(of: $0).isOnDevice }.map(\.id))
    }

    /// Syncs without further edits and kills, until nothing is left to send.
    private func synchronizeFully() async throws {
        let store = try SyncPeer.open(path, hasFiles: true)
        defer { store.close() }
        #expect(try store.checkIntegrity() == [])
        let context = try line.context(store)
        for _ in 0..<5 {
            let result = try await context.synchronize()
            for entry in result.entries { #expect(entry.outcome.isFinished, "\(entry)") }
            for upload in result.uploads { #expect(upload.isFinished, "\(upload)") }
            let unwanted = try await store.read { try $0.unwantedFiles() }
            let isQuiet = result.entries.isEmpty && result.uploads.isEmpty && unwanted.isEmpty
            if try isQuiet && store.operations.count() == 0 { return }
        }
        let (files, unwanted) = try await store.read {
            (try $0.countOfPendingFiles(), try $0.unwantedFiles())
        }
        Issue.record(
            """
            Something is left after five quiet syncs: \(try store.operations.all()), \(files) files, \
            to be deleted: \(unwanted)
            """)
    }

    private func check() async throws {
        _ = try await server.stop()
        let rows = try server.rows(in: "album").filter { !$0.deleted }
        let store = try SyncPeer.open(path, hasFiles: true)
        #expect(try store.checkIntegrity() == [])
        #expect(try store.operations.count() == 0)
        #expect(try await store.read { try $0.countOfPendingFiles() } == 0)
        #expect(try await store.read { try $0.unwantedFiles() } == [])
        let albums = try await store.objects(Album.self).all()
        #expect(albums.filter { !$0.isSynced }.map(\.tag) == [])
        #expect(try await store.objects(Album.self).onlyDeleted().count() == 0)
        // The device and the server have the same objects, including all acknowledged ones.
        #expect(truth.problems(of: albums.map { ($0.tag, $0.words) }) == [])
        let there = try rows.map { try ServedAlbum($0) }
        #expect(Set(there) == Set(albums.map { ServedAlbum($0) }))
        #expect(there.count == albums.count)
        try checkServer(albums)
        for file in albums.flatMap(\.files) where try store.attachments.status(of: file).isOnDevice {
            let bytes = Array(try store.attachments.data(of: file))
            #expect(bytes == PeerPicture(file).bytes)
        }
        let here = try filesOnDevice(store)
        store.close()
        #expect(try names().count == here.count)
        try checkFolder()
    }

    /// Checks that the folder contains only complete files with valid names, unencrypted only in a plain store.
    private func checkFolder() throws {
        let names = try names()
        for name in names {
            let isOurs = name.wholeMatch(of: /([0-9a-f]{2})\/\1[0-9a-f]{30}/) != nil
            #expect(isOurs, "\(name)")
        }
        guard plan.kind == .file else { return }
        // A plain file contains the mark that the check of encrypted stores searches for.
        let files = try Self.files(below: path)
        let large = names.filter { (files[$0]?.count ?? 0) > 1000 }
        #expect(large.allSatisfy { files[$0]?.shows(PeerPicture.mark) == true })
    }

    // MARK: On the server

    /// Checks that the server has each file of an album once, and no others except those that left an album. A file
    /// without an album whose upload was interrupted is deleted.
    private func checkServer(_ albums: [Album]) throws {
        let storage = try FileStorage.inFolder(at: storagePath)
        let served = try storage.files()
        #expect(Set(served.map(\.name)).count == served.count, "a file is there twice")
        let byID = Dictionary(uniqueKeysWithValues: served.map { ($0.id, $0) })
        for file in albums.flatMap(\.files) {
            guard let url = file.serverURL, let one = byID[file.id.rawValue] else {
                Issue.record("\(file) is not on the server: \(file.serverURL ?? "no URL")")
                continue
            }
            #expect(url == "\(line.url)/files/\(one.id)")
            let picture = PeerPicture(file)
            #expect(one.name == picture.name && one.size == file.size && one.sha256 == file.sha256?.hex)
            let bytes = try storage.bytes(of: one.id, count: picture.size + 1)
            #expect(bytes == picture.bytes)
        }
        let named = Set(albums.flatMap(\.files).map(\.id.rawValue))
        for file in served where !named.contains(file.id) {
            #expect(leaving.contains(file.name), "no album has \(file.name), and it is on the server")
        }
    }
}
