import Foundation
import SQLiteCipher
import Testing

@testable import Tandem

/// The kinds of a folder of files: plain or encrypted, with or without a partial file until it is complete.
enum FolderKind: String, CaseIterable, CustomTestStringConvertible {
    case plain, plainPartial, encrypted, encryptedPartial

    static let twoKinds: [FolderKind] = [.plain, .encrypted]

    var isSealed: Bool { self == .encrypted || self == .encryptedPartial }
    var testDescription: String { rawValue }

    static func key(_ first: UInt8 = 10) throws -> FileKey { try FileKey(raw: Array(first..<first + 32)) }

    func options(pieceSize: Int = 1 << 20, didRead: (@Sendable (Int64) throws -> Void)? = nil) -> FileFolderOptions {
        var options = FileFolderOptions()
        options.writesUnnamed = self == .plain || self == .encrypted
        options.pieceSize = pieceSize
        options.didRead = didRead
        return options
    }

    func open(_ path: String, options: FileFolderOptions? = nil) throws -> FileFolder {
        try FileFolder(path: path, key: isSealed ? Self.key() : nil, options: options ?? self.options())
    }
}

/// Helpers of the tests of the folder.
enum Files {
    /// Returns bytes of which no two pieces are equal.
    static func bytes(_ count: Int, _ start: Int = 0) -> [UInt8] { Array(pattern[start..<start + count]) }

    private static let pattern = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ $0 >> 16) }

    /// Returns the paths of all files below a folder, without locks and subfolders.
    static func below(_ path: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
            guard name != ".open", name != ".copying" else { return false }
            var status = stat()
            return lstat(path + "/" + name, &status) == 0 && !status.isFolder
        }.sorted()
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    static func read(_ path: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(fileURLWithPath: path))) }
}

extension FileFolder {
    func all(_ taken: StoredBlob) throws -> [UInt8] {
        try Array(open(taken.blob, sealed: taken.isSealed).read(at: 0, count: .max))
    }
}
