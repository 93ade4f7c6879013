import Foundation
import Mustache

/// The templates of all pages. All values are escaped by ``ScalarEscaping``.
struct Templates: Sendable {
    private let library: MustacheLibrary

    /// Reads the templates of a folder.
    init(folder: URL) throws {
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
                throw Failure(.software, "The template \(file.lastPathComponent) is not valid: \(error).")
            }
        }
        self.library = library
    }

    /// Returns a template's text with the values of an object.
    func render(_ name: String, _ values: Any) throws -> String {
        guard let text = library.render(values, withTemplate: name) else {
            throw Failure(.software, "The template \(name) is missing.")
        }
        return text
    }
}
