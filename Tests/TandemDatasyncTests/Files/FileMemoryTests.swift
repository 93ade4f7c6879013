import Foundation
import Synchronization
import TandemDatasync
import TandemServer
import TandemSync
import TestSupport
import Testing

/// A file is never completely in memory during its transfer, neither in the client nor in the server. Both share a
/// process. Each test measures its own process. `TANDEM_SOAK=1` sends half a gigabyte.
extension SocketTests {
    @Suite struct FileMemoryTests {
        private static let size: Int64 =
            (isSoak ? 512 : 160) << 20
        private static let bound = 48 << 20

        /// The maximum memory of the process in bytes, before and after a position in the file.
        private final class Meter: Sendable {
            private let held = Mutex<(early: Int, late: Int)>((0, 0))
            private let position: Int64

            init(position: Int64 = 64 << 20) { self.position = position }

            func note(_ offset: Int64) {
                let now = Memory.allocated ?? 0
                held.withLock { held in
                    if offset < position { held.early = max(held.early, now) } else { held.late = max(held.late, now) }
                }
            }

            var growth: Int { held.withLock { $0.late - $0.early } }
        }

        @Test(
            .startsProcesses, .enabled(if: Memory.allocated != nil, "the allocator does not say what it has given"))
        func `a large file is transferred in constant memory`() async {
            await #expect(processExitsWith: .success) {
                let (there, back) = (Meter(), Meter())
                let (size, bound) = (FileMemoryTests.size, FileMemoryTests.bound)
                let file = GeneratedFile(size) { there.note($0) }.outgoing
                try await FileSockets.run { files, _ async throws in
                    let uploaded = try await files.upload(file)
                    #expect(there.growth < bound)
                    let place = Mutex<Int64>(0)
                    _ = try await files.download(RemoteFile(url: uploaded.url, size: size), from: 0) { piece in
                        back.note(piece.offset)
                        let isRight = piece.bytes == GeneratedFile.bytes(at: piece.offset, count: piece.bytes.count)
                        if !isRight { Issue.record("Other bytes at \(piece.offset)") }
                        place.withLock { $0 += Int64(piece.bytes.count) }
                    }
                    #expect(place.withLock { $0 } == size)
                    #expect(back.growth < bound)
                }
            }
        }

        @Test(
            .startsProcesses, .enabled(if: Memory.allocated != nil, "the allocator does not say what it has given"))
        func `the memory of a storage in memory is detected`() async {
            await #expect(processExitsWith: .success) {
                // Far from the end: an array that grows holds two copies of the file for a moment.
                let meter = Meter(position: 16 << 20)
                let file = GeneratedFile(128 << 20) { meter.note($0) }.outgoing
                try await FileSockets.run(isStored: false) { files, _ async throws in
                    _ = try await files.upload(file)
                    #expect(meter.growth > FileMemoryTests.bound)
                }
            }
        }
    }
}
