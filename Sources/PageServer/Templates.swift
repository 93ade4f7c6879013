import Foundation
import Mustache

/// The templates of all pages. All values are escaped by ``ScalarEscaping``.
public struct Templates: Sendable {
    /// A template that is missing or not valid.
    public struct InvalidTemplate: Error, CustomStringConvertible {
        /// The problem, as a sentence.
        public let description: String
    }

    private let library: MustacheLibrary

    /// Reads the templates of a folder.
    ///
    /// - Parameter folder: The folder.
    /// - Throws: ``InvalidTemplate``, or `CocoaError` if a file can't be read.
    public init(folder: URL) throws {
        MustacheContentTypes.register(ScalarEscaping(), named: ScalarEscaping.name)
        var library = MustacheLibrary()
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files where file.pathExtension == "mustache" {
            let text = try String(contentsOf: file, encoding: .utf8)
            do {
                try library.register(
                    "{{% CONTENT_TYPE: \(ScalarEscaping.name)}}" + text,
                    named: file.deletingPathExtension().lastPathComponent)
            } catch {
                throw InvalidTemplate(
                    description: "The template \(file.lastPathComponent) is not valid: \(error).")
            }
        }
        self.library = library
    }

    /// Returns a template's text with the values of an object.
    ///
    /// - Parameters:
    ///   - name: The name of the template.
    ///   - values: The values by the names in the template.
    /// - Throws: ``InvalidTemplate`` if there is no such template.
    public func render(_ name: String, with values: Any) throws -> String {
        guard let text = library.render(values, withTemplate: name) else {
            throw InvalidTemplate(description: "The template \(name) is missing.")
        }
        return text
    }
}

extension Templates.InvalidTemplate: LocalizedError {
    /// The problem.
    public var errorDescription: String? { description }

    /// Advice for the developer.
    public var recoverySuggestion: String? { "Correct the template, and start the server again." }
}
