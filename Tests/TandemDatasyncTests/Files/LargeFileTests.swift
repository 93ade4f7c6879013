import Foundation
import Synchronization
import Tandem
import TandemDatasync
import TandemServer
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// A large file that one store sends to another through a server, in constant memory.
///
/// The upload and the download are interrupted. Both stores and the server share the process.
///
/// `TANDEM_SOAK=1` uses a file of more than 2 GiB, and interrupts it where offsets exceed 32 bits.
extension SocketTests {
    @Suite struct LargeFileTests {
        private static let size: Int64 = isSoak ? (2 << 30) + (96 << 20) + 5 : (96 << 20) + 5
        /// The number of bytes after which the connections break.
        private static let cut: Int64 = isSoak ? (2 << 30) + (32 << 20) + 3 : (64 << 20) + 3
        /// When a connection breaks, the system delivers all received bytes at once: as much as its buffers hold, up to
        /// 32 MiB on some machines (`net.ipv4.tcp_rmem`).
        private static let bound = 48 << 20

        /// The bytes of the file, in pieces.
        private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
            private var offset: Int64 = 0

            func makeAsyncIterator() -> Pieces { self }

            mutating func next() async -> Data? {
                let count = Int(Swift.min(1 << 20, LargeFileTests.size - offset))
                defer { offset += Int64(count) }
                return count > 0 ? Data(GeneratedFile.bytes(at: offset, count: count)) : nil
            }
        }

        /// Breaks the connection of the first `PUT` and of the first `GET` of a file.
        private static var faults: ServerFaults {
            let broken = Mutex<Set<String>>([])
            return ServerFaults { request, _ in
                guard request.path?.contains("/files/") == true, ["PUT", "GET"].contains(request.method.rawValue),
                    broken.withLock({ $0.insert(request.method.rawValue).inserted })
                else { return [] }
                return request.method == .put ? [.cutRequest(after: cut)] : [.cutResponse(after: cut)]
            }
        }

        @Test(
            .startsProcesses, .enabled(if: Memory.allocated != nil, "the allocator does not say what it has given"))
        func `a large file is synchronized in constant memory`() async {
            await #expect(processExitsWith: .success) {
                for kind in isSoak ? [StoreKind.file, .encrypted] : [.encrypted] {
                    try await LargeFileTests.send(in: kind)
                }
            }
        }

        private static func send(in kind: StoreKind) async throws {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            try await FileSockets.run({ $0.faults = Self.faults }) { files, storage async throws in
                let url = try #require(URL(string: files.address))
                let first = try kind.open(at: folder.path(of: "first.tandem"), [Film.self])
                defer { first.close() }
                let film = try await Self.measured("\(kind): attaching") {
                    let file = try await first.attachments.add(from: Pieces(), name: "фильм.bin")
                    #expect(file.size == Self.size)
                    return try await first.write { try $0.insert(Film(title: "Фильм", file: file)) }
                }
                let sender = SyncContext(store: first, remote: try DatasyncRemote(url: url), files: files)
                try await Self.measured("\(kind): uploading") {
                    let cut = try await sender.push()
                    guard case .failed(let error, _)? = cut.uploads.first?.outcome else {
                        Issue.record("\(cut.uploads)")
                        return
                    }
                    #expect(error.code == .unreachable)
                    let begun = try storage.offset(of: #require(film.file).id.rawValue)
                    #expect(begun == Self.cut)
                    #expect(try await sender.push().isComplete)
                }
                let served = try storage.files()
                #expect(served.map(\.size) == [Self.size])
                #expect(served.map(\.sha256) == [film.file?.sha256?.hex])

                var configuration = Store.Configuration()
                configuration.attachmentCacheSize = 4 << 30
                let second = try kind.open(
                    at: folder.path(of: "second.tandem"), [Film.self], configuration: configuration)
                defer { second.close() }
                let taker = SyncContext(store: second, remote: try DatasyncRemote(url: url), files: files)
                try await taker.synchronize()
                let file = try #require(try await second.objects(Film.self).first()?.file)
                try await Self.measured("\(kind): downloading") { try await taker.download(file) }
                try await Self.measured("\(kind): reading") {
                    var offset: Int64 = 0
                    for try await piece in try second.attachments.stream(of: file) {
                        if Array(piece) != GeneratedFile.bytes(at: offset, count: piece.count) {
                            Issue.record("Other bytes at \(offset)")
                        }
                        offset += Int64(piece.count)
                    }
                    #expect(offset == Self.size)
                }
            }
        }

        /// Runs a body, and checks the memory of the process meanwhile.
        private static func measured<T>(_ what: String, _ body: () async throws -> T) async throws -> T {
            let before = Memory.allocated ?? 0
            let most = Mutex(before)
            let watch = Task.detached {
                while !Task.isCancelled {
                    let now = Memory.allocated ?? 0
                    most.withLock { $0 = max($0, now) }
                    try? await Task.sleep(for: .milliseconds(10))
                }
            }
            defer { watch.cancel() }
            let result = try await body()
            let growth = most.withLock { $0 } - before
            if isSoak { print("\(what) \(size) bytes: \(growth >> 10) KiB more than before, at most") }
            #expect(growth < bound, "\(what)")
            return result
        }
    }
}
