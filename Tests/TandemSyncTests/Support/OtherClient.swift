import Foundation
import Tandem
import TandemSync

@testable import DatasyncWire

/// Another client of the server, without a store.
struct OtherClient: Sendable {
    let world: SyncWorld

    /// Inserts or replaces a card.
    func card(
        _ id: ServerID, shop: String = "Лента", barcode: String? = nil, points: JSONNode = .integer(0),
        owner: ServerID? = nil, nickname: String? = nil, extra: [RemoteItem.Member] = []
    ) async throws {
        try await put(
            "Card", id,
            [
                ("shop", .text(shop)), ("barcode", .text(barcode ?? "b\(id)")), ("points", points),
                ("nickname", nickname.map { .text($0) } ?? .null), ("expires", .null),
                ("owner", owner.map { .text($0.rawValue) } ?? .null),
            ] + extra)
    }

    func person(_ id: ServerID, _ name: String, friend: ServerID? = nil) async throws {
        try await put(
            "Person", id,
            [
                ("name", .text(name)), ("friend", friend.map { .text($0.rawValue) } ?? .null), ("pets", .text("[]")),
            ])
    }

    /// Inserts or replaces an item, whatever its version.
    func put(_ table: RemoteTableName, _ id: ServerID, _ members: [RemoteItem.Member]) async throws {
        let item = OutgoingItem(table: table, id: id, members: members, changed: Set(members.map(\.key)))
        do throws(RemoteFailure) {
            _ = try await world.remote().insert(item)
        } catch {
            guard case .conflict = error else { throw error }
            _ = try await world.remote().update(item)
        }
    }

    func delete(_ table: RemoteTableName, _ id: ServerID) async throws {
        _ = try await world.remote().delete(OutgoingItem(table: table, id: id))
    }
}

extension SyncWorld {
    var others: OtherClient { OtherClient(world: self) }
}
