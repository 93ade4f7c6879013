import Foundation
import Tandem
import TandemSync

/// A change that needs a decision: its sides and choices, for the template `sync`.
struct ConflictView: Sendable {
    /// A property on all sides.
    struct Row: Sendable {
        let name: String
        let base: String
        let mine: String
        let theirs: String
        /// Whether both sides have changed it.
        let isDisputed: Bool
        /// The name in Swift.
        let property: String
        /// Whether one of both sides has changed it, so that a person chooses.
        let isOpen: Bool
        /// Whether the value before is a choice too.
        let offersBase: Bool
        /// The side that alone has changed it, which is chosen at first.
        let isMine: Bool
        let isTheirs: Bool
    }

    /// A decision that a person can make.
    struct Choice: Sendable {
        let path: String
        let label: String
        let hint: String
    }

    let number: Int64
    /// The version of the change that the page shows. A decision about a newer one is rejected.
    let version: String
    let title: String
    let message: String
    let isConflict: Bool
    let rows: [Row]
    let hasRows: Bool
    /// Whether a person can choose by property: no side has deleted the card.
    let isOpen: Bool
    let choices: [Choice]

    /// Returns all changes that need a decision.
    static func all(of wallet: WebWallet) async throws -> [ConflictView] {
        guard let context = wallet.sync.context else { return [] }
        var views: [ConflictView] = []
        for failed in try await context.failedOperations().prefix(50) {
            do {
                views.append(try await ConflictView(failed, context: context, wallet: wallet))
            } catch TandemError.Code.staleOperation {
                // It was decided meanwhile.
            }
        }
        for operation in try await wallet.store.read({ try $0.operations.all(in: .held, limit: 50) }) {
            views.append(try await ConflictView(held: operation, wallet: wallet))
        }
        return views
    }

    private init(_ failed: TableOperationError, context: SyncContext, wallet: WebWallet) async throws {
        let operation = failed.operation
        number = operation.id
        version = Self.text(of: failed.version)
        message = failed.message
        isConflict = failed.isConflict
        title = try await wallet.store.read { [wallet = wallet.wallet] _ in
            try wallet.title(of: operation.model, id: operation.localID)
        }
        if failed.isConflict, let conflict = try await context.conflict(of: failed.id, on: Card.self) {
            rows = try await wallet.store.read { [store = wallet.store] _ in try Self.rows(conflict, in: store) }
        } else {
            rows = []
        }
        hasRows = !rows.isEmpty
        isOpen = rows.contains { $0.isOpen }
        choices = Self.choices(isConflict: failed.isConflict, isDeletedThere: failed.isDeletedOnServer)
    }

    /// Creates the view of a change that is held back.
    private init(held operation: PendingOperation, wallet: WebWallet) async throws {
        number = operation.id
        version = Self.text(of: operation.version)
        message = "This change is held back, and is not sent."
        isConflict = false
        title = try await wallet.store.read { [wallet = wallet.wallet] _ in
            try wallet.title(of: operation.model, id: operation.localID)
        }
        (rows, hasRows, isOpen) = ([], false, false)
        choices = [Choice(path: "retry", label: "Send it", hint: "The change is sent by the next sync."), Self.discard]
    }

    private static let discard = Choice(
        path: "discard", label: "Undo my change", hint: "The card gets its earlier values.")

    private static func choices(isConflict: Bool, isDeletedThere: Bool) -> [Choice] {
        guard isConflict else {
            return [Choice(path: "retry", label: "Send again", hint: "The server may accept it now."), discard]
        }
        return [
            Choice(path: "mine", label: "Keep all of mine", hint: "The server gets your values."),
            Choice(
                path: "theirs", label: "Take all of theirs",
                hint: isDeletedThere ? "The card is deleted here too." : "Your values are dropped."),
        ]
    }

    /// The properties that a page shows, with their labels.
    private static let properties = [
        ("shop", "Shop"), ("barcode", "Number"), ("points", "Points"), ("owner", "Owner"), ("photo", "Photo"),
        ("brand", "Brand"),
    ]

    /// Returns whether a person can choose the value of a property.
    static func isChoosable(_ property: String) -> Bool { properties.contains { $0.0 == property } }

    /// Returns the properties of a card on all sides. A brand, which no page shows, is left out while it is unchanged.
    static func rows(_ conflict: Conflict<Card>, in store: Store) throws -> [Row] {
        let both = conflict.changedHere.intersection(conflict.changedThere)
        let changed = conflict.changedHere.union(conflict.changedThere)
        let isDeleted = conflict.local == nil || conflict.server == nil
        return try properties.filter { $0.0 != "brand" || changed.contains($0.0) }.map { property, name in
            let (isDisputed, isOpen) = (both.contains(property), !isDeleted && changed.contains(property))
            // The server may have deleted the file of an earlier photo.
            let hasBase = conflict.base.map { property != "photo" || $0.photo == nil } ?? false
            return Row(
                name: name, base: try words(property, of: conflict.base, in: store) ?? "new",
                mine: try words(property, of: conflict.local, in: store) ?? "deleted",
                theirs: try words(property, of: conflict.server, in: store) ?? "deleted",
                isDisputed: isDisputed, property: property, isOpen: isOpen,
                offersBase: isOpen && isDisputed && hasBase,
                isMine: isOpen && !isDisputed && conflict.changedHere.contains(property),
                isTheirs: isOpen && !isDisputed && conflict.changedThere.contains(property))
        }
    }

    private static func words(_ property: String, of card: Card?, in store: Store) throws -> String? {
        guard let card else { return nil }
        switch property {
        case "shop": return card.shop
        case "barcode": return EAN13(card.barcode)?.printed ?? card.barcode
        case "points": return card.points.grouped
        case "owner": return try store.object(card.owner)?.name ?? "–"
        case "brand": return try store.object(card.brand)?.name ?? "–"
        default: return card.photo?.name ?? "–"
        }
    }

    /// Returns the exact text of a version.
    static func text(of version: PendingOperation.Version) -> String {
        "\(version.id)-\(version.changedAt.timeIntervalSinceReferenceDate.bitPattern)"
    }

    /// Parses the text of a version.
    static func version(_ text: String) -> PendingOperation.Version? {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let id = Int64(parts[0]), let bits = UInt64(parts[1]) else { return nil }
        return PendingOperation.Version(
            id: id, changedAt: Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
    }
}
