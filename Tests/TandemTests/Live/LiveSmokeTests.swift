import Foundation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct LiveSmokeTests {
    @Test(arguments: StoreKind.allCases)
    func `a list delivers insertions, changes, moves and deletions`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let seen = Mutex<[ChangeSet<Card>]>([])
            let subscription = store.objects(Card.self).where { $0.points > 10 }.sorted(by: \.shop)
                .changesetPublisher.on(.immediate).sink(receiveCompletion: { _ in }) { change in
                    seen.withLock { $0.append(change) }
                }
            defer { subscription.cancel() }
            var list: [Card] = []
            var applied = 0
            func check(_ count: Int, _ note: Comment) throws {
                let changes = seen.withLock { $0 }
                #expect(changes.count == count, note)
                for change in changes[applied...] { change.apply(to: &list) }
                applied = changes.count
                #expect(list == changes.last.map { Array($0.results) }, note)
                #expect(list == (try store.objects(Card.self).where { $0.points > 10 }.sorted(by: \.shop).all()), note)
            }
            try check(1, "first")
            let b = try store.write { try $0.insert(Card(shop: "Б", barcode: "1", points: 20)) }
            try check(2, "insert")
            var a = try store.write { try $0.insert(Card(shop: "А", barcode: "2", points: 30)) }
            try check(3, "insert before")
            try store.write { _ = try $0.insert(Card(shop: "В", barcode: "3", points: 1)) }
            try check(3, "not in")
            a.points = 31
            a = try store.write { try $0.update(a) }
            try check(4, "modify")
            a.shop = "Я"
            a = try store.write { try $0.update(a) }
            try check(5, "move")
            #expect(seen.withLock { $0.last?.moves.count } == 1)
            a.points = 5
            a = try store.write { try $0.update(a) }
            try check(6, "leave")
            try store.write { try $0.delete(b) }
            try check(7, "delete")
            try? store.write { tx in
                try tx.insert(Card(shop: "Г", barcode: "4", points: 99))
                throw CancellationError()
            }
            try check(7, "rolled back")
        }
    }

    /// These two values collided under the unkeyed hash that change detection once used.
    @Test func `values made to collide are distinguished`() throws {
        let first = Data([0x86, 0x42, 0x2f, 0, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11])
        let second = Data([0x37, 0xd3, 0x8c, 0, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x99, 0x1e, 0xcc])
        try StoreKind.memory.withStore(EveryType.self) { store in
            let seen = Mutex<[Data?]>([])
            let subscription = store.objects(EveryType.self).changesetPublisher.on(.immediate)
                .sink(receiveCompletion: { _ in }) { change in
                    seen.withLock { $0.append(change.results.first?.data) }
                }
            defer { subscription.cancel() }
            var object = EveryType()
            object.data = first
            object = try store.write { try $0.insert(object) }
            object.data = second
            _ = try store.write { try $0.update(object) }
            #expect(seen.withLock { $0 } == [nil, first, second])
        }
    }

    @Test(arguments: StoreKind.files)
    func `a sequence gets all missed changes in one change set`(_ kind: StoreKind) async throws {
        let folder = try TemporaryFolder()
        let store = try kind.open(at: folder.path(of: "a.tandem"), [Card.self, Person.self, Badge.self])
        var iterator = store.objects(Card.self).countPublisher.values.makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        for index in 0..<3 {
            try await store.write { _ = try $0.insert(Card(shop: "x", barcode: "\(index)", points: 1)) }
        }
        #expect(try await iterator.next() == 3)
    }
}
