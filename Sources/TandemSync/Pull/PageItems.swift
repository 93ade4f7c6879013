import Tandem

/// The decoded items of a page. All items are decoded before a write begins. An item that can't be decoded is stored
/// separately and does not affect the others.
struct PageItems: Sendable {
    private let items: [(item: ServerItem, identity: ServerIdentity)]
    private let forms: ItemForms

    /// The model's table in the store.
    private var table: String { forms.model.table }

    var ids: [ServerID] { items.map(\.item.serverID) }

    init(_ page: ArraySlice<RemoteItem>, _ forms: ItemForms, _ settings: TableSettings) {
        self.forms = forms
        var places = MemberPlaces()
        items = page.map { item in
            let stored: ServerItem
            do throws(UnreadableValue) {
                stored = try forms.stored(item, &places)
            } catch {
                stored = forms.unreadable(item, error)
            }
            return (stored, settings.identity(of: item))
        }
    }

    /// Decodes an item for its model.
    ///
    /// - Throws: ``SyncError/Code/badAnswer`` if a value does not have its property's type.
    static func stored(_ item: RemoteItem, _ forms: ItemForms) throws -> ServerItem {
        do throws(UnreadableValue) {
            return try forms.stored(item)
        } catch {
            throw SyncError(
                .badAnswer, "The item \(item.id) can't be read: \(error.message)",
                advice: "Update the app, or report it to the server's operator.", table: forms.table.rawValue,
                url: forms.url, property: error.member, underlying: error)
        }
    }

    /// Stores the items within one transaction. Also defers a new object that lacks a required value.
    func receive(into local: any LocalWriting, _ tally: inout PullTally) throws {
        for (item, identity) in items {
            do {
                note(try local.receive(item, in: table, identity: identity), of: item, &tally)
            } catch let error as TandemError where error.code == .invalidValue {
                var kept = item
                kept.unreadable = error
                note(try local.receive(kept, in: table, identity: identity), of: kept, &tally)
            }
        }
    }

    private func note(_ receipt: ServerReceipt, of item: ServerItem, _ tally: inout PullTally) {
        guard case .refused(let error) = receipt, item.unreadable != nil else {
            return tally.note(receipt, of: item.serverID)
        }
        let refusal = untakeable(item, error)
        tally.noteUnreadable(item.serverID, refusal.message, refusal)
    }

    /// Stores items that may block each other, within one transaction.
    ///
    /// An item that can't be stored, for example a new object that lacks a required value, is recorded as refused. The
    /// others are stored. Each item is counted once.
    func receiveTogether(into local: any LocalWriting, _ tally: inout PullTally) throws {
        var refused: [ServerItem] = []
        for (item, identity) in items {
            do {
                let receipt = try local.receive(item, in: table, identity: identity)
                if case .refused = receipt {
                    refused.append(item)
                } else {
                    tally.note(receipt, of: item.serverID)
                }
            } catch let error as TandemError where error.code == .invalidValue {
                let error = untakeable(item, error)
                tally.noteUnreadable(item.serverID, error.message, error)
            }
        }
        guard !refused.isEmpty else { return }
        // A refused item is new or synced. It does not belong to an unsent local object, whatever values it has.
        let identity: ServerIdentity = items.first?.identity == .client ? .client : .server(localID: nil)
        let receipts = try local.receiveTogether(refused, in: table, identity: identity)
        for (item, receipt) in zip(refused, receipts) { tally.note(receipt, of: item.serverID) }
    }

    private func untakeable(_ item: ServerItem, _ error: TandemError) -> SyncError {
        let property = forms.model.properties.first { $0.name == error.property }
        return SyncError(
            .badAnswer, "The item \(item.serverID) can't be taken: \(error.message)", advice: error.advice,
            table: forms.table.rawValue, url: forms.url, property: property?.wireName ?? error.property,
            underlying: error)
    }
}
