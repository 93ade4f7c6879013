import Foundation
import TandemTesting

/// A folder for one test, which goes with it.
final class TestFolder: Sendable {
    let path: String
    /// The kind of the store that migrations are tried on.
    let kind: StoreKind

    init(_ kind: StoreKind = .file) throws {
        self.kind = kind
        path = NSTemporaryDirectory() + "/tandem-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String = "store.tandem") -> String { path + "/" + name }

    /// The files' names and bytes: what must not change when a file is refused.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: file(name)))
        }
        return contents
    }
}
