public import HTTPTypes
import Tandem
import TandemSync

/// An address that somebody has signed: whoever has it may do one thing, for a while.
public struct SignedRequest: Sendable {
    /// The address with its query: a secret.
    public var url: String
    /// The fields that the signature asks for, such as `x-amz-checksum-sha256`, or that the storage does.
    public var fields: HTTPFields

    /// A signed address.
    public init(url: String, fields: HTTPFields = [:]) {
        self.url = url
        self.fields = fields
    }

    /// The request; nil if the address is none of HTTP.
    func request(_ method: HTTPRequest.Method, _ own: HTTPFields) -> HTTPRequest? {
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
    /// Without the query, in which the signature is.
    public var description: String { String(url.prefix { $0 != "?" && $0 != "#" }) }
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

/// Where a file is sent to, and where it is then.
public struct SignedUpload: Sendable {
    /// Where to `PUT` it.
    public var request: SignedRequest
    /// What it is known by from then on: goes into rows, and so has no signature in it.
    public var fileURL: String

    /// - Parameter fileURL: `nil` for the signed address without its query.
    public init(_ request: SignedRequest, fileURL: String? = nil) {
        self.request = request
        self.fileURL = fileURL ?? request.description
    }
}

extension OutgoingFile {
    /// Its SHA-256 as `x-amz-checksum-sha256` has it: in base64.
    public var sha256Base64: String { FileFields.base64(sha256) }
}
