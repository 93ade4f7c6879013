import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Opening a store asynchronously, the progress of its migration, and its cancellation.
@Suite(.ownThreads) struct AsyncOpeningTests {
    private let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func fill(_ path: String, _ kind: StoreKind, _ count: Int) throws {
        let store = try kind.open(at: path, [Badge.self])
        try store.write { tx in for index in 0..<count { _ = try tx.insert(Badge(name: "Значок \(index)")) } }
        store.close()
    }

    /// A configuration whose migration rewrites every badge.
    private var rewriting: Store.Configuration {
        var configuration = Store.Configuration()
        configuration.schemaVersion = 1
        configuration.migrate(to: 1) { migration in
            try migration.convert("name", of: "Badge") { .text(try $0.value(as: String.self) + "!") }
        }
        return configuration
    }

    @Test func `opening asynchronously gives a working store, plain and encrypted`() async throws {
        for key in [nil, CipherKey.raw(Array(repeating: 7, count: 32))] {
            let path = folder.file("store-\(key == nil).tandem")
            for round in 1...2 {
                let store = try await Store.open(at: path, key: key, models: Badge.self)
                try await store.write { _ = try $0.insert(Badge(name: "Ω\(round)")) }
                let count = try await store.objects(Badge.self).count()
                #expect(count == round && store.isEncrypted == (key != nil))
                store.close()
            }
        }
        await #expect(throws: TandemError.self) {
            try await Store.open(at: folder.file("missing/store.tandem"), models: Badge.self)
        }
    }

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `a migration reports its progress`(kind: StoreKind) throws {
        let path = folder.file()
        try fill(path, kind, 2500)
        let reported = Mutex<[MigrationProgress]>([])
        var configuration = rewriting
        configuration.onMigrationProgress = { progress in reported.withLock { $0.append(progress) } }
        try kind.open(at: path, [Badge.self], configuration: configuration).close()
        let progress = reported.withLock { $0 }
        #expect(progress.map(\.completed) == [0, 1000, 2000, 2500])
        #expect(progress.allSatisfy { $0.model == "Badge" && $0.total == 2500 && $0.work == .rows })
        try kind.open(at: path, [Badge.self], configuration: configuration).close()
        #expect(reported.withLock { $0.count } == 4)
    }

    private struct Enough: Error {}

    @Test(arguments: StoreKind.fileAndEncrypted)
    func `an error from the progress handler leaves the store unchanged`(kind: StoreKind) throws {
        let path = folder.file()
        try fill(path, kind, 1500)
        let before = try folder.storeBytes()
        var configuration = rewriting
        configuration.onMigrationProgress = { if $0.completed == 1000 { throw Enough() } }
        #expect(throws: Enough.self) { try kind.open(at: path, [Badge.self], configuration: configuration) }
        #expect(try folder.storeBytes() == before)
        configuration.onMigrationProgress = nil
        let store = try kind.open(at: path, [Badge.self], configuration: configuration)
        #expect(try store.objects(Badge.self).where { $0.name.hasSuffix("!") }.count() == 1500)
        store.close()
    }

    @Test(.timeLimit(.minutes(5)), arguments: StoreKind.fileAndEncrypted)
    func `canceling the task during a migration leaves the store unchanged`(kind: StoreKind) async throws {
        let path = folder.file()
        try fill(path, kind, 3000)
        let before = try folder.storeBytes()
        let opening = Mutex<Task<Store, any Error>?>(nil)
        var configuration = rewriting
        configuration.onMigrationProgress = { progress in
            guard progress.completed == 1000 else { return }
            while opening.withLock({ $0?.cancel() }) == nil { usleep(1000) }
        }
        let given = configuration
        let key = kind.profile == nil ? nil : StoreKind.key
        let task = Task { try await Store.open(at: path, key: key, models: Badge.self, configuration: given) }
        opening.withLock { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try folder.storeBytes() == before)
    }
}
