import Foundation
import TandemTesting

/// A folder for one test, removed with this object.
final class TestFolder: Sendable {
    let path: String
    /// The kind of the store that migration tests use.
    let kind: StoreKind

    init(_ kind: StoreKind = .file) throws {
        self.kind = kind
        path = NSTemporaryDirectory() + "/tandem-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String = "store.tandem") -> String { path + "/" + name }

    /// Returns the files' names and bytes, which must not change if a file is refused.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: file(name)))
        }
        return contents
    }
}
