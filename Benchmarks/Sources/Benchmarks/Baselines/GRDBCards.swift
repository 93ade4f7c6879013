import BigInt
import Foundation
import GRDB
import Tandem

/// A card as a GRDB app would define it: a Codable record with the columns of Tandem's table.
struct GRDBCard: Codable, FetchableRecord, MutablePersistableRecord, CardFields {
    static let databaseTableName = "Card"

    var rowID: Int64?
    var localID: String
    var serverID: String?
    var isSynced = false
    var isDeleted = false
    var version: String?
    var createdAt: Date?
    var updatedAt: Date?
    var shop: String
    var name: String
    var barcode: String
    var points: OrderedInteger
    var isPinned: Bool
    var createdOn: Date
    var payload: Data
    var note: String?
    var owner: String?
    var sortShop: Data?
    var searchShop: String?

    enum CodingKeys: String, CodingKey, ColumnExpression {
        case rowID = "__rid"
        case localID, serverID
        case isSynced = "synced"
        case isDeleted = "deleted"
        case version, createdAt, updatedAt, shop, name, barcode, points, isPinned, createdOn, payload, note, owner
        case sortShop = "__sort_shop"
        case searchShop = "__search_shop"
    }

    var amount: BigInt { points.value }
    var ownerID: String? { owner }

    init(_ card: Card) {
        localID = card.localID.rawValue
        shop = card.shop
        name = card.name
        barcode = card.barcode
        points = OrderedInteger(value: card.points)
        isPinned = card.isPinned
        createdOn = card.createdOn
        payload = card.payload
        note = card.note
        owner = card.owner?.localID.rawValue
        sortShop = Data(SortLanguage.root.sortKey(card.shop))
        searchShop = Folding.searchKey(card.shop)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        rowID = inserted.rowID
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSinceReferenceDate
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSinceReferenceDate
    }
}

/// A BigInt in a column.
struct OrderedInteger: Codable, DatabaseValueConvertible {
    let value: BigInt

    var databaseValue: DatabaseValue {
        var scratch = Scratch()
        defer { scratch.free() }
        return Data(RawInteger.put(value, into: &scratch)).databaseValue
    }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> OrderedInteger? {
        Data.fromDatabaseValue(dbValue).map { $0.withUnsafeBytes { OrderedInteger(value: RawInteger.get($0)) } }
    }
}

/// An operation as a record.
struct GRDBOperation: Codable, PersistableRecord {
    static let databaseTableName = "__operations"

    var table: String
    var object: Int64
    var localID: String
    var kind: Int
    var changedAt: Double
    var changes: Data?
}

/// Tandem's work on cards with GRDB, as its documentation recommends: records, a pool, `read` and `write`.
final class GRDBCards: Sendable {
    private let pool: DatabasePool

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; PRAGMA mmap_size = \(256 << 20); \
                    PRAGMA synchronous = NORMAL
                    """)
        }
        pool = try DatabasePool(path: path, configuration: configuration)
    }

    func close() throws {
        try pool.close()
    }

    // MARK: Writing

    func insert(_ cards: [Card]) throws {
        try pool.write { db in
            let now = Date()
            for card in cards { try Self.insert(card, at: now, in: db) }
        }
    }

    func insertEachAlone(_ cards: [Card]) throws {
        for card in cards {
            try pool.write { db in try Self.insert(card, at: Date(), in: db) }
        }
    }

    private static func insert(_ card: Card, at now: Date, in db: Database) throws {
        var record = GRDBCard(card)
        try record.insert(db)
        try db.cachedStatement(sql: "INSERT INTO \"__search_Card\" (rowid, \"__search_shop\") VALUES (?, ?)")
            .execute(arguments: [record.rowID, record.searchShop])
        try GRDBOperation(
            table: "Card", object: record.rowID!, localID: record.localID, kind: 1,
            changedAt: now.timeIntervalSinceReferenceDate
        ).insert(db)
    }

    func flipPins(_ ids: [LocalID]) throws {
        try pool.write { db in
            let now = Date()
            for id in ids {
                guard var card = try GRDBCard.fetchOne(db, key: ["localID": id.rawValue]) else { continue }
                let base = card.isPinned
                try card.updateChanges(db) {
                    $0.isPinned.toggle()
                    $0.isSynced = false
                }
                let name = "isPinned"
                let changes: [UInt8] =
                    [1, 1, UInt8(name.utf8.count)] + name.utf8 + [1, 0, 0, 0, 0, 0, 0, 0, base ? 1 : 0]
                try GRDBOperation(
                    table: "Card", object: card.rowID!, localID: card.localID, kind: 2,
                    changedAt: now.timeIntervalSinceReferenceDate, changes: Data(changes)
                ).insert(db)
            }
        }
    }

    // MARK: Reading

    func readInOneTransaction(_ ids: [LocalID]) throws -> Tally {
        try pool.read { db in
            var tally = Tally()
            for id in ids {
                if let card = try GRDBCard.fetchOne(db, key: ["localID": id.rawValue]) { tally.add(card) }
            }
            return tally
        }
    }

    func readEachAlone(_ ids: [LocalID]) throws -> Tally {
        var tally = Tally()
        for id in ids {
            let card = try pool.read { try GRDBCard.fetchOne($0, key: ["localID": id.rawValue]) }
            if let card { tally.add(card) }
        }
        return tally
    }

    func all() throws -> [GRDBCard] {
        try pool.read { db in
            try GRDBCard.filter { _ in GRDBCard.CodingKeys.isDeleted == false }
                .order(GRDBCard.CodingKeys.localID).fetchAll(db)
        }
    }
}
