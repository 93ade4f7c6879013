import Tandem

/// A store whose pages `tandem browse` serves.
package struct BrowseRequest: Sendable {
    /// The open store.
    package let store: Store
    /// The path of the store.
    package let path: String
    /// Whether the pages can change the store.
    package let isWritable: Bool
    /// The address to listen on.
    package let host: String
    /// The port to listen on; 0 for a free one.
    package let port: Int
    /// More names of this machine, which requests may use.
    package let names: [String]
    /// The password that each browser needs; nil for none.
    package let password: String?
    /// Prints a line for the user.
    package let report: @Sendable (String) -> Void

    /// Creates a request.
    package init(
        store: Store, path: String, isWritable: Bool, host: String = "127.0.0.1", port: Int = 0,
        names: [String] = [], password: String? = nil, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        self.path = path
        self.isWritable = isWritable
        self.host = host
        self.port = port
        self.names = names
        self.password = password
        self.report = report
    }
}
