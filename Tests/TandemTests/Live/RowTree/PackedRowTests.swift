import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Rows of live lists, which are decoded on access.
@Suite(.ownThreads) struct PackedRowTests {
    @Test(arguments: StoreKind.allCases)
    func `objects of a live list equal the stored objects`(_ kind: StoreKind) throws {
        try kind.withStore(EveryType.self) { store in
            var dice = Dice(seed: 22)
            let count = isSoak ? 200 : 80
            try store.put((0..<count).map { _ in EveryType.random(&dice) })
            let queries = [
                store.objects(EveryType.self).sorted(by: \.text),
                store.objects(EveryType.self).sorted(by: \.text, ascending: false),
                store.objects(EveryType.self),
            ]
            for query in queries {
                let list = query.collectionPublisher.on(.immediate).record()
                let stored = try query.all()
                let live = try #require(list.values.last)
                #expect(live.count == count)
                #expect(live.map(StoredForm.init) == stored.map(StoredForm.init))
                #expect(live.indices.map { StoredForm(live[$0]) } == stored.map(StoredForm.init))
                list.cancel()
            }
        }
    }

    @Test func `objects of a change equal the stored objects`() throws {
        try StoreKind.memory.withStore(EveryType.self) { store in
            var dice = Dice(seed: 23)
            try store.put((0..<50).map { _ in EveryType.random(&dice) })
            let query = store.objects(EveryType.self).sorted(by: \.text)
            let list = query.collectionPublisher.on(.immediate).record()
            for object in try query.all() {
                var other = EveryType.random(&dice)
                other.__state = object.__state
                _ = try store.write { try $0.update(other) }
                let live = try #require(list.values.last)
                let stored = try query.all()
                #expect(live.map(StoredForm.init) == stored.map(StoredForm.init))
            }
            list.cancel()
        }
    }

