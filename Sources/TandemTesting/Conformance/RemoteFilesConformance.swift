import Crypto
import Foundation
import Synchronization
import Tandem
import TandemSync

/// What every server of files must do, as laws that can be checked one by one: for whoever writes a `RemoteFiles`.
///
/// For example, in a test:
///
/// ```swift
/// @Test(arguments: RemoteFilesConformance.laws)
/// func aLawIsKept(law: RemoteFilesConformance.Law) async throws {
///     try await law.check(on: MyFiles(url: testServer))
/// }
/// ```
///
/// A law that is broken throws a ``RemoteFilesViolation``, which says what was expected and where. Each law makes files
/// with new IDs, so that all can be checked on one server.
public enum RemoteFilesConformance {
    /// All laws.
    public static let laws: [Law] = carryingLaws + failingLaws + endingLaws

    /// One thing that a server of files must do.
    public struct Law: Sendable, CustomStringConvertible {
        /// What it says, as a sentence.
        public let name: String
        private let body: @Sendable (any RemoteFiles) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (any RemoteFiles) async throws -> Void) {
            self.name = name
            self.body = body
        }

        public var description: String { name }

        /// Checks that a server keeps the law.
        ///
        /// - Throws: ``RemoteFilesViolation``, and what the server throws where it should not.
        public func check(on files: any RemoteFiles) async throws {
            do {
                try await body(files)
            } catch let broken as BrokenExpectation {
                throw RemoteFilesViolation(law: name, message: broken.message, line: broken.line)
            }
        }
    }
}

/// A law that a server of files does not keep.
public struct RemoteFilesViolation: Error, Sendable, CustomStringConvertible {
    /// The law.
    public let law: String
    /// What was not so.
    public let message: String
    /// Where in the law.
    public let line: String

    public var description: String { "A server of files breaks a law (\(law)): \(message) (\(line))." }
}

// MARK: - What laws are written with

/// A file of random bytes under a new ID.
func someFile(_ count: Int, name: String = "чек.jpg") -> OutgoingFile {
    let id = hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255) })
    // Blocks that differ by their numbers alone: to make each byte by itself takes a debug build seconds.
    let block = (0..<4096).map { _ in UInt8.random(in: 0...255) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count + 8)
    while bytes.count < count {
        withUnsafeBytes(of: bytes.count) { bytes.append(contentsOf: $0) }
        bytes += block
    }
    bytes.removeLast(bytes.count - count)
    return OutgoingFile(id: id, name: name, contentType: "image/jpeg", bytes: bytes)
}

/// What of a file has come.
final class TakenPieces: Sendable {
    private let pieces = Mutex<[FilePiece]>([])

    func take(_ piece: FilePiece) { pieces.withLock { $0.append(piece) } }

    var all: [FilePiece] { pieces.withLock { $0 } }
    var bytes: [UInt8] { all.reduce(into: []) { $0 += $1.bytes } }
}

extension RemoteFiles {
    func fetched(_ file: UploadedFile, from offset: Int64 = 0) async throws -> [UInt8] {
        let taken = TakenPieces()
        _ = try await download(RemoteFile(url: file.url, etag: file.etag), from: offset) { taken.take($0) }
        return taken.bytes
    }
}

extension OutgoingFile {
    func all() async throws -> [UInt8] { try await bytes.read(at: 0, count: Int(size)) }
}

/// What something threw, which must have been a failure.
func failing(
    _ what: String, file: String = #fileID, line: UInt = #line, _ body: () async throws -> Void
) async throws -> RemoteFailure {
    do {
        try await body()
    } catch let failure as RemoteFailure {
        return failure
    }
    throw BrokenExpectation(message: "\(what) did not fail", line: "\(file):\(line)")
}
