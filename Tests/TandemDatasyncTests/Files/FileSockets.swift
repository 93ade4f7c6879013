import Crypto
import Foundation
import Synchronization
import TandemDatasync
import TandemServer
import TandemSync
import TandemTesting

/// Runs a body with a file server behind a socket.
enum FileSockets {
    static let id = "00112233445566778899aabbccddeeff"

    /// Starts the server, and stops it after the body.
    ///
    /// - Parameter isStored: Whether the storage is in a folder.
    static func run<T>(
        isStored: Bool = true, tls: ServerCertificate? = nil, trust: AsyncHTTPTransport.Trust = .system,
        authentication: Authentication? = nil, _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (TandemFiles, FileStorage) async throws -> T
    ) async throws -> T {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let storage = try isStored ? FileStorage.inFolder(at: folder.path(of: "files")) : .inMemory()
        var configuration = ServerConfiguration(dialect: .datasync)
        configuration.files = ServerFiles(storage)
        configure(&configuration)
        var options = TandemServer.Options()
        options.tls = tls
        options.gracePeriod = .milliseconds(200)
        let server = try await TandemServer.start(.inMemory(configuration: configuration), options: options)
        let transport = try AsyncHTTPTransport(.init { $0.trust = trust })
        let files = try TandemFiles(url: server.url, over: transport, authentication: authentication)
        do {
            let result = try await body(files, storage)
            await transport.shutdown()
            try await server.stop()
            return result
        } catch {
            await transport.shutdown()
            try await server.stop()
            throw error
        }
    }

    static func file(
        _ count: Int, id: String = id, name: String = "чек № 1.jpg", seed: UInt64 = 1
    ) -> OutgoingFile {
        OutgoingFile(id: id, name: name, contentType: "image/jpeg", bytes: bytes(count, seed: seed))
    }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }
}

/// The received pieces of a file.
final class Basket: Sendable {
    private let state = Mutex<[UInt8]>([])

    var bytes: [UInt8] { state.withLock { $0 } }
    func take(_ piece: FilePiece) { state.withLock { $0 += piece.bytes } }
}

/// A file that is generated while it is read, reproducibly by offset. It counts the bytes read.
final class GeneratedFile: FileBytes {
    private static let block = FileSockets.bytes(1 << 20, seed: 7)

    let size: Int64
    private let state = Mutex<(read: Int64, calls: Int)>((0, 0))
    private let upon: @Sendable (Int64) async throws -> Void

    init(_ size: Int64, upon: @escaping @Sendable (Int64) async throws -> Void = { _ in }) {
        self.size = size
        self.upon = upon
    }

    /// The number of bytes read.
    var read: Int64 { state.withLock { $0.read } }
    var calls: Int { state.withLock { $0.calls } }

    func read(at offset: Int64, count: Int) async throws -> [UInt8] {
        try await upon(offset)
        let bytes = Self.bytes(at: offset, count: Int(min(Int64(count), max(0, size - offset))))
        state.withLock { state in
            state.read += Int64(bytes.count)
            state.calls += 1
        }
        return bytes
    }

    static func bytes(at offset: Int64, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var place = Int(offset % Int64(block.count))
        while bytes.count < count {
            let part = block[place..<min(block.count, place + count - bytes.count)]
            bytes += part
            place = 0
        }
        return bytes
    }

    /// The file as an upload.
    var outgoing: OutgoingFile {
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < size {
            let bytes = Self.bytes(at: offset, count: Int(min(1 << 20, size - offset)))
            hash.update(data: bytes)
            offset += Int64(bytes.count)
        }
        let sha256 = hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return OutgoingFile(
            id: FileSockets.id, name: "большой.bin", contentType: "application/octet-stream", size: size,
            sha256: sha256, bytes: self)
    }
}

/// Returns the failure of a body as one line, or "nothing" if it succeeds.
func fileFailure<T>(_ body: () async throws -> T) async -> String {
    do {
        _ = try await body()
        return "nothing"
    } catch let error as RemoteFailure {
        return error.line
    } catch {
        return "\(error)"
    }
}
