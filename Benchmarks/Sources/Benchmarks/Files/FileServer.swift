import Foundation

/// The development server with files in a folder, and curl's requests to it.
final class FileServer {
    let url: URL
    private let process: ServerProcess

    init(_ folder: String) throws {
        process = try ServerProcess(cards: 0, files: folder)
        url = process.url
    }

    func address(_ id: String) -> String { "\(url.absoluteString)/files/\(id)" }

    /// Uploads a file by the file protocol, with its known hash.
    func put(_ path: String, sha256: String, as id: String) throws {
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { offset in
            let start = sha256.index(sha256.startIndex, offsetBy: offset)
            return UInt8(sha256[start..<sha256.index(start, offsetBy: 2)], radix: 16)
        }
        let fields = [
            // Prevents curl from waiting for a `100 Continue`, which this server does not send.
            "Expect:", "If-None-Match: *", "Content-Type: application/octet-stream",
            "Content-Disposition: attachment; filename*=UTF-8''film.bin",
            "Repr-Digest: sha-256=:\(Data(bytes).base64EncodedString()):",
        ]
        try Tool.run(
            "curl", with: ["-sf", "-o", "/dev/null", "-T", path] + fields.flatMap { ["-H", $0] } + [address(id)])
    }

    func get(_ id: String, to path: String) throws { try Tool.run("curl", with: ["-sf", "-o", path, address(id)]) }

    func delete(_ id: String) throws { try Tool.run("curl", with: ["-sf", "-X", "DELETE", address(id)]) }

    /// Returns the server's description of a file.
    func outcome(_ id: String) throws -> String {
        let lines = try Tool.run("curl", with: ["-sfI", address(id)]).split(separator: "\r\n").map { $0.lowercased() }
        let said = ["content-length:", "repr-digest:"].compactMap { name in lines.first { $0.hasPrefix(name) } }
        return said.joined(separator: ", ")
    }
}
