import Foundation
import Tandem
import TandemTesting

/// How both sides open the store that they share.
package enum Peer {
    /// The name of a store's file tells both sides what kind of store it is: "encrypted.tandem", say.
    package static func name(_ kind: StoreKind) -> String { "\(kind).tandem" }

    package static func kind(of path: String) -> StoreKind {
        let name = (path as NSString).lastPathComponent
        return StoreKind.allCases.first { $0 != .memory && name == Self.name($0) } ?? .file
    }

    /// Opens a store with the peer's models, or others, as the kind that its name says or that is given.
    package static func open(
        _ path: String, _ kind: StoreKind? = nil,
        models: [any Model.Type] = [PeerCard.self, PeerPerson.self, PeerMark.self], readOnly: Bool = false,
        busyTimeout: Double = 60
    ) throws -> Store {
        var configuration = Store.Configuration()
        configuration.isReadOnly = readOnly
        configuration.busyTimeout = busyTimeout
        return try (kind ?? self.kind(of: path)).open(at: path, models, configuration: configuration)
    }
}
