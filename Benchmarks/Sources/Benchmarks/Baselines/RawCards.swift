import BigInt
import Foundation
import GRDBSQLite
import Tandem

/// A card as the raw baseline reads it: the same fields of the same types as ``Card`` with its state.
struct RawCard: CardFields {
    struct State {
        var localID: String
        var serverID: String?
        var version: String?
        var createdAt: Date?
        var updatedAt: Date?
        var rowID: Int64
        var isSynced: Bool
        var isDeleted: Bool
    }
    var shop: String
    var name: String
    var barcode: String
    var points: BigInt
    var isPinned: Bool
    var createdOn: Date
    var payload: Data
    var note: String?
    var owner: String?
    var state: State

    var amount: BigInt { points }
    var ownerID: String? { owner }

    @inline(__always)
    init(_ row: RawStatement) {
        state = State(
            localID: row.text(1), serverID: row.optionalText(2), version: row.optionalText(5),
            createdAt: row.isNull(6) ? nil : row.date(6), updatedAt: row.isNull(7) ? nil : row.date(7),
            rowID: row.integer(0), isSynced: row.integer(3) != 0, isDeleted: row.integer(4) != 0)
        shop = row.text(8)
        name = row.text(9)
        barcode = row.text(10)
        points = RawInteger.get(row.bytes(11))
        isPinned = row.integer(12) != 0
        createdOn = row.date(13)
        payload = Data(row.bytes(14))
        note = row.optionalText(15)
        owner = row.optionalText(16)
    }
}

/// Tandem's work on cards with SQLite's C API and prepared statements.
///
/// It writes the same data as Tandem: the row with its folded twins, its entry in the search index, and its operation.
final class RawCards {
    private let connection: RawConnection
    private let beginWrite, beginRead, commit: RawStatement
    private let insertCard, insertSearch, insertOperation: RawStatement
    private let select, selectAny, selectAll, pin: RawStatement
    private var scratch = Scratch()
    private let table: UnsafeRawBufferPointer
    private var names = Scratch()

    static let columns = """
        "__rid", "localID", "serverID", "synced", "deleted", "version", "createdAt", "updatedAt", "shop", "name", \
        "barcode", "points", "isPinned", "createdOn", "payload", "note", "owner"
        """

