import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct SetDeleteTests {
    @Test(arguments: StoreKind.allCases)
    func `sent objects become tombstones, and unsent ones are removed`(kind: StoreKind) throws {
        try kind.withStore(Ware.self) { store in
            try store.applyServerObjects(["a", "b", "c"].map { Ware(name: "Ёж").identified(by: $0) }, version: "v1")
            try store.write { tx in
                try tx.insert(Ware(name: "Ёж").identified(by: "unsent"))
                try tx.insert(Ware(name: "Лиса").identified(by: "stays"))
                try tx.update(Ware.self, localID: "b") { $0.count = 5 }
                let found = tx.objects(Ware.self).where { $0.name.matches("ёж") }
                let counts = [try tx.delete(found), try tx.delete(found.includingDeleted())]
                #expect(counts == [4, 0])
                #expect(try tx.objects(Ware.self).localIDs() == ["stays"])
            }
            let operations = try store.operations.all()
            #expect(
                operations.map { "\($0.kind) \($0.localID)" } == ["insert stays", "delete b", "delete a", "delete c"])
            #expect(operations[1].base == ["count": .integer(0)] && operations[1].replaced == .update)
            #expect(try store.objects(Ware.self).onlyDeleted().localIDs() == ["a", "b", "c"])
            #expect(try store.checkIntegrity() == [])
            let restored = try store.write { try $0.undelete($0.objects(Ware.self)) }
            #expect(restored == 3)
            #expect(try store.objects(Ware.self).where { $0.isSynced }.localIDs() == ["a", "c"])
        }
    }

    @Test func `an attempted insert is deleted by a request`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try store.write { tx in
            try tx.insert(Ware(name: "a").identified(by: "a"))
            try tx.insert(Ware(name: "b").identified(by: "b"))
            let operation = try #require(try store.operations.all().first)
            try tx.beginAttempt(operation.id)
            try tx.delete(tx.objects(Ware.self))
        }
        #expect(try store.operations.all().map { "\($0.kind) \($0.localID)" } == ["delete a"])
        #expect(try store.objects(Ware.self).includingDeleted().localIDs() == ["a"])
    }

    @Test func `delete rules apply in the order of the results`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try store.write { tx in
            let first = try tx.insert(Ware(name: "first").identified(by: "1"))
            var child = Ware(name: "child").identified(by: "2")
            child.parent = first.reference
            var owned = Ware(name: "owned").identified(by: "3")
            owned.owner = first.reference
            try tx.insert(child)
            try tx.insert(owned)
        }
        // The child is deleted with its parent, and does not count.
        let count = try store.write { try $0.delete($0.objects(Ware.self).where { $0.name != "owned" }) }
        #expect(count == 1)
        let rest = try store.objects(Ware.self).all()
        #expect(rest.map(\.localID) == ["3"] && rest[0].owner == nil)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a refused delete undoes only the call`() throws {
        let store = try Store.inMemory(models: Ware.self)
        let count = 600
        try store.write { tx in
            for number in 0..<count {
                try tx.insert(Ware(name: "a").identified(by: LocalID("a\(1000 + number)")))
            }
            var keeper = Ware(name: "keeper").identified(by: "b")
            keeper.keeper = Reference(localID: LocalID("a\(1000 + count - 1)"))
            try tx.insert(keeper)
        }
        try store.write { tx in
            try tx.update(Ware.self, localID: "b") { $0.count = 3 }
            let refusal = code { try tx.delete(tx.objects(Ware.self).where { $0.name == "a" }) }
            #expect(refusal == .deleteDenied)
        }
        #expect(try store.objects(Ware.self).count() == count + 1)
        #expect(try store.operations.count() == count + 1)
        #expect(try store.objects(Ware.self).where { $0.count == 3 }.count() == 1)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `the files of deleted objects are removed`() throws {
        try StoreKind.file.withStore(Album.self, Scribble.self) { store in
            let covers = try (0..<3).map { try store.attach("\($0)") }
            let picture = try store.attach("here")
            try store.write { tx in
                for (number, cover) in covers.enumerated() { try tx.insert(Album(title: "\(number)", cover: cover)) }
                try tx.insert(Scribble(picture: picture))
            }
            try store.write { tx in
                let counts = [
                    try tx.delete(tx.objects(Album.self).where { $0.title != "2" }), try tx.deleteAll(Scribble.self),
                ]
                #expect(counts == [2, 1])
            }
            #expect(try store.knownFiles().count == 1)
            try store.expectFilesInOrder()
        }
    }

    @Test func `observers receive one change set for a delete`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try store.applyServerObjects(["a", "b", "c"].map { Ware(name: "\($0)").identified(by: $0) }, version: "v1")
        let recorder = store.objects(Ware.self).changesetPublisher.on(.immediate).record()
        defer { recorder.cancel() }
        try store.write { try $0.delete($0.objects(Ware.self).where { $0.name != "b" }) }
        #expect(recorder.values.count == 2)
        #expect(recorder.values.last?.deletions == [0, 2])
    }
}
