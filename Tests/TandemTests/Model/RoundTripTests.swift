import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct RoundTripTests {
    @Test(arguments: StoreKind.allCases)
    func `insert, update and upsert keep random values unchanged`(_ kind: StoreKind) throws {
        var dice = Dice.seeded("round trips \(kind)")
        try kind.withStore(EveryType.self) { store in
            var objects: [LocalID: EveryType] = [:]
            for round in 0..<60 {
                try store.write { tx in
                    let new = EveryType.random(&dice)
                    objects[new.localID] = try tx.insert(new)
                    #expect(exact(objects[new.localID]!) == exact(new))
                    if round % 3 == 1, var old = objects.values.randomElement(using: &dice) {
                        old.fill(&dice)
                        try tx.update(old)
                        objects[old.localID] = old
                    }
                    if round % 3 == 2, var old = objects.values.randomElement(using: &dice) {
                        old.fill(&dice)
                        try tx.upsert(old)
                        objects[old.localID] = old
                    }
                }
            }
            for object in objects.values {
                try store.expect(object, seed: dice.seed)
            }
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `values are unchanged after closing and reopening`() throws {
        var dice = Dice.seeded("reopening")
        try withStorePath { path in
            var store = try Store(at: path, models: EveryType.self)
            let objects = (0..<20).map { _ in EveryType.random(&dice) }
            try store.write { try $0.insert(contentsOf: objects) }
            store.close()
            store = try Store(at: path, models: EveryType.self)
            defer { store.close() }
            for object in objects {
                try store.expect(object, seed: dice.seed)
            }
        }
    }

    @Test(arguments: Dice.doubles)
    func `every double, float and date keeps its bits`(_ double: Double) throws {
        let store = try Store.inMemory(models: EveryType.self)
        var object = EveryType()
        object.double = double
        object.date = Date(timeIntervalSinceReferenceDate: double)
        object.maybeDate = object.date
        object.dates = [object.date]
        object.doubles = [double]
        object.doubleMap = ["": double]
        object.float = Float(bitPattern: UInt32(truncatingIfNeeded: double.bitPattern >> 32))
        try store.write { try $0.insert(object) }
        try store.expect(object)
        // A value with equal bits is not a change. A value that differs in the sign of zero is.
        try store.write { tx in
            let operation = try store.operations.all()[0]
            try tx.beginAttempt(operation.id)
            try tx.acknowledge(operation.id, serverID: "s")
            try tx.update(object)
            #expect(try store.operations.count() == 0)
            object.double = Double(bitPattern: double.bitPattern ^ 1 << 63)
            try tx.update(object)
            #expect(try store.operations.all().map(\.changedProperties) == [["double"]])
            #expect(try store.operations.all()[0].base["double"] == Codec.of(Double.self).storageValue(double))
        }
        try store.expect(object)
    }

    @Test func `large values and limits of types are kept`() throws {
        let store = try Store.inMemory(models: EveryType.self)
        var object = EveryType()
        object.uint64 = .max
        object.uint = .max
        object.maybeUint64 = 1 << 63
        object.uint64s = [.max, 0, 1 << 63, (1 << 63) - 1]
        object.int64 = .min
        object.big = BigInt(String(repeating: "9", count: 10_000))!
        object.maybeBig = -object.big
        object.bigUnsigned = object.big.magnitude
        object.text = String(repeating: "п\u{0}", count: 50_000)
        object.maybeText = ""
        object.data = Data(count: 100_000)
        object.maybeData = Data()
        object.maybeTexts = []
        object.maybeTextMap = [:]
        try store.write { try $0.insert(object) }
        try store.expect(object)
        var bare = object.identified(by: "bare")
        bare.maybeText = nil
        bare.maybeData = nil
        bare.maybeTexts = nil
        bare.maybeTextMap = nil
        try store.write { try $0.insert(bare) }
        try store.expect(bare)
    }

    @Test func `canonically equivalent texts are distinct`() throws {
        let store = try Store.inMemory(models: EveryType.self)
        var object = EveryType()
        object.text = "é"
        object.texts = ["é", "e\u{301}"]
        try store.write { try $0.insert(object) }
        object.text = "e\u{301}"
        try store.write { try $0.update(object) }
        #expect(try store.stored(object)?.text.unicodeScalars.count == 2)
        #expect(try store.stored(object)?.texts.map(\.unicodeScalars.count) == [1, 2])
        try store.write { try $0.insert(EveryType().identified(by: "é")) }
        try store.write { try $0.insert(EveryType().identified(by: "e\u{301}")) }
        #expect(try store.live(EveryType.self).count == 3)
    }

    @Test func `a value from JSON or a dictionary is unchanged`() throws {
        var dice = Dice.seeded("dictionaries")
        let store = try Store.inMemory(models: EveryType.self)
        for _ in 0..<40 {
            var object = EveryType.random(&dice)
            var values: [String: Any?] = ["localID": object.localID]
            for child in Mirror(reflecting: object).children where child.label != "__state" {
                values[child.label!] = child.value
            }
            try store.write { try $0.upsert(EveryType.self, values: values) }
            try store.expect(object, seed: dice.seed)
            // Values that foreign JSON can't express yet: see ImportTests.
            object.place = Place(name: object.place.name, latitude: 0.5)
            object.maybePlace = object.maybePlace.map { Place(name: $0.name, latitude: -1e-300) }
            let json = try store.jsonOfProperties(of: object)
            let copy = object.identified(by: LocalID("copy \(object.localID)"))
            try store.write { tx in
                try tx.upsert(
                    EveryType.self, json: Data("{\"localID\":\"\(copy.localID)\",".utf8) + json.dropFirst())
            }
            try store.expect(copy, seed: dice.seed)
        }
    }

    @Test func `columns sort as their types do`() throws {
        var dice = Dice.seeded("orders")
        let store = try Store.inMemory(models: EveryType.self)
        let objects = (0..<150).map { _ in EveryType.random(&dice) }
        try store.write { try $0.insert(contentsOf: objects) }
        func check<T>(
            _ column: String, _ path: KeyPath<EveryType, T>, _ precedes: (T, T) -> Bool, _ line: Int = #line
        ) throws {
            let rows = try store.sql("SELECT localID FROM EveryType ORDER BY \"\(column)\", localID")
            let byID = Dictionary(uniqueKeysWithValues: objects.map { ($0.localID.rawValue, $0) })
            let sorted = rows.compactMap { if case .text(let id) = $0[0] { byID[id] } else { nil } }
            #expect(sorted.count == objects.count)
            for (first, second) in zip(sorted, sorted.dropFirst())
            where precedes(second[keyPath: path], first[keyPath: path]) {
                Issue.record(
                    "\(column): \(second[keyPath: path]) stands after \(first[keyPath: path]), seed \(dice.seed)")
            }
        }
        func withNaNLast(_ a: Double, _ b: Double) -> Bool { a.isNaN ? false : b.isNaN || a < b }
        try check("int8", \.int8, <)
        try check("int64", \.int64, <)
        try check("uint64", \.uint64, <)
        try check("uint", \.uint, <)
        try check("double", \.double, withNaNLast)
        try check("float", \.float) { withNaNLast(Double($0), Double($1)) }
        try check("date", \.date) { withNaNLast($0.timeIntervalSinceReferenceDate, $1.timeIntervalSinceReferenceDate) }
        try check("text", \.text) { $0.unicodeScalars.lexicographicallyPrecedes($1.unicodeScalars) }
        try check("big", \.big, <)
        try check("bigUnsigned", \.bigUnsigned, <)
        try check("decimal", \.decimal) { $0.isNaN ? false : $1.isNaN || $0 < $1 }
        try check("uuid", \.uuid) { $0.uuidString < $1.uuidString }
        try check("level", \.level) { $0.rawValue < $1.rawValue }
        try check("maybeUint64", \.maybeUint64) { ($0.map { Int128($0) } ?? -1) < ($1.map { Int128($0) } ?? -1) }
    }

    @Test func `a stored value of another type is a typed error`() throws {
        try withStorePath { path in
            let store = try Store(at: path, models: EveryType.self)
            defer { store.close() }
            let object = try store.write { try $0.insert(EveryType()) }
            try store.writer.queue.unsafeReentrantWrite { _ in
                try store.writer.connection.execute("UPDATE EveryType SET int8 = 300")
            }
            let error = failure {
                try store.write { try $0.update(EveryType.self, localID: object.localID) { $0.int = 1 } }
            }
            #expect(error?.code == .invalidValue)
            #expect(error?.model == "EveryType")
            #expect(error?.property == "int8")
            #expect(error?.store == path)
            #expect(try store.checkIntegrity().count == 1)
        }
    }
}

extension Store {
    /// Checks that an object is stored to the last bit.
    fileprivate func expect(
        _ object: EveryType, seed: UInt64 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = differences(try stored(object), object)
        #expect(found == [], "seed \(seed)", sourceLocation: sourceLocation)
    }

    /// Returns an object's properties as a JSON object in the stored form of collections.
    fileprivate func jsonOfProperties(of object: EveryType) throws -> Data {
        var members: [(key: String, value: JSONNode)] = []
        for child in Mirror(reflecting: object).children where child.label != "__state" {
            switch child.value {
            case let place as Place: members.append((child.label!, try json(place)))
            case let place as Place?: members.append((child.label!, try place.map { try json($0) } ?? .null))
            case let level as Level: members.append((child.label!, level.rawValue.__json))
            case let level as Level?: members.append((child.label!, level?.rawValue.__json ?? .null))
            case let color as Color: members.append((child.label!, color.rawValue.__json))
            case let color as Color?: members.append((child.label!, color?.rawValue.__json ?? .null))
            default: members.append((child.label!, try #require(JSONNode(any: child.value))))
            }
        }
        var bytes: [UInt8] = []
        try ExactJSON.writeForeign(.object(members), to: &bytes)
        return Data(bytes)
    }

    private func json(_ value: some Encodable) throws -> JSONNode {
        try CodableStorage.encode(value).withUnsafeBytes { try ExactJSON.parse($0.bindMemory(to: UInt8.self)) }
    }
}
