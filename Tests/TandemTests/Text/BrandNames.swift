import Foundation

/// Real names in 14 scripts, some of them several times; see `shared/data/README.md`.
enum BrandNames {
    static let file: URL = {
        if let shared = ProcessInfo.processInfo.environment["TANDEM_SHARED"] {
            return URL(fileURLWithPath: shared).appendingPathComponent("data/brands.tsv")
        }
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Package.swift") {
            folder.deleteLastPathComponent()
        }
        return folder.deletingLastPathComponent().appendingPathComponent("shared/data/brands.tsv")
    }()

    static var areHere: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The names. Empty if the file does not exist.
    static let all: [String] = {
        let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n").dropFirst() ?? []
        return lines.map { String($0.prefix { $0 != "\t" }) }
    }()
}
