import Crypto
import Foundation

/// The style sheet, the scripts and the icon, in memory.
public struct Assets: Sendable {
    /// A file.
    public struct Asset: Sendable {
        /// The content.
        public let bytes: Data
        /// The content type.
        public let contentType: String
        /// A hash of the bytes, by which a browser recognizes an unchanged file.
        public let tag: String
    }

    private let files: [String: Asset]

    /// Reads the files of a folder.
    ///
    /// - Parameter folder: The folder.
    /// - Throws: `CocoaError` if the folder or a file can't be read.
    public init(folder: URL) throws {
        var files: [String: Asset] = [:]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            guard let type = Self.types[file.pathExtension] else { continue }
            let bytes = try Data(contentsOf: file)
            let hash = SHA256.hash(data: bytes).prefix(12).map { String(format: "%02x", $0) }.joined()
            files[file.lastPathComponent] = Asset(bytes: bytes, contentType: type, tag: "\"\(hash)\"")
        }
        self.files = files
    }

    /// Returns a file by its name, which is only compared.
    public subscript(_ name: String) -> Asset? { files[name] }

    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    ]
}
