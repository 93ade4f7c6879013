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
/// A violated requirement throws a ``ConformanceViolation`` with the expectation and its location. Each check uploads
/// files with new IDs, so all can run on one server.
public enum RemoteFilesConformance {
    /// All requirements.
    public static let requirements: [Requirement] = carryingRequirements + failingRequirements + endingRequirements

    /// A requirement for a file server.
    public typealias Requirement = ConformanceRequirement<any RemoteFiles>
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
    func fetched(_ file: UploadedFile) async throws -> [UInt8] {
        let received = ReceivedPieces()
        _ = try await download(RemoteFile(url: file.url, etag: file.etag), from: 0) { received.append($0) }
        return received.bytes
    }
}

extension OutgoingFile {
    func all() async throws -> [UInt8] { try await bytes.read(at: 0, count: Int(size)) }
}
