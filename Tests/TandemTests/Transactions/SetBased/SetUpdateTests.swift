import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct SetUpdateTests {
    /// Inserts wares `w0`, `w1` and so on, with their numbers as counts. A server knows them.
    private func insertWares(_ count: Int, into store: Store) throws {
        try store.applyServerObjects(
            (0..<count).map { number in
                var ware = Ware(name: "Ёж \(number)").identified(by: LocalID("w\(number)"))
                ware.count = number
                return ware
            }, version: "v1")
    }

    private func counts(_ store: Store) throws -> [Int] {
        try store.objects(Ware.self).sorted(by: \.localID).all().map(\.count)
    }

    @Test(arguments: StoreKind.allCases)
    func `constants, properties, predicates and arithmetic are assigned`(kind: StoreKind) throws {
        try kind.withStore(Ware.self) { store in
            try insertWares(4, into: store)
            let count = try store.write { tx in
                try tx.update(tx.objects(Ware.self).where { $0.count > 1 }) {
                    [
                        $0.isNew.set(to: $0.count > 2), $0.shelf.set(to: $0.name), $0.amount.set(to: 7),
                        $0.count.set(to: 10 - $0.count * 2),
                    ]
                }
            }
            #expect(count == 2)
            #expect(try counts(store) == [0, 1, 6, 4])
            let changed = try store.objects(Ware.self).where { $0.amount == 7 }.all()
            #expect(changed.map(\.isNew) == [false, true] && changed.map(\.shelf) == ["Ёж 2", "Ёж 3"])
            #expect(try store.objects(Ware.self).where { $0.shelf.folded == "ЁЖ 3" }.count() == 1)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a changed folded property is found by its new text`(kind: StoreKind) throws {
        try kind.withStore(Ware.self) { store in
            try insertWares(3, into: store)
            try store.write { tx in
                try tx.update(tx.objects(Ware.self).where { $0.name.matches("ёж 1") }) { [$0.name.set(to: "Аист")] }
                #expect(try tx.objects(Ware.self).where { $0.name.matches("аист") }.count() == 1)
                #expect(try tx.objects(Ware.self).where { $0.name.matches("ёж") }.count() == 2)
            }
            #expect(try store.objects(Ware.self).sorted(by: \.name).all().map(\.name) == ["Аист", "Ёж 0", "Ёж 2"])
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `predicates on folded texts are assigned by statements and row by row`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(3, into: store)
        try store.write { tx in
            let all = tx.objects(Ware.self)
            try tx.update(all) { [$0.isNew.set(to: $0.name.folded == "ёЖ 1")] }
            // Arithmetic is computed row by row.
            try tx.update(all) {
                [$0.isPinned.set(to: $0.name.folded.hasPrefix("ЁЖ")), $0.count.set(to: $0.count + 1)]
            }
        }
        #expect(try store.objects(Ware.self).where { $0.isNew }.localIDs() == ["w1"])
        #expect(try store.objects(Ware.self).where { $0.isPinned }.localIDs() == ["w0", "w1", "w2"])
        #expect(try counts(store) == [1, 2, 3])
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `changed folded texts are in the order of the store's language`(kind: StoreKind) throws {
        var configuration = Store.Configuration()
        configuration.sortLanguage = .swedish
        try kind.withStore(Ware.self, configuration: configuration) { store in
            try insertWares(3, into: store)
            try store.write { tx in
                for (id, name) in [("w0", "Åhlén"), ("w1", "Zorn"), ("w2", "Ahlén")] {
                    try tx.update(tx.objects(Ware.self).where { $0.localID == LocalID(id) }) {
                        [$0.name.set(to: name), $0.shelf.set(to: name)]
                    }
                }
            }
            for names in [
                try store.objects(Ware.self).sorted(by: \.name).all().map(\.name),
                try store.objects(Ware.self).sorted(by: \.shelf).all().map(\.name),
            ] {
                #expect(names == ["Ahlén", "Zorn", "Åhlén"])
            }
            try store.expectSound()
        }
    }

    @Test func `an update has the order, the limit and the offset of its results`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(5, into: store)
        let count = try store.write { tx in
            try tx.update(tx.objects(Ware.self).sorted(by: \.count, ascending: false).offset(1).limit(2)) {
                [$0.isNew.set(to: true)]
            }
        }
        #expect(count == 2)
        #expect(try store.objects(Ware.self).where { $0.isNew }.localIDs() == ["w2", "w3"])
        #expect(try store.operations.all().map(\.localID) == ["w3", "w2"])
    }

    @Test func `an update that changes the membership of its results changes each object once`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(5, into: store)
        try store.write { tx in
            try tx.update(tx.objects(Ware.self).where { $0.count < 3 }) { [$0.count.set(to: $0.count + 2)] }
            try tx.update(tx.objects(Ware.self).where { $0.isNew }) { [$0.isNew.set(to: false)] }
            try tx.update(tx.objects(Ware.self).where { !$0.isNew }) { [$0.isNew.set(to: !$0.isNew)] }
        }
        #expect(try counts(store) == [2, 3, 4, 3, 4])
        #expect(try store.objects(Ware.self).where { $0.isNew }.count() == 5)
    }

    @Test func `each changed object gets its operation with the old values`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(3, into: store)
        try store.write { tx in
            try tx.insert(Ware(name: "unsent").identified(by: "x"))
            try tx.update(Ware.self, localID: "w1") { $0.count = 50 }
            try tx.update(tx.objects(Ware.self)) { [$0.count.set(to: 2), $0.isNew.set(to: true)] }
        }
        let operations = try store.operations.all()
        #expect(operations.map { "\($0.kind) \($0.localID)" } == ["insert x", "update w1", "update w0", "update w2"])
        #expect(operations[0].base == [:])
        #expect(operations[1].base == ["count": .integer(1), "isNew": .integer(0)])
        #expect(operations[2].base == ["count": .integer(0), "isNew": .integer(0)])
        #expect(operations[3].base == ["isNew": .integer(0)])
        #expect(try store.objects(Ware.self).where { $0.isSynced }.count() == 0)
        #expect(try store.objects(Ware.self).where { $0.version == "v1" }.count() == 3)
    }

    @Test func `an update during an attempt stays pending after the response`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(1, into: store)
        try store.write { try $0.update(Ware.self, localID: "w0") { $0.count = 1 } }
        let id = try #require(try store.operations.all().first).id
        try store.write { tx in
            try tx.beginAttempt(id)
            try tx.update(tx.objects(Ware.self)) { [$0.isNew.set(to: true)] }
            try tx.acknowledge(id, version: "v2")
        }
        let operation = try #require(try store.operations.all().first)
        #expect(operation.base == ["isNew": .integer(0)] && operation.state == .pending)
    }

    @Test func `unchanged values and local-only properties queue nothing`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(3, into: store)
        try store.write { tx in
            let all = tx.objects(Ware.self)
            try tx.update(all) { [$0.isPinned.set(to: true), $0.note.set(to: $0.name)] }
            try tx.update(all) { [$0.isNew.set(to: false), $0.count.set(to: $0.count * 1)] }
            try tx.update(all, set: { _ in [] })
        }
        #expect(try store.operations.count() == 0)
        #expect(try store.objects(Ware.self).where { $0.isSynced && $0.isPinned && $0.note == $0.name }.count() == 3)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `only objects with a changed sent property lose their synced state`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(2, into: store)
        try store.write { tx in
            try tx.update(tx.objects(Ware.self)) { [$0.count.set(to: 1), $0.isPinned.set(to: true)] }
        }
        #expect(try store.objects(Ware.self).where { $0.isSynced }.localIDs() == ["w1"])
        #expect(try store.operations.all().map(\.localID) == ["w0"])
    }

    @Test func `an error undoes only the call`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(3, into: store)
        try store.write { tx in
            try tx.update(Ware.self, localID: "w0") { $0.note = "kept" }
            let duplicate = #expect(throws: TandemError.self) {
                try tx.update(tx.objects(Ware.self)) { [$0.code.set(to: "same")] }
            }
            #expect(duplicate?.code == .duplicateValue && duplicate?.property == "code" && duplicate?.localID == "w0")
            let overflow = #expect(throws: TandemError.self) {
                try tx.update(tx.objects(Ware.self)) { [$0.count.set(to: $0.count + (Int.max - 1))] }
            }
            #expect(overflow?.code == .overflow && overflow?.property == "count" && overflow?.localID == "w2")
        }
        #expect(try store.objects(Ware.self).where { $0.code == nil }.count() == 3)
        #expect(try counts(store) == [0, 1, 2])
        #expect(try store.objects(Ware.self).where { $0.note == "kept" }.count() == 1)
        #expect(try store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `deleted objects and properties of other models are refused`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(2, into: store)
        try store.write { tx in
            try tx.delete(Ware.self, localID: "w1")
            let deleted = code { try tx.update(tx.objects(Ware.self).includingDeleted()) { [$0.count.set(to: 9)] } }
            let owners = code { try tx.update(tx.objects(Ware.self)) { [$0.owner.name.set(to: "x")] } }
            let ids = code { try tx.update(tx.objects(Ware.self)) { [$0.localID.set(to: "x")] } }
            #expect(deleted == .objectDeleted && owners == .invalidQuery && ids == .invalidQuery)
        }
        #expect(try counts(store) == [0])
    }

    @Test func `references are assigned, also those that wait for their targets`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(3, into: store)
        try store.write { tx in
            let owner = try #require(try tx.object(ofType: Ware.self, forPrimaryKey: "w0"))
            let others = tx.objects(Ware.self).where { $0.count > 0 }
            let assigned = try tx.update(others) { [$0.owner.set(to: owner)] }
            #expect(assigned == 2)
            #expect(try tx.objects(owner.owned).localIDs() == ["w1", "w2"])
            try tx.update(others) {
                [$0.owner.set(to: Reference(localID: "later")), $0.rivals.set(to: [owner.reference])]
            }
            #expect(try tx.objects(Ware.self).where { $0.owner != nil }.count() == 0)
            #expect(try tx.objects(Ware.self).where { $0.rivals.contains(owner) }.count() == 2)
            try tx.insert(Ware(name: "later").identified(by: "later"))
            #expect(try tx.objects(Ware.self).where { $0.owner.name == "later" }.count() == 2)
            let removed = try tx.update(others.where { $0.owner != nil }) { [$0.owner.set(to: nil)] }
            #expect(removed == 2)
            #expect(try tx.objects(Ware.self).where { $0.owner != nil }.count() == 0)
        }
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `an attachment is assigned to many objects`() throws {
        try StoreKind.file.withStore(Album.self) { store in
            let cover = try store.attach("cover")
            try store.write { tx in
                for title in ["а", "б"] { try tx.insert(Album(title: title)) }
                try tx.update(tx.objects(Album.self)) { [$0.cover.set(to: cover)] }
                try tx.update(tx.objects(Album.self)) { [$0.title.set(to: "в")] }
            }
            #expect(try store.fileUses().count == 2)
            try store.expectFilesInOrder()
            try store.write { try $0.update($0.objects(Album.self)) { [$0.cover.set(to: nil)] } }
            #expect(try store.knownFiles() == [])
        }
    }

    @Test func `more objects than one statement changes are changed in their order`() throws {
        let store = try Store.inMemory(models: Ware.self)
        let count = 2 * RowIDList.maximumCount + 10
        try insertWares(count, into: store)
        try store.write { tx in
            try tx.update(tx.objects(Ware.self).sorted(by: \.count, ascending: false)) { [$0.isNew.set(to: true)] }
        }
        #expect(try store.objects(Ware.self).where { $0.isNew }.count() == count)
        let queued = try store.operations.all().map(\.localID)
        #expect(queued == (0..<count).reversed().map { LocalID("w\($0)") })
    }

    @Test func `observers receive one change set for an update`() throws {
        let store = try Store.inMemory(models: Ware.self)
        try insertWares(4, into: store)
        let recorder = store.objects(Ware.self).where { $0.count < 10 }.sorted(by: \.count)
            .changesetPublisher.on(.immediate).record()
        defer { recorder.cancel() }
        try store.write { tx in
            try tx.update(tx.objects(Ware.self).where { $0.count > 1 }) { [$0.isNew.set(to: true)] }
            try tx.update(tx.objects(Ware.self).where { $0.count == 0 }) { [$0.count.set(to: 11)] }
        }
        try store.write { try $0.update($0.objects(Ware.self)) { [$0.isNew.set(to: $0.isNew)] } }
        let changes = recorder.values
        #expect(changes.count == 2)
        #expect(changes.last?.deletions == [0])
        #expect(changes.last?.modifications.map(\.new) == [1, 2])
    }
}
