import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting

/// A server with production logic, and an in-process transport to it.
final class SyncWorld: Sendable {
    let server: ServerCore
    let dialect: Dialect
    let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
    private let log = Mutex<[String]>([])
    private let faults = Mutex<[@Sendable (HTTPRequest) -> [ServerFault]]>([])

    init(_ dialect: Dialect = .datasync, configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        self.dialect = dialect
        let relay = Relay()
        var configuration = ServerConfiguration(dialect: dialect == .datasync ? .datasync : .azureMobileApps)
        let clock = clock
        configuration.clock = ServerClock(now: clock.now, sleep: { _ in })
        configuration.faults = ServerFaults { request, _ in relay.faults(of: request) }
        configure(&configuration)
        server = try ServerCore.inMemory(configuration: configuration)
        relay.world.withLock { $0 = WeakWorld(world: self) }
    }

    /// The requests that have arrived, a line each: `POST /tables/card`.
    var requests: [String] { log.withLock { $0 } }
    func forgetRequests() { log.withLock { $0 = [] } }

    /// Applies faults to the next request for which the closure returns any.
    func next(_ fault: @escaping @Sendable (HTTPRequest) -> [ServerFault]) { faults.withLock { $0.append(fault) } }

    /// Applies faults to the next request of a method.
    func next(_ method: HTTPRequest.Method, _ fault: ServerFault...) {
        next { $0.method == method ? fault : [] }
    }

    var transport: some HTTPTransport { Line(world: self) }

    func remote() -> DatasyncRemote {
        DatasyncRemote(ServerAddress("https://shop.example")!, dialect: dialect, over: transport)
    }

    /// Creates a device: an in-memory store, and its context.
    func device(_ options: (inout SyncContext.Options) -> Void = { _ in }) throws -> (Store, SyncContext) {
        let clock = clock
        var configuration = Store.Configuration()
        configuration.now = clock.now
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self], configuration: configuration)
        return (store, context(store, options))
    }

    func context(_ store: Store, _ options: (inout SyncContext.Options) -> Void = { _ in }) -> SyncContext {
        var all = SyncContext.Options()
        all.clock = JumpingClock(clock)
        all.random = { 0 }
        options(&all)
        return SyncContext(store: store, remote: remote(), options: all)
    }

    // MARK: -

    private struct WeakWorld: @unchecked Sendable {
        // Weak references are read and cleared atomically.
        weak var world: SyncWorld?
    }

    /// A reference to the world for the server's configuration, which is created first.
    private final class Relay: Sendable {
        let world = Mutex(WeakWorld(world: nil))

        func faults(of request: HTTPRequest) -> [ServerFault] {
            world.withLock { $0.world }?.takeFaults(of: request) ?? []
        }
    }

    private func takeFaults(of request: HTTPRequest) -> [ServerFault] {
        faults.withLock { faults in
            for (index, fault) in faults.enumerated() {
                let found = fault(request)
                guard !found.isEmpty else { continue }
                faults.remove(at: index)
                return found
            }
            return []
        }
    }

    private struct Line: HTTPTransport {
        let world: SyncWorld

        struct NoResponse: Error {}

        func send(
            _ request: HTTPRequest, body: [UInt8], limit: Int
        ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
            world.log.withLock { $0.append("\(request.method) \(request.path ?? "")") }
            switch await world.server.exchange(request, body: body) {
            case .response(let response, let body): return (response, body)
            case .noResponse: throw .lost(NoResponse())
            }
        }
    }
}