    init(_ path: String, readOnly: Bool = false) throws {
        connection = try RawConnection(path, readOnly: readOnly, cacheKiB: readOnly ? 16384 : 65536)
        beginWrite = try connection.prepare("BEGIN IMMEDIATE")
        beginRead = try connection.prepare("BEGIN DEFERRED")
        commit = try connection.prepare("COMMIT")
        insertCard = try connection.prepare(
            """
            INSERT INTO "Card" ("localID", "serverID", "synced", "deleted", "version", "createdAt", "updatedAt", \
            "shop", "name", "barcode", "points", "isPinned", "createdOn", "payload", "note", "owner", \
            "__sort_shop", "__search_shop") VALUES (?, NULL, 0, 0, NULL, NULL, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insertSearch = try connection.prepare("INSERT INTO \"__search_Card\" (rowid, \"__search_shop\") VALUES (?, ?)")
        insertOperation = try connection.prepare(
            """
            INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt", "changes") \
            VALUES (?, ?, ?, ?, ?, ?)
            """)
        select = try connection.prepare(
            "SELECT \(Self.columns) FROM \"Card\" WHERE \"localID\" = ? AND \"deleted\" = 0")
        selectAny = try connection.prepare("SELECT \(Self.columns) FROM \"Card\" WHERE \"localID\" = ?")
        selectAll = try connection.prepare(
            "SELECT \(Self.columns) FROM \"Card\" WHERE \"deleted\" = 0 ORDER BY \"localID\"")
        pin = try connection.prepare("UPDATE \"Card\" SET \"isPinned\" = ?, \"synced\" = 0 WHERE \"__rid\" = ?")
        table = names.put("Card")
    }

    func close() {
        for statement in [
            beginWrite, beginRead, commit, insertCard, insertSearch, insertOperation, select, selectAny, selectAll, pin,
        ] { statement.finalize() }
        scratch.free()
        names.free()
        connection.close()
    }

    // MARK: Writing

    func insert(_ cards: [Card]) throws {
        try beginWrite.run()
        let now = Date().timeIntervalSinceReferenceDate
        for card in cards { try insert(card, at: now) }
        try commit.run()
    }

    func insertEachAlone(_ cards: [Card]) throws {
        for card in cards {
            try beginWrite.run()
            try insert(card, at: Date().timeIntervalSinceReferenceDate)
            try commit.run()
        }
    }

    @inline(__always)
    private func insert(_ card: Card, at now: Double) throws {
        scratch.clear()
        let localID = scratch.put(card.localID.rawValue)
        insertCard.bind(1, text: localID)
        insertCard.bind(2, text: scratch.put(card.shop))
        insertCard.bind(3, text: scratch.put(card.name))
        insertCard.bind(4, text: scratch.put(card.barcode))
        insertCard.bind(5, blob: RawInteger.put(card.points, into: &scratch))
        insertCard.bind(6, to: card.isPinned)
        insertCard.bind(7, to: card.createdOn.timeIntervalSinceReferenceDate)
        insertCard.bind(8, blob: card.payload.withUnsafeBytes { scratch.put($0) })
        if let note = card.note { insertCard.bind(9, text: scratch.put(note)) } else { insertCard.bindNull(9) }
        if let owner = card.owner {
            insertCard.bind(10, text: scratch.put(owner.localID.rawValue))
        } else {
            insertCard.bindNull(10)
        }
        insertCard.bind(11, blob: SortLanguage.root.sortKey(card.shop).withUnsafeBytes { scratch.put($0) })
        let searchKey = scratch.put(Folding.searchKey(card.shop))
        insertCard.bind(12, text: searchKey)
        try insertCard.run()
        let rowID = sqlite3_last_insert_rowid(connection.handle)

        insertSearch.bind(1, to: rowID)
        insertSearch.bind(2, text: searchKey)
        try insertSearch.run()

        insertOperation.bind(1, text: table)
        insertOperation.bind(2, to: rowID)
        insertOperation.bind(3, text: localID)
        insertOperation.bind(4, to: Int64(1))
        insertOperation.bind(5, to: now)
        insertOperation.bindNull(6)
        try insertOperation.run()
    }

    /// Toggles the pins of cards: reads each card, compares old and new values, writes the changes, and queues an
    /// operation with the old value.
    func flipPins(_ ids: [LocalID]) throws {
        try beginWrite.run()
        let now = Date().timeIntervalSinceReferenceDate
        for id in ids {
            scratch.clear()
            let localID = scratch.put(id.rawValue)
            selectAny.bind(1, text: localID)
            guard try selectAny.step() else { throw RawError(code: SQLITE_ERROR, message: "no card") }
            let old = RawCard(selectAny)
            selectAny.reset()
            var new = old
            new.isPinned.toggle()
            guard new.changesOnlyPin(from: old) else { throw RawError(code: SQLITE_ERROR, message: "other changes") }

            pin.bind(1, to: new.isPinned)
            pin.bind(2, to: old.state.rowID)
            try pin.run()

            insertOperation.bind(1, text: table)
            insertOperation.bind(2, to: old.state.rowID)
            insertOperation.bind(3, text: localID)
            insertOperation.bind(4, to: Int64(2))
            insertOperation.bind(5, to: now)
            insertOperation.bind(6, blob: base(isPinned: old.isPinned))
            try insertOperation.run()
        }
        try commit.run()
    }

    /// Returns an operation's encoding of the old value of a Bool: see Tandem's PropertyBases.
    private func base(isPinned: Bool) -> UnsafeRawBufferPointer {
        let name = "isPinned"
        let bytes: [UInt8] = [1, 1, UInt8(name.utf8.count)] + name.utf8 + [1, 0, 0, 0, 0, 0, 0, 0, isPinned ? 1 : 0]
        return bytes.withUnsafeBytes { scratch.put($0) }
    }

    // MARK: Reading

    func readInOneTransaction(_ ids: [LocalID], counting tally: inout Tally) throws {
        try beginRead.run()
        try readEachAlone(ids, counting: &tally)
        try commit.run()
    }

    /// Outside a transaction, each statement is a transaction of its own.
    func readEachAlone(_ ids: [LocalID], counting tally: inout Tally) throws {
        for id in ids {
            var text = id.rawValue
            try text.withUTF8 { bytes in
                select.bind(1, text: UnsafeRawBufferPointer(bytes))
                if try select.step() { tally.add(RawCard(select)) }
                select.reset()
            }
        }
    }

    func all() throws -> [RawCard] {
        var cards: [RawCard] = []
        while try selectAll.step() { cards.append(RawCard(selectAll)) }
        selectAll.reset()
        return cards
    }
}

extension RawCard {
    func changesOnlyPin(from old: RawCard) -> Bool {
        isPinned != old.isPinned && shop == old.shop && name == old.name && barcode == old.barcode
            && points == old.points && createdOn == old.createdOn && payload == old.payload && note == old.note
            && owner == old.owner
    }
}
