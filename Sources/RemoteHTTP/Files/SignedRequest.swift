public import HTTPTypes
import Tandem
import TandemSync

/// A signed address. It permits one action for a limited time, to each client that has it.
public struct SignedRequest: Sendable {
    /// The address with its query. It is a secret.
    public var url: String
    /// The header fields that the signature or the storage requires, such as `x-amz-checksum-sha256`.
    public var fields: HTTPFields

    /// Creates a signed address.
    ///
    /// - Parameters:
    ///   - url: The complete address, with its signature.
    ///   - fields: The header fields that the signature requires.
    public init(url: String, fields: HTTPFields = [:]) {
        self.url = url
        self.fields = fields
    }

    /// Returns the request, or `nil` if the address is not a valid HTTP URL.
    package func request(_ method: HTTPRequest.Method, fields own: HTTPFields) -> HTTPRequest? {
        let base = url.prefix { $0 != "?" }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x23 }), url.utf8.count <= 16 << 10,
            let address = ServerAddress(String(base)), let host = base.range(of: "://")?.upperBound
        else { return nil }
        let path = base[host...].drop { $0 != "/" }
        let target = (path.isEmpty ? "/" : String(path)) + url[base.endIndex...]
        var request = HTTPRequest(
            method: method, scheme: address.scheme, authority: address.authority, path: target, headerFields: own)
        for field in fields { request.headerFields[field.name] = field.value }
        return request
    }
}

extension SignedRequest: CustomStringConvertible, CustomReflectable {
    /// The address without the query, which contains the signature.
    public var description: String { String(url.prefix { $0 != "?" && $0 != "#" }) }
    /// A mirror without the query, which contains the signature.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

/// The signed address for an upload, and the file's URL afterwards.
public struct SignedUpload: Sendable {
    /// The request for the `PUT`.
    public var request: SignedRequest
    /// The URL that identifies the file after the upload. Rows store it, so it must not contain a signature.
    public var fileURL: String

    /// Creates the description of an upload.
    ///
    /// - Parameter fileURL: The file's URL; `nil` for the signed address without its query.
    public init(_ request: SignedRequest, fileURL: String? = nil) {
        self.request = request
        self.fileURL = fileURL ?? request.description
    }
}

extension OutgoingFile {
    /// The SHA-256 in base64, as `x-amz-checksum-sha256` requires it. It is empty if ``sha256`` is not valid.
    public var sha256Base64: String { FileFields.base64(sha256) }
}
