import Foundation

/// A folder of a test's own, which is removed when the test is over.
public struct TemporaryFolder: Sendable {
    /// The folder's path.
    public let path: String

    /// Makes a new folder. Whoever makes one removes it; ``with(_:)`` does both.
    public init() throws {
        path = NSTemporaryDirectory() + "tandem-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// The path of a file in the folder.
    public func path(of file: String) -> String { path + "/" + file }

    /// Removes the folder with all that is in it.
    public func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Runs a block with a folder that is removed at its end.
    public static func with<T>(_ body: (TemporaryFolder) throws -> T) throws -> T {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try body(folder)
    }
}
