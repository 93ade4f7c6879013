import Foundation

/// A temporary folder for a test, which is removed at its end.
public struct TemporaryFolder: Sendable {
    /// The folder's path.
    public let path: String

    /// Creates a folder. The caller must remove it; ``with(_:)`` does both.
    ///
    /// - Throws: The error of `FileManager` if the folder can't be created.
    public init() throws {
        path = NSTemporaryDirectory() + "tandem-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// The path of a file in the folder.
    public func path(of file: String) -> String { path + "/" + file }

    /// Removes the folder and its contents.
    public func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Runs a block with a folder that is removed at its end.
    ///
    /// - Parameter body: Uses the folder.
    /// - Throws: The errors of the block, and that of `FileManager` if the folder can't be created.
    public static func with<T>(_ body: (TemporaryFolder) throws -> T) throws -> T {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        return try body(folder)
    }
}
