import Foundation
import Synchronization
import Tandem
import TandemSync
import TestSupport
import Testing

/// A pull keeps one page in memory, however many there are. Each test measures its own process.
extension SocketTests {
    @Suite struct PullMemoryTests {
        @Model struct Leaflet {
            var title: String
            var text: String
        }

        /// A server that generates each requested page, and records the memory of the process at that time.
        private final class EndlessServer: Remote {
            let format = WireFormat()
            private let count: Int
            private let kept: Mutex<[RemoteItem]>?
            private let held = Mutex<[Int]>([])

            /// Creates a server.
            ///
            /// - Parameter keepsItems: Whether it keeps all sent items, as a pull that kept its pages would.
            init(count: Int, keepsItems: Bool = false) {
                self.count = count
                kept = keepsItems ? Mutex([]) : nil
            }

            /// Returns the maximum memory at requests for pages from a number on, in bytes.
            func most(from page: Int) -> Int { held.withLock { $0.dropFirst(page).max() ?? 0 } }

            /// Returns the maximum memory before that, without the first pages, which include one-time allocations.
            func mostAtFirst(to page: Int) -> Int { held.withLock { $0.prefix(page).dropFirst(page / 2).max() ?? 0 } }

            func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
                held.withLock { $0.append(Memory.allocated ?? 0) }
                var first = 0
                switch request.order {
                case .updatedAt(let place): first = place.map { Int($0.seconds - 1_700_000_000) } ?? 0
                case .id(let last): first = last.flatMap { Int($0.rawValue) }.map { $0 - 1_000_000 + 1 } ?? 0
                }
                let last = max(first, min(first + request.top, count))
                let items = (first..<last).map { number in
                    RemoteItem(
                        id: ServerID("\(1_000_000 + number)"), version: "v\(number)",
                        updatedAt: WireTimestamp(
                            Date(timeIntervalSince1970: Double(1_700_000_000 + number)), fractionDigits: 3),
                        members: [
                            ("title", .text("Leaflet \(number)")),
                            ("text", .text("\(number)" + String(repeating: "words ", count: 700))),
                        ])
                }
                kept?.withLock { $0 += items }
                return RemotePage(items: items, hasMore: items.count == request.top, serverDate: Date())
            }

            private var no: RemoteFailure { .notFound }
            func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
                throw no
            }
            func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
            func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
            func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
            func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
        }

        private static let pageSize = 50
        /// The number of rows. A page of them has 200 kB of text.
        private static let few = 1000
        private static let bound = 4 << 20

        /// Pulls a number of rows into a new store. Returns the growth of the memory at later pages over the first
        /// ones.
        private static func growth(pulling count: Int, _ queryID: String?, keepsItems: Bool = false) async throws -> Int
        {
            let folder = FileManager.default.temporaryDirectory.appending(path: "tandem-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            var configuration = Store.Configuration()
            // SQLite caches pages of the file up to this size, which the first pages of the pull fill.
            configuration.cacheSize = 1 << 20
            let store = try Store(
                at: folder.appending(path: "store.tandem").path, models: [Leaflet.self], configuration: configuration)
            defer { store.close() }
            var options = SyncContext.Options()
            options.pageSize = Self.pageSize
            let server = EndlessServer(count: count, keepsItems: keepsItems)
            let sync = SyncContext(store: store, remote: server, options: options)
            #expect(try await sync.pull(Leaflet.self, queryID: queryID).inserted == count)
            let first = Self.few / Self.pageSize
            return server.most(from: first) - server.mostAtFirst(to: first)
        }

        @Test(
            .startsProcesses, .enabled(if: Memory.allocated != nil, "the allocator does not say what it has given"))
        func `four times the rows are pulled in constant memory`() async {
            await #expect(processExitsWith: .success) {
                for queryID in ["all", nil] {
                    let growth = try await PullMemoryTests.growth(pulling: 4 * PullMemoryTests.few, queryID)
                    #expect(growth < PullMemoryTests.bound)
                }
            }
        }

        @Test(
            .startsProcesses, .enabled(if: Memory.allocated != nil, "the allocator does not say what it has given"))
        func `the memory of kept pages is detected`() async {
            await #expect(processExitsWith: .success) {
                let growth = try await PullMemoryTests.growth(
                    pulling: 4 * PullMemoryTests.few, "all", keepsItems: true)
                #expect(growth > 2 * PullMemoryTests.bound)
            }
        }
    }
}
