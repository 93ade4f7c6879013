/// Limits for the data that a server may send.
public struct ResponseLimits: Hashable, Sendable {
    /// The maximum size of a response body, in bytes.
    ///
    /// A JSON body that consists mostly of commas takes many times its size in memory. Raise this limit only if that
    /// memory is available.
    public var bytes = 16 << 20
    /// The maximum number of characters kept of a server's error message.
    public var message = 500
    /// The maximum length of an ID, in bytes of UTF-8.
    public var id = 255
    /// The maximum length of a version, in bytes. A version travels in a header, and servers limit the size of headers.
    public var version = 4096

    /// Creates the default limits.
    public init() {}
}
