/// A user or a group of users of a Kinto server, as permissions name them.
///
/// For example:
///
/// ```swift
/// let maria: KintoPrincipal = .account("maria")
/// let family: KintoPrincipal = .group("family", of: "cards")
/// ```
public struct KintoPrincipal: RawRepresentable, Hashable, Sendable {
    /// The name, as the server spells it.
    public let rawValue: String

    /// Creates a principal from the server's spelling, for example from ``KintoRemote/principal()`` on another device.
    ///
    /// - Parameter rawValue: The name, as the server spells it.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Any user, also without credentials.
    public static let everyone = KintoPrincipal(rawValue: "system.Everyone")
    /// Any user with valid credentials.
    public static let authenticated = KintoPrincipal(rawValue: "system.Authenticated")

    /// Returns the user of an account of the accounts plugin.
    ///
    /// - Parameter name: The name of the account.
    public static func account(_ name: String) -> KintoPrincipal { KintoPrincipal(rawValue: "account:\(name)") }

    /// Returns a group of users.
    ///
    /// - Parameters:
    ///   - name: The name of the group.
    ///   - bucket: The bucket that has the group.
    public static func group(_ name: String, of bucket: String) -> KintoPrincipal {
        KintoPrincipal(rawValue: "/buckets/\(bucket)/groups/\(name)")
    }
}

extension KintoPrincipal: CustomStringConvertible {
    /// The name, as the server spells it.
    public var description: String { rawValue }
}
