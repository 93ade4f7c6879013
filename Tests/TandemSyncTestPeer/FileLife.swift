import Foundation
import Tandem
import TandemSync
import TandemSyncTestScript
import TandemTesting

/// A life of a peer. It attaches, replaces, copies and deletes random files, and concurrently synchronizes and
/// downloads them, without end.
struct FileLife: Sendable {
    private let store: Store
    private let context: SyncContext
    /// The name of the life, which owns its albums. Each life has another one.
    private let name: String

    /// - Parameter name: The name of the life. For example, `A-7` is the seventh life of A.
    init(_ store: Store, _ line: SyncPeer.Line, name: String) throws {
        self.store = store
        self.name = name
        context = try line.context(store) { step in
            if case .began = step { SyncPeerMain.say("sending") }
            if case .concluded = step { SyncPeerMain.say("sent") }
        } onFileStep: { step in
            switch step {
            case .began(let id): SyncPeerMain.say("uploading \(id)")
            case .responded(let id): SyncPeerMain.say("answered \(id)")
            case .concluded(let id): SyncPeerMain.say("uploaded \(id)")
            }
        }
    }

    func run() async throws {
        SyncPeerMain.say("ready")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await edit() }
            group.addTask { try await synchronize() }
            group.addTask { try await fetch() }
            try await group.next()
        }
    }

    // MARK: Synchronizing

    private func synchronize() async throws {
        // A restarted server may still execute a request of a dead process.
        let report = SyncReport(excuses: [.unreachable, .later])
        try await report.synchronizeForEver(context)
    }

    private func fetch() async throws {
        while true {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...30)))
            let files = try await store.objects(Album.self).all().flatMap(\.files)
            guard let file = files.filter({ $0.serverURL != nil }).randomElement() else { continue }
            do {
                if try store.attachments.status(of: file).isOnDevice { continue }
                SyncPeerMain.say("fetching \(file.id)")
                try await context.download(file)
                let bytes = Array(try store.attachments.data(of: file))
                if bytes != PeerPicture(file).bytes { SyncPeerMain.say("error other bytes: \(file)") }
                SyncPeerMain.say("fetched \(file.id)")
            } catch let error as SyncError where error.code == .unreachable || error.code == .later {
                SyncPeerMain.say("\(error.code)")
            } catch let error as TandemError
                where error.code == .unknownAttachment || error.code == .attachmentNotHere
            {
                // The file's objects were deleted meanwhile, or the cache was too small.
                SyncPeerMain.say("\(error.code)")
            } catch {
                let isThere = try await store.objects(Album.self).all().contains {
                    $0.files.contains { $0.id == file.id }
                }
                SyncPeerMain.say(isThere ? "error fetching \(file): \(error)" : "gone \(file.id)")
            }
        }
    }

    // MARK: Editing

    private func edit() async throws {
        var number = 0
        while true {
            // A queue that only grows would never be empty at a kill.
            while try store.operations.count() > 20 { try await Task.sleep(for: .milliseconds(10)) }
            number += 1
            try await act("\(name)-\(number)")
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...20)))
        }
    }

    private func act(_ tag: String) async throws {
        // The draft of a file that the act does not use is removed at its end.
        var fresh: [Attachment] = []
        for index in 0..<Int.random(in: 0...2) { fresh.append(try await attach("\(tag)-\(index)")) }
        let files = fresh
        try await store.write { tx in
            let snapshot = AlbumSnapshot(
                albums: try tx.objects(Album.self).all(), deleted: try tx.objects(Album.self).onlyDeleted().all(),
                fresh: files)
            try snapshot.act(tag, tx)
        }
        SyncPeerMain.say("ack")
    }

    /// Attaches a file in a random way.
    private func attach(_ name: String) async throws -> Attachment {
        let sizes = [0, 1, 700, 5000, 65_536, 65_537, 200_000, 1 << 20, (1 << 20) + 1, 3 << 20]
        let bytes = PeerPicture(name: name, size: sizes.randomElement() ?? 0).bytes
        SyncPeerMain.say("attaching \(name)")
        defer { SyncPeerMain.say("attached \(name)") }
        switch Int.random(in: 0..<3) {
        case 0: return try store.attachments.add(bytes, name: name)
        case 1:
            // The source is unencrypted, and not in the store.
            let path = (store.path as NSString).deletingLastPathComponent + "/source-of-\(name)"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            return try store.attachments.add(contentsOf: path, name: name)
        default:
            let pieces = AsyncStream { continuation in
                for start in stride(from: 0, to: bytes.count, by: 150_000) {
                    continuation.yield(Data(bytes[start..<min(bytes.count, start + 150_000)]))
                }
                continuation.finish()
            }
            return try await store.attachments.add(from: pieces, name: name)
        }
    }
}
