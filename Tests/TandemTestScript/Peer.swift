import Tandem

/// How both sides open the store that they share.
package enum Peer {
    package static func open(_ path: String, readOnly: Bool = false, busyTimeout: Double = 60) throws -> Store {
        var configuration = Store.Configuration()
        configuration.isReadOnly = readOnly
        configuration.busyTimeout = busyTimeout
        return try Store(
            at: path, models: PeerCard.self, PeerPerson.self, PeerMark.self, configuration: configuration)
    }
}
