import Foundation

/// The folder of a target's resources, which SwiftPM puts beside the program.
public enum ResourceFolder {
    /// Finds the folder. `Bundle.module` ends the process if the folder is missing.
    ///
    /// - Parameter bundle: The name of the target's resource bundle, for example `Tandem_TandemBrowser`.
    /// - Throws: ``Missing`` if the folder is not beside the program.
    public static func find(_ bundle: String) throws -> URL {
        let folder = Bundle.main.bundleURL.appendingPathComponent("\(bundle).resources/Resources")
        guard FileManager.default.fileExists(atPath: folder.path) else { throw Missing(path: folder.path) }
        return folder
    }

    /// The resources are not beside the program.
    public struct Missing: Error {
        /// The path of the folder.
        public let path: String
    }
}

extension ResourceFolder.Missing: LocalizedError {
    /// The missing folder.
    public var errorDescription: String? { "The folder \(path) with the files of the pages is missing." }

    /// Advice for the user.
    public var recoverySuggestion: String? { "Copy the folder together with the program." }
}
