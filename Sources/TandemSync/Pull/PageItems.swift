import Tandem

/// A page's items as a store takes them: all of them, read before anything is written.
struct PageItems: Sendable {
    private let items: [(item: ServerItem, identity: ServerIdentity)]
    private let model: ModelDefinition

    var ids: [ServerID] { items.map(\.item.serverID) }

    /// - Throws: ``SyncError/Code/badAnswer`` for a value that is none of its property's type.
    init(_ page: ArraySlice<RemoteItem>, _ forms: ItemForms, _ settings: TableSettings) throws {
        model = settings.model
        var places = MemberPlaces()
        items = try page.map { (try Self.stored($0, forms, &places), settings.identity(of: $0)) }
    }

    /// An item read for its model.
    static func stored(_ item: RemoteItem, _ forms: ItemForms) throws -> ServerItem {
        var places = MemberPlaces()
        return try stored(item, forms, &places)
    }

    private static func stored(
        _ item: RemoteItem, _ forms: ItemForms, _ places: inout MemberPlaces
    ) throws -> ServerItem {
        do throws(UnreadableValue) {
            return try forms.stored(item, &places)
        } catch {
            throw SyncError(
                .badAnswer, "The item \(item.id) can't be read: \(error.message)",
                advice: "Tell whoever runs the server, or update the app.", table: forms.model.wireName,
                property: error.member, underlying: error)
        }
    }

    /// Hands the items to the store, within one transaction.
    ///
    /// - Throws: ``SyncError/Code/badAnswer`` for a new object without a value that it needs.
    func receive(into local: any LocalWriting, _ tally: inout PullTally) throws {
        for (item, identity) in items {
            do {
                tally.note(try local.receive(item, in: model.table, identity: identity), of: item.serverID)
            } catch let error as TandemError where error.code == .invalidValue {
                let property = model.properties.first { $0.name == error.property }
                throw SyncError(
                    .badAnswer, "The item \(item.serverID) can't be taken: \(error.message)",
                    advice: error.advice, table: model.wireName, property: property?.wireName ?? error.property,
                    underlying: error)
            }
        }
    }

    /// Hands the items to the store, within one transaction, which may stand in each other's way.
    ///
    /// - Throws: `TandemError` with the code `invalidValue` if one of them is a new object without a value that it needs.
    func receiveTogether(into local: any LocalWriting, _ tally: inout PullTally) throws {
        var together: [ServerItem] = []
        for (item, identity) in items {
            if try Self.mayBeUnsent(identity, local, model.table) {
                tally.note(try local.receive(item, in: model.table, identity: identity), of: item.serverID)
            } else {
                together.append(item)
            }
        }
        // What they carry names no object that could be theirs.
        let identity: ServerIdentity = items.first?.identity == .client ? .client : .server(localID: nil)
        let receipts = try local.receiveTogether(together, in: model.table, identity: identity)
        for (item, receipt) in zip(together, receipts) { tally.note(receipt, of: item.serverID) }
    }

    /// Whether an item carries the local ID of an object here that the server is not known to know.
    private static func mayBeUnsent(
        _ identity: ServerIdentity, _ local: any LocalReading, _ table: String
    ) throws -> Bool {
        guard case .server(let localID?) = identity, try local.hasObject(localID, in: table) else { return false }
        return try local.serverID(of: localID, in: table) == nil
    }
}
