import Foundation
import HTTPTypes
import Synchronization
import Tandem

/// The request handling of a sync server, without a socket. It is for development and tests, not for production.
///
/// It implements two protocols, Azure Mobile Apps 2.0 and Datasync, over tables in a Tandem store. It is deterministic,
/// apart from the store, the configured clock and the random numbers: the same requests get the same responses.
///
/// For example:
///
/// ```swift
/// let server = try ServerCore.inMemory(configuration: ServerConfiguration(dialect: .datasync))
/// let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/tables/card")
/// let (response, body) = await server.handle(request, body: [])
/// ```
///
/// Requests that write are serialized. Each is one transaction on the caller's thread, which waits only for the store.
public final class ServerCore: Sendable {
    /// The models that the server's store needs. The store may have others too.
    public static let models: [any Model.Type] = [ServedRow.self, ServedTable.self]

    /// The store with the rows.
    public let store: Store
    /// The server's configuration.
    public let configuration: ServerConfiguration
    private let state: Mutex<State>

    private struct State {
        /// The number of requests so far.
        var requests = 0
        /// The latest time given to a row, in milliseconds.
        var latest: Int64
    }

    /// Creates a server that keeps its rows in a store.
    ///
    /// - Parameters:
    ///   - store: A store that was opened with ``models``.
    ///   - configuration: The tables, the protocol, the users and the faults.
    /// - Throws: `TandemError` if the store was not opened with ``models``, or can't be read.
    public init(store: Store, configuration: ServerConfiguration = ServerConfiguration()) throws {
        self.store = store
        self.configuration = configuration
        let latest = try store.objects(ServedRow.self).sorted(by: \.changed, ascending: false).first()?.changed
        state = Mutex(State(latest: latest ?? .min))
    }

    /// Creates a server with a store in memory, which lives as long as the server.
    ///
    /// - Parameter configuration: The tables, the protocol, the users and the faults.
    /// - Throws: `TandemError` if the store can't be opened.
    public static func inMemory(configuration: ServerConfiguration = ServerConfiguration()) throws -> ServerCore {
        try ServerCore(store: Store(inMemoryModels: models), configuration: configuration)
    }

    /// Creates a server with a store in a file, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - path: The path of the store's file. Its folder must exist.
    ///   - configuration: The tables, the protocol, the users and the faults.
    /// - Throws: `TandemError` if the store can't be opened.
    public static func onFile(
        at path: String, configuration: ServerConfiguration = ServerConfiguration()
    ) throws -> ServerCore {
        try ServerCore(store: Store(at: path, models: models), configuration: configuration)
    }

    /// The outcome of a request: a response or none.
    public enum Outcome: Sendable {
        /// The client gets this response.
        case response(HTTPResponse, body: [UInt8])
        /// The client gets no response, by ``ServerConfiguration/faults``. The caller closes the connection.
        case noResponse(wasCarriedOut: Bool)
    }

    /// Responds to a request, with the configured faults.
    ///
    /// - Parameters:
    ///   - request: The method, the path and the header fields.
    ///   - body: The bytes of the request's body.
    public func exchange(_ request: HTTPRequest, body: [UInt8]) async -> Outcome {
        let faults = configuration.faults.faults(request, nextNumber())
        var skew = Duration.zero
        for case .latency(let latency) in faults { await configuration.clock.sleep(latency) }
        if faults.contains(.lostRequest) { return .noResponse(wasCarriedOut: false) }
        for fault in faults {
            switch fault {
            case .status(let status, let seconds):
                let fields: HTTPFields = seconds.map { [.retryAfter: String($0)] } ?? [:]
                return .response(
                    dated(HTTPResponse(status: Self.status(status), headerFields: fields), skew: skew), body: [])
            case .skew(let offset): skew += offset
            default: break
            }
        }
        if faults.contains(.twice) { _ = respond(to: request, body: body, skew: skew, faults: []) }
        let (response, body) = respond(to: request, body: body, skew: skew, faults: faults).http
        return faults.contains(.lostResponse)
            ? .noResponse(wasCarriedOut: true) : .response(dated(response, skew: skew), body: body)
    }

    /// Returns the number of the next request, which selects its faults.
    func nextNumber() -> Int {
        state.withLock { state in
            defer { state.requests += 1 }
            return state.requests
        }
    }

    /// Adds the server's time, from which clients compute their clock's offset.
    func dated(_ response: HTTPResponse, skew: Duration) -> HTTPResponse {
        var response = response
        response.headerFields[.date] = WireDateText.http(
            milliseconds: skewed(configuration.clock.milliseconds, by: skew))
        return response
    }

    /// Responds to a request. A request without a response, by ``ServerConfiguration/faults``, gets the status 444. Do
    /// not send that status: close the connection instead.
    ///
    /// - Parameters:
    ///   - request: The method, the path and the header fields.
    ///   - body: The bytes of the request's body.
    public func handle(_ request: HTTPRequest, body: [UInt8]) async -> (HTTPResponse, [UInt8]) {
        switch await exchange(request, body: body) {
        case .response(let response, let body): (response, body)
        case .noResponse: (HTTPResponse(status: .init(code: 444, reasonPhrase: "No Response")), [])
        }
    }

    /// Returns all rows of a table by ID, including tombstones.
    ///
    /// - Parameter table: The table's name, as in its path.
    /// - Throws: `TandemError` if the store can't be read.
    public func rows(in table: String) throws -> [ServerRow] {
        let name = table.lowercased()
        return try store.objects(ServedRow.self).where { $0.table == name }.sorted(by: \.key).all().map { try $0.row() }
    }

    /// Returns the time for a row that is being written. It never decreases, unless the clock is skewed.
    func time(skew: Duration) -> Int64 {
        let now = configuration.clock.milliseconds
        guard skew == .zero else { return skewed(now, by: skew) }
        return state.withLock { state in
            state.latest = max(state.latest, now)
            return state.latest
        }
    }

    /// Returns a skewed time, within the years that the formats support.
    private func skewed(_ milliseconds: Int64, by skew: Duration) -> Int64 {
        let bound: Int64 = 253_402_300_799
        let offset = max(-bound, min(bound, skew.components.seconds)) * 1000
        let time = milliseconds + offset + skew.components.attoseconds / 1_000_000_000_000_000
        return max(-62_135_596_800_000, min(253_402_300_799_999, time))
    }

    static func status(_ code: Int) -> HTTPResponse.Status {
        (100...999).contains(code) ? HTTPResponse.Status(code: code) : .internalServerError
    }
}
