import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct UpsertPropertiesTests {
    /// Inserts a ware with an owner, which has a parent.
    private func insertWare(into store: Store) throws -> Ware {
        try store.write { tx in
            let parent = try tx.insert(Ware(name: "parent"))
            let owner = try tx.insert(Ware(name: "owner", parent: parent.reference))
            return try tx.insert(Ware(name: "ware", shelf: "Лента", owner: owner.reference))
        }
    }

    @Test(arguments: StoreKind.memoryAndEncrypted)
    func `an upsert changes a text that is only sorted`(kind: StoreKind) throws {
        try kind.withStore(Ware.self) { store in
            var ware = try insertWare(into: store)
            ware.shelf = "Магнит"
            ware.count = 7
            let result = try store.write { [ware] in try $0.upsert(ware, properties: \.shelf) }
            #expect(result.shelf == "Магнит" && result.count == 0)
            #expect(try store.objects(Ware.self).where { $0.shelf.folded == "магнит" }.count() == 1)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `an upsert refuses a property of a referenced object`() throws {
        let store = try Store.inMemory(models: Ware.self)
        let ware = try insertWare(into: store)
        var other = ware
        other.name = "other"
        other.shelf = nil
        other.parent = ware.reference
        other.rivals = [ware.reference]
        try store.write { [other] tx in
            func expectRefusal(of property: String, _ upsert: () throws -> Ware) {
                let error = #expect(throws: TandemError.self) { try upsert() }
                #expect(error?.code == .invalidValue && error?.model == "Ware" && error?.property == property)
            }
            expectRefusal(of: "parent") { try tx.upsert(other, properties: \.owner.parent) }
            expectRefusal(of: "rivals") { try tx.upsert(other, properties: \.owner.rivals) }
            expectRefusal(of: "name") { try tx.upsert(other, properties: \.owner.name) }
            expectRefusal(of: "shelf") { try tx.upsert(other, properties: \.count, \.owner.parent.shelf) }
            expectRefusal(of: "localID") { try tx.upsert(other, properties: \.owner.localID) }
        }
        #expect(try store.object(ware.reference) == ware)
    }

    @Test func `an upsert refuses the state of an object`() throws {
        let store = try Store.inMemory(models: Ware.self)
        let ware = try insertWare(into: store)
        let error = #expect(throws: TandemError.self) {
            try store.write { try $0.upsert(ware, properties: \.name, \.isSynced) }
        }
        #expect(error?.code == .invalidValue && error?.message == "An app can't set an object's state.")
    }
}
