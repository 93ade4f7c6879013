import RemoteHTTP
import Tandem
import TandemSync

/// The paths of a bucket's resources, relative to the API: `/buckets/cards/collections/Card/records`.
struct KintoPaths: Sendable {
    /// The address of the API, with its version: `https://shop.example/v1`.
    let api: ServerAddress
    let bucket: String

    /// - Parameter address: The server's address, with or without the version of the API.
    init(_ address: ServerAddress, bucket: String) {
        let isVersioned = address.path == "/v1" || address.path.hasSuffix("/v1")
        api = isVersioned ? address : ServerAddress("\(address)/v1") ?? address
        self.bucket = bucket
    }

    var bucketPath: String { "/buckets/\(bucket)" }

    func collection(_ table: RemoteTableName) -> String { "\(bucketPath)/collections/\(table.rawValue)" }

    func records(_ table: RemoteTableName) -> String { "\(collection(table))/records" }

    func record(_ id: ServerID, in table: RemoteTableName) -> String { "\(records(table))/\(id.rawValue)" }

    /// Returns the address of a path, which errors may show.
    func url(_ path: String) -> String { api.description + path }

    /// Returns whether a text can name a bucket, a collection or a record: it matches `[A-Za-z0-9][A-Za-z0-9_-]*`.
    static func isName(_ text: String, limit: Int = 255) -> Bool {
        guard let first = text.utf8.first, first.isAlphanumeric, text.utf8.count <= limit else { return false }
        return text.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }
}
