import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A process may crash at any step. The next process opens its files and continues.
@Suite(.ownThreads) struct FileCrashTests {
    private struct Cut: Error {}

    /// A recorder that copies the files on the disk at a step, and ends the process there.
    private final class Camera: Sendable {
        private let folder: TemporaryFolder
        private let last: Int
        private let state = Mutex((steps: 0, isOver: false))

        init(_ folder: TemporaryFolder, cutAt last: Int) {
            (self.folder, self.last) = (folder, last)
        }

        var wasCut: Bool { state.withLock(\.isOver) }

        func step() throws {
            let isNow = state.withLock { state in
                state.steps += 1
                if state.steps == last { state.isOver = true }
                return state.isOver && state.steps == last
            }
            guard isNow else { return }
            let files = FileManager.default
            try files.createDirectory(atPath: folder.path(of: "after"), withIntermediateDirectories: true)
            // Not the shared memory and the locks, which belong to the process.
            for name in try files.contentsOfDirectory(atPath: folder.path)
            where ["store.tandem", "store.tandem-wal", "store.tandem-files"].contains(name) {
                try files.copyItem(atPath: folder.path(of: name), toPath: folder.path(of: "after/\(name)"))
            }
            throw Cut()
        }
    }

    private static func open(_ path: String, _ kind: StoreKind) throws -> Store {
        try kind.open(at: path, [Receipt.self])
    }

    private static func context(
        _ store: Store, _ remote: ScriptedRemote, _ fileServer: PhotoServer, _ camera: Camera? = nil
    ) -> SyncContext {
        var options = SyncContext.Options()
        options.clock = JumpingClock(ManualClock(Date(timeIntervalSince1970: 1_795_000_000)))
        (options.inFlight, options.uploadsInFlight, options.deletesFiles) = (1, 1, true)
        if let camera {
            options.onPushStep = { _ in try camera.step() }
            options.onFileStep = { _ in try camera.step() }
        }
        return SyncContext(store: store, remote: remote, files: fileServer, options: options)
    }

    /// Attaches, uploads, replaces, copies and deletes files, with steps in between.
    private static func live(
        _ store: Store, _ context: SyncContext, _ camera: Camera, _ note: (Attachment, [UInt8]) -> Void
    ) async throws {
        func add(_ seed: UInt8) throws -> Attachment {
            let bytes = PhotoFixture.bytes(2500, seed: seed)
            let attachment = try store.attachments.add(bytes, name: "чек \(seed).jpg")
            note(attachment, bytes)
            try camera.step()
            return attachment
        }
        let photo = try add(1)
        let scans = [try add(2), try add(3)]
        let first = try await store.write { try $0.insert(Receipt(shop: "Лента", photo: photo, scans: scans)) }
        try camera.step()
        let second = try await store.write { try $0.insert(Receipt(shop: "копия", photo: photo)) }
        try camera.step()
        try await context.push()
        try camera.step()
        let other = try add(4)
        try await store.write { _ = try $0.update(Receipt.self, localID: first.localID) { $0.scans.append(other) } }
        try camera.step()
        let late = try add(5)
        try await store.write { _ = try $0.update(Receipt.self, localID: first.localID) { $0.scans[2] = late } }
        try camera.step()
        try await context.push()
        try camera.step()
        try await store.write { _ = try $0.delete(Receipt.self, localID: second.localID) }
        try camera.step()
        try await context.push()
        try camera.step()
    }

    @Test(arguments: [StoreKind.file, .encrypted])
    func `the next sync after a crash at any step leaves every file in its place`(kind: StoreKind) async throws {
        var steps = 0
        while true {
            steps += 1
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let (remote, fileServer) = (ScriptedRemote(format: WireFormat(nestedJSON: true)), PhotoServer())
            let camera = Camera(folder, cutAt: steps)
            var attached: [FileID: [UInt8]] = [:]
            do {
                let store = try Self.open(folder.path(of: "store.tandem"), kind)
                defer { store.close() }
                let context = Self.context(store, remote, fileServer, camera)
                try await Self.live(store, context, camera) { attached[$0.id] = $1 }
            } catch is Cut {
            }
            guard camera.wasCut else { break }
            let store = try Self.open(folder.path(of: "after/store.tandem"), kind)
            defer { store.close() }
            #expect(try store.checkIntegrity() == [], "\(kind), step \(steps)")
            let context = Self.context(store, remote, fileServer)
            for _ in 0..<2 { try await context.push() }
            #expect(
                try await FileInvariants.problems(of: store, remote, fileServer, attached: attached) == [],
                "\(kind), step \(steps)")
            let named = try await store.objects(Receipt.self).all().flatMap { [$0.photo].compactMap { $0 } + $0.scans }
            #expect(try Self.files(in: folder) == Set(named.map(\.id)).count, "\(kind), step \(steps)")
            // An acknowledged file that was removed from the list stays on the server. All other files there are named.
            let there = Set(fileServer.files.keys)
            let urls = Set(named.compactMap(\.serverURL))
            #expect(urls.isSubset(of: there), "\(kind), step \(steps)")
            let left = attached.filter { $0.value == PhotoFixture.bytes(2500, seed: 3) }
                .map { PhotoServer.url($0.key.rawValue) }
            #expect(there.subtracting(urls).isSubset(of: left), "\(kind), step \(steps)")
        }
        // The test covered all steps: at least three for each object and file.
        #expect(steps > 30)
    }

    private static func files(in folder: TemporaryFolder) throws -> Int {
        let path = folder.path(of: "after/store.tandem-files")
        guard let found = FileManager.default.enumerator(atPath: path) else { return 0 }
        return found.compactMap { $0 as? String }.filter {
            let name = ($0 as NSString).lastPathComponent
            return name.count >= 32
        }.count
    }
}
