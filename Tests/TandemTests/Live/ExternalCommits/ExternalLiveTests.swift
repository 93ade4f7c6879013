import Foundation
import OpenCombine
import Synchronization
import TandemTestScript
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Commits of other processes and other stores.
@Suite(.startsProcesses, .ownThreads) struct ExternalLiveTests {
    /// The values that a subscription delivered.
    private final class Delivered<Value: Sendable>: Sendable {
        private let values = Mutex<[Value]>([])
        func add(_ value: Value) { values.withLock { $0.append(value) } }
        var all: [Value] { values.withLock { $0 } }

        /// Waits for a value that satisfies a condition.
        func wait(_ condition: (Value) -> Bool) -> Value? {
            for _ in 0..<2000 {
                if let found = all.last(where: condition) { return found }
                usleep(5000)
            }
            return nil
        }
    }

    @Test(arguments: [false, true], StoreKind.files)
    func `another process's commits are delivered as change sets`(isImmediate: Bool, kind: StoreKind) throws {
        let folder = try TestFolder()
        let path = folder.file(kind)
        let store = try Peer.open(path)
        defer { store.close() }
        let delivered = Delivered<ChangeSet<PeerPerson>>()
        let subscription = store.objects(PeerPerson.self).sorted(by: \PeerPerson.Columns.localID).changesetPublisher
            .on(isImmediate ? .immediate : .background)
            .sink(receiveCompletion: { _ in }, receiveValue: { delivered.add($0) })
        defer { subscription.cancel() }
        #expect(delivered.wait { $0.isInitial } != nil)
        let end = folder.file("end")
        let peer = try PeerProcess(["commits", path, "5", "20", end], in: folder)
        #expect(delivered.wait { $0.results.count == 5 } != nil)
        _ = FileManager.default.createFile(atPath: end, contents: nil)
        peer.wait()
        var names: [PeerPerson] = []
        for change in delivered.all { change.apply(to: &names) }
        #expect(names.map(\.name) == (try store.objects(PeerPerson.self).all()).map(\.name))
        #expect(delivered.all.dropFirst().flatMap(\.insertions).count == 5, "existing objects are not reported again")
    }

    @Test(arguments: StoreKind.files)
    func `another store's commits are delivered before later own ones`(_ kind: StoreKind) throws {
        let folder = try TestFolder()
        let path = folder.file(kind)
        let store = try kind.open(at: path, [Badge.self])
        let other = try kind.open(at: path, [Badge.self])
        defer {
            other.close()
            store.close()
        }
        let delivered = Delivered<[String]>()
        let subscription = store.objects(Badge.self).sorted(by: \.name).collectionPublisher.on(.immediate)
            .sink(receiveCompletion: { _ in }, receiveValue: { delivered.add($0.map(\.name)) })
        defer { subscription.cancel() }
        for round in 0..<25 {
            try other.write { _ = try $0.insert(Badge(name: "other \(round)")) }
            try store.write { _ = try $0.insert(Badge(name: "own \(round)")) }
            let now = try store.objects(Badge.self).sorted(by: \.name).all().map(\.name)
            #expect(delivered.wait { $0 == now } != nil)
        }
    }
}
