import Crypto
import Foundation
import Synchronization
import Tandem
import TandemSync

/// The requirements for a file server, which can be checked one by one. Use them to test your own `RemoteFiles`.
///
/// For example, in a test:
///
/// ```swift
/// @Test(arguments: RemoteFilesConformance.requirements)
/// func requirementHolds(requirement: RemoteFilesConformance.Requirement) async throws {
///     try await requirement.check(on: MyFiles(url: testServer))
/// }
/// ```
///
/// A violated requirement throws a ``RemoteFilesViolation`` with the expectation and its location. Each check uploads
/// files with new IDs, so all can run on one server.
public enum RemoteFilesConformance {
    /// All requirements.
    public static let requirements: [Requirement] = carryingRequirements + failingRequirements + endingRequirements

    /// A requirement for a file server.
    public struct Requirement: Sendable, CustomStringConvertible {
        /// The requirement, as a sentence.
        public let name: String
        private let body: @Sendable (any RemoteFiles) async throws -> Void

        init(_ name: String, body: @escaping @Sendable (any RemoteFiles) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// The requirement's name.
        public var description: String { name }

        /// Checks that a server meets the requirement.
        ///
        /// - Parameter files: A server that the check fills with files of its own.
        /// - Throws: ``RemoteFilesViolation``, or an unexpected error of the server.
        public func check(on files: any RemoteFiles) async throws {
            do {
                try await body(files)
            } catch let broken as BrokenExpectation {
                throw RemoteFilesViolation(requirement: name, message: broken.message, line: broken.line)
            }
        }
    }
}

/// A violation of a requirement by a file server.
public struct RemoteFilesViolation: Error, Sendable, CustomStringConvertible {
    /// The violated requirement.
    public let requirement: String
    /// The failed expectation.
    public let message: String
    /// The location of the expectation.
    public let line: String

    /// The requirement, the failed expectation and its location.
    public var description: String { "A file server violates a requirement (\(requirement)): \(message) (\(line))." }
}

// MARK: - Helpers of the requirements

/// Creates a file of random bytes with a new ID.
func someFile(_ count: Int, name: String = "чек.jpg") -> OutgoingFile {
    let id = hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255) })
    // The blocks differ only in their numbers: generating each byte takes seconds in a debug build.
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

/// The received pieces of a file.
final class ReceivedPieces: Sendable {
    private let pieces = Mutex<[FilePiece]>([])

    func append(_ piece: FilePiece) { pieces.withLock { $0.append(piece) } }

    var all: [FilePiece] { pieces.withLock { $0 } }
    var bytes: [UInt8] { all.reduce(into: []) { $0 += $1.bytes } }
}

extension RemoteFiles {
    func fetched(_ file: UploadedFile, from offset: Int64 = 0) async throws -> [UInt8] {
        let taken = ReceivedPieces()
        _ = try await download(RemoteFile(url: file.url, etag: file.etag), from: offset) { taken.append($0) }
        return taken.bytes
    }
}

extension OutgoingFile {
    func all() async throws -> [UInt8] { try await bytes.read(at: 0, count: Int(size)) }
}

/// Returns the failure that a block throws. It must be a `RemoteFailure`.
func failing(
    _ what: String, file: String = #fileID, line: UInt = #line, body: () async throws -> Void
) async throws -> RemoteFailure {
    do {
        try await body()
    } catch let failure as RemoteFailure {
        return failure
    }
    throw BrokenExpectation(message: "\(what) did not fail", line: "\(file):\(line)")
}
