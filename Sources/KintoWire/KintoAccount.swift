import Foundation
import HTTPTypes
import RemoteHTTP

/// An account of Kinto's accounts plugin: a name and a password.
///
/// For example:
///
/// ```swift
/// let account = KintoAccount(name: "anna", password: password)
/// let server = try KintoServer(url: serverURL, bucket: "cards", account: account)
/// ```
public struct KintoAccount: Sendable {
    /// The account's name.
    public var name: String
    /// The password. It is not part of any description.
    public var password: String

    /// Creates an account.
    ///
    /// - Parameters:
    ///   - name: The account's name, without a colon.
    ///   - password: The password.
    public init(name: String, password: String) {
        self.name = name
        self.password = password
    }

    /// The header fields that identify the account.
    public var fields: HTTPFields { .basic(user: name, password: password) }

    /// Returns the fields of this account for each request of them.
    public var authentication: Authentication {
        let fields = fields
        return { _ in fields }
    }
}

extension KintoAccount: CustomStringConvertible, CustomReflectable {
    /// A description without the password, since descriptions go into logs.
    public var description: String { "KintoAccount(name: \(name))" }
    /// A mirror without the password.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