    /// Another program can write values in other storage classes. SQLite converts them when they are read.
    @Test(
        arguments: [
            #""ratio" = 3"#, #""ratio" = '2.5'"#, #""ratio" = 'x'"#, #""date" = 7"#, #""data" = 'text'"#,
            #""ratio" = '0x10'"#, #""ratio" = 'inf'"#, #""ratio" = 'nan'"#, #""count" = '0x10'"#,
            #""data" = 12"#, #""data" = X''"#, #""count" = X'3132'"#, #""count" = 'abc'"#, #""count" = 2.5"#,
            #""isOn" = 'x'"#, #""isOn" = 4294967296"#, #""name" = X'4142'"#, #""name" = 12"#, #""note" = X''"#,
            #""level" = X'32'"#, #""large" = '12'"#, #""synced" = 'x'"#, #""version" = X'41'"#,
            #""name" = '0193a1b2-c3d4-7000-8000-00000000000a'"#, #""name" = '0193A1B2-c3d4-7000-8000-00000000000A'"#,
            #""note" = 'Имя'"#, #""note" = 'мя'"#, #""data" = zeroblob(600)"#, #""data" = zeroblob(119)"#,
            #""data" = zeroblob(118)"#, #""serverID" = "localID""#,
        ])
    func `a value in any form is decoded as it is read`(change: String) throws {
        try StoreKind.memory.withStore(LooseColumns.self) { store in
            let object = try store.write { try $0.insert(LooseColumns(name: "Имя")) }
            let query = store.objects(LooseColumns.self).sorted(by: \.name)
            let list = query.collectionPublisher.on(.immediate).record()
            try store.write { try $0.connection.execute(#"UPDATE "LooseColumns" SET \#(change)"#) }
            let stored = try #require(try store.object(ofType: LooseColumns.self, forPrimaryKey: object.localID))
            let row = try #require(try store.sql(#"SELECT * FROM "LooseColumns""#).first)
            let values = LooseColumns.__definition.properties.map { ($0.name, row[$0.column] ?? .null) }
            let made = try ModelValues.object(
                LooseColumns.self, values: Dictionary(uniqueKeysWithValues: values), localID: object.localID,
                serverID: stored.serverID, version: stored.version, updatedAt: nil)
            #expect(StoredForm(made).values == StoredForm(stored).values)
            #expect(StoredForm(made).bytes == StoredForm(stored).bytes)
            let again = query.collectionPublisher.on(.immediate).record()
            for recorder in [list, again] {
                #expect(recorder.error == nil)
                #expect(recorder.values.last?.map(StoredForm.init) == [StoredForm(stored)])
                #expect(recorder.values.last?.localIDs.map(\.rawValue) == [object.localID.rawValue])
                recorder.cancel()
            }
        }
    }

    @Test(
        arguments: [
            (#""level" = 99"#, "level"), (#""small" = 1000"#, "small"), (#""date" = X'00'"#, "date"),
            (#""ratio" = X'0102'"#, "ratio"), (#""large" = -1"#, "large"), (#""large" = X'00'"#, "large"),
            (#""words" = 'x'"#, "words"), (#""updatedAt" = X'00'"#, "updatedAt"),
        ])
    func `a value that can't be read ends the list before an access`(change: String, property: String) throws {
        try StoreKind.memory.withStore(LooseColumns.self) { store in
            _ = try store.write { try $0.insert(LooseColumns(name: "Имя")) }
            let query = store.objects(LooseColumns.self).sorted(by: \.name)
            let list = query.collectionPublisher.on(.immediate).record()
            #expect(list.values.count == 1)
            try store.write { try $0.connection.execute(#"UPDATE "LooseColumns" SET \#(change)"#) }
            let again = query.collectionPublisher.on(.immediate).record()
            for recorder in [list, again] {
                #expect(recorder.error?.code == .invalidValue)
                #expect(recorder.error?.property == property)
            }
            #expect(list.values.count == 1 && again.values.isEmpty)
            // The last result is still decoded.
            #expect(list.values.last?.first?.name == "Имя")
        }
    }

    @Test func `a live list takes little more memory than its rows`() throws {
        try StoreKind.memory.withStore(LooseColumns.self) { store in
            try store.write { tx in
                for number in 0..<2_000 { try tx.insert(LooseColumns(name: "Пятёрочка Москва \(number)")) }
            }
            func bytes(_ maker: RowMaker) throws -> Int {
                let query = store.objects(LooseColumns.self).sorted(by: \.name).query
                let reading = RowReading(maker: maker, section: nil, order: RowOrder(query.order))
                let part = ListPart(LiveList(query, reading: reading, in: store.schema), tuning: LiveTuning())
                try store.live.read(store) { try part.load($0) }
                var bytes = 0
                part.consumeChanges().new.tree.forEachLeaf { bytes += $0.byteCount }
                return bytes / 2_000
            }
            // The ID has 16 bytes, the digest 8, the lengths and the rowid 5, and the start 4. The key has the rest.
            let references = try bytes(.references(LooseColumns.__definition, observed: nil))
            #expect(references <= 45)
            // A tag and the value of each of 16 columns. The name is in the key.
            let objects = try bytes(.objects(LooseColumns.__definition, observed: nil))
            #expect(objects <= 90)
        }
    }

    @Test func `packed UUIDs have the order of their texts`() throws {
        var random = SeededGenerator.seeded()
        var texts: [String] = []
        for _ in 0..<500 {
            let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = bytes.withUnsafeBytes { PackedUUID.text($0.baseAddress!) }
            let uuid = try #require(UUID(uuidString: text))
            #expect(withUnsafeBytes(of: uuid.uuid) { Array($0) } == bytes)
            #expect(text == uuid.uuidString.lowercased())
            let words = bytes.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64).self) }
            #expect(PackedUUID.text(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1)) == text)
            texts += [text, text.uppercased(), String(text.dropLast()), text.replacingOccurrences(of: "-", with: "a")]
        }
        let rows = texts.enumerated().map { LiveRow(rowID: Int64($0), key: [], localID: LocalID($1)) }
        for (row, text) in zip(rows, texts) {
            #expect(row.localID.rawValue == text)
            let isUUID = UUID(uuidString: text) != nil && text == text.lowercased()
            #expect(row.withView(\.isPacked) == isUUID)
        }
        var sorted = Array(Set(texts)).map { LiveRow(rowID: 1, key: [], localID: LocalID($0)) }
        RowTree.sort(&sorted)
        #expect(sorted.map(\.localID.rawValue) == Set(texts).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }
}

/// The stored form of an object, with all bits of its values.
private struct StoredForm: Equatable {
    let state: ObjectState
    let rowID: Int64
    let values: String
    let bytes: [UInt8]

    init(_ object: some Model) {
        let row = RowEncoder()
        object.__append(to: row)
        state = object.__state
        rowID = state.rowID
        values = row.slots.map { "\($0.tag) \($0.bits) \($0.count)" }.joined(separator: ",")
        bytes = row.bytes
    }
}

/// A model whose columns can contain values in several storage classes.
@Model struct LooseColumns {
    enum Level: Int, Codable {
        case low = 1
        case high = 2
    }

    var name: String
    var count = 0
    var small: Int8 = 0
    var isOn = false
    var ratio = 0.5
    var date: Date = Date(timeIntervalSinceReferenceDate: 5)
    var data: Data = Data([1, 2])
    var large: UInt64 = 1
    var note: String?
    var level: Level = .low
    var words: [String] = []
}
