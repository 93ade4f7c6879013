import HTTPTypes
import RemoteHTTP
import Synchronization
import TandemSync

/// The body of a form with one file, which is read while it is sent.
struct MultipartUpload: Sendable {
    /// The form's content type, with its boundary.
    let contentType: String
    private let head: [UInt8]
    private let tail: [UInt8]
    private let file: OutgoingFile

    /// - Parameters:
    ///   - file: The file. Its extension is sent, but not its name.
    ///   - field: The form's field.
    init(_ file: OutgoingFile, field: String) {
        // The boundary has 128 bits of the file's own ID and hash. Only a file that was made for this purpose can
        // contain the boundary. The server then reads fewer bytes, and their hash differs.
        let boundary = "tandem-\(file.id)-\(file.sha256.prefix(32))"
        contentType = "multipart/form-data; boundary=\(boundary)"
        let type = file.contentType.isEmpty ? "application/octet-stream" : file.contentType
        head = Array(
            """
            --\(boundary)\r
            Content-Disposition: form-data; name="\(field)"; filename="\(file.id)\(Self.pathExtension(of: file.name))"\r
            Content-Type: \(type)\r
            \r

            """.utf8)
        tail = Array("\r\n--\(boundary)--\r\n".utf8)
        self.file = file
    }

    /// Returns the body.
    ///
    /// - Parameter progress: Receives the number of the file's bytes that were passed to the network.
    func body(progress: @escaping @Sendable (Int64) -> Void) -> FileBody {
        let bytes = FileExchange.body(of: file, from: 0, progress: progress)
        let (head, tail, size) = (head, tail, file.size)
        return FileBody(count: Int64(head.count) + size + Int64(tail.count)) { sent in
            let place = sent - Int64(head.count)
            if place < 0 { return Array(head[Int(sent)...]) }
            if place < size { return try await bytes.piece(place) }
            return Array(tail[Int(place - size)...])
        }
    }

    /// Returns the extension of a file's name with its point, by which Kinto decides whether it accepts the file.
    private static func pathExtension(of name: String) -> String {
        guard let point = name.lastIndex(of: ".") else { return "" }
        let text = name[name.index(after: point)...]
        return text.utf8.allSatisfy(\.isAlphanumeric) && (1...16).contains(text.utf8.count)
            ? ".\(text.lowercased())" : ""
    }
}
