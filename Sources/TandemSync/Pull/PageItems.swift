import Tandem

/// The decoded items of a page. All items are decoded before a write begins. An item that can't be decoded is stored
/// separately and does not affect the others.
struct PageItems: Sendable {
    private let items: [(item: ServerItem, identity: IdentityRule)]
    private let coder: ItemCoder

    /// The model's table in the store.
    private var table: String { coder.model.table }

    var ids: [ServerID] { items.map(\.item.serverID) }

    init(_ page: ArraySlice<RemoteItem>, coder: ItemCoder, settings: TableSettings) {
        self.coder = coder
        var lookup = PropertyLookup()
        items = page.map { item in
            let stored: ServerItem
            do throws(UnreadableValue) {
                stored = try coder.decode(item, lookup: &lookup)
            } catch {
                stored = coder.unreadable(item, error: error)
            }
            return (stored, settings.identity(of: item))
        }
    }

    /// Decodes an item for its model.
    ///
    /// - Throws: ``SyncError/Code/invalidResponse`` if a value does not have its property's type.
    static func decode(_ item: RemoteItem, coder: ItemCoder) throws -> ServerItem {
        do throws(UnreadableValue) {
            return try coder.decode(item)
        } catch {
            throw SyncError(
                .invalidResponse, message: "The item \(item.id) can't be read: \(error.message)",
                advice: "Update the app, or report it to the server's operator.", table: coder.table.rawValue,
                url: coder.url, property: error.member, underlying: error)
        }
    }

    /// Stores the items within one transaction. Also defers a new object that lacks a required value.
    func store(into local: any LocalTransaction, tally: inout PullTally) throws {
        let receipts = try local.applyServerItems(items, in: table)
        for ((item, _), receipt) in zip(items, receipts) { record(receipt, of: item, tally: &tally) }
    }

    private func record(_ receipt: ServerReceipt, of item: ServerItem, tally: inout PullTally) {
        guard case .refused(let error) = receipt, error.code == .invalidValue else {
            return tally.record(receipt, of: item.serverID)
        }
        let refusal = unstorable(item, error: error)
        tally.recordUnreadable(item.serverID, message: refusal.message, error: refusal)
    }

    /// Stores items that may block each other, within one transaction.
    ///
    /// An item that can't be stored, for example a new object that lacks a required value, is recorded as refused. The
    /// others are stored. Each item is counted once.
    func receiveTogether(into local: any LocalTransaction, tally: inout PullTally) throws {
        var refused: [ServerItem] = []
        for (item, identity) in items {
            do {
                let receipt = try local.applyServerItem(item, in: table, identity: identity)
                if case .refused = receipt {
                    refused.append(item)
                } else {
                    tally.record(receipt, of: item.serverID)
                }
            } catch let error as TandemError where error.code == .invalidValue {
                let error = unstorable(item, error: error)
                tally.recordUnreadable(item.serverID, message: error.message, error: error)
            }
        }
        guard !refused.isEmpty else { return }
        // A refused item is new or synced. It does not belong to an unsent local object, whatever values it has.
        let identity: IdentityRule = items.first?.identity == .client ? .client : .server(localID: nil)
        let receipts = try local.receiveTogether(refused, in: table, identity: identity)
        for (item, receipt) in zip(refused, receipts) { tally.record(receipt, of: item.serverID) }
    }

    private func unstorable(_ item: ServerItem, error: TandemError) -> SyncError {
        let property = coder.model.properties.first { $0.name == error.property }
        return SyncError(
            .invalidResponse, message: "The item \(item.serverID) can't be stored: \(error.message)",
            advice: error.advice,
            table: coder.table.rawValue, url: coder.url, property: property?.wireName ?? error.property,
            underlying: error)
    }
}
