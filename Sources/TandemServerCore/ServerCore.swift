import Foundation
import HTTPTypes
import Synchronization
import Tandem

/// What a sync server answers, without a socket: for development and tests, not for production.
///
/// It speaks two protocols, those of Azure Mobile Apps 2.0 and of Datasync, over tables in a Tandem store. It is pure
/// but for that store and the configured clock and random numbers: the same requests get the same answers.
///
/// For example:
///
/// ```swift
/// let server = try ServerCore.inMemory(configuration: ServerConfiguration(dialect: .datasync))
/// let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/tables/card")
/// let (response, body) = await server.handle(request, body: [])
/// ```
///
/// Requests are answered one after another where they write. Each is one transaction, run on the caller's thread: there
/// is nothing to wait for but the store.
public final class ServerCore: Sendable {
    /// The models that the store must have been opened with, among others.
    public static let models: [any Model.Type] = [ServedRow.self, ServedTable.self]

    /// Where the rows are.
    public let store: Store
    /// How it serves.
    public let configuration: ServerConfiguration
    private let state: Mutex<State>

    private struct State {
        /// How many requests have come.
        var requests = 0
        /// The latest time that a row was given, in milliseconds.
        var latest: Int64
    }

    /// A server on a store, whose rows it keeps.
    ///
    /// - Throws: `TandemError` if the store was not opened with ``models``, or can't be read.
    public init(store: Store, configuration: ServerConfiguration = ServerConfiguration()) throws {
        self.store = store
        self.configuration = configuration
        let latest = try store.objects(ServedRow.self).sorted(by: \.changed, ascending: false).first()?.changed
        state = Mutex(State(latest: latest ?? .min))
    }

    /// A server on a store in memory, which goes with it.
    public static func inMemory(configuration: ServerConfiguration = ServerConfiguration()) throws -> ServerCore {
        try ServerCore(store: Store(inMemoryModels: models), configuration: configuration)
    }

    /// A server on a store in a file, which is created if there is none.
    public static func onFile(
        at path: String, configuration: ServerConfiguration = ServerConfiguration()
    ) throws -> ServerCore {
        try ServerCore(store: Store(at: path, models: models), configuration: configuration)
    }

    /// What comes of a request: an answer, or none.
    public enum Outcome: Sendable {
        /// What the client gets.
        case answer(HTTPResponse, body: [UInt8])
        /// The client hears nothing, as ``ServerConfiguration/faults`` has it. Whoever has the connection closes it.
        case noAnswer(wasCarriedOut: Bool)
    }

    /// Answers a request, with the faults that the configuration has for it.
    public func exchange(_ request: HTTPRequest, body: [UInt8]) async -> Outcome {
        let faults = configuration.faults.faults(request, nextNumber())
        var skew = Duration.zero
        for case .latency(let latency) in faults { await configuration.clock.sleep(latency) }
        if faults.contains(.lostRequest) { return .noAnswer(wasCarriedOut: false) }
        for fault in faults {
            switch fault {
            case .status(let status, let seconds):
                let fields: HTTPFields = seconds.map { [.retryAfter: String($0)] } ?? [:]
                return .answer(dated(HTTPResponse(status: Self.status(status), headerFields: fields), skew), body: [])
            case .skew(let offset): skew += offset
            default: break
            }
        }
        if faults.contains(.twice) { _ = answer(request, body, skew: skew, faults: []) }
        let (response, body) = answer(request, body, skew: skew, faults: faults).http
        return faults.contains(.lostAnswer)
            ? .noAnswer(wasCarriedOut: true) : .answer(dated(response, skew), body: body)
    }

    /// The number of a request that comes now, by which faults are chosen.
    func nextNumber() -> Int {
        state.withLock { state in
            defer { state.requests += 1 }
            return state.requests
        }
    }

    /// With the server's time, which clients tell their own clock's error by.
    func dated(_ response: HTTPResponse, _ skew: Duration) -> HTTPResponse {
        var response = response
        response.headerFields[.date] = WireTime.http(milliseconds: skewed(configuration.clock.milliseconds, skew))
        return response
    }

    /// Answers a request. One that gets no answer, by ``ServerConfiguration/faults``, gets the status 444 here, which
    /// must not be sent: the connection is closed instead.
    public func handle(_ request: HTTPRequest, body: [UInt8]) async -> (HTTPResponse, [UInt8]) {
        switch await exchange(request, body: body) {
        case .answer(let response, let body): (response, body)
        case .noAnswer: (HTTPResponse(status: .init(code: 444, reasonPhrase: "No Response")), [])
        }
    }

    /// All rows of a table, tombstones too, by ID.
    public func rows(in table: String) throws -> [ServerRow] {
        let name = table.lowercased()
        return try store.objects(ServedRow.self).where { $0.table == name }.sorted(by: \.key).all().map { try $0.row() }
    }

    /// The time for a row that is being written: never before that of an earlier one, unless the clock is skewed.
    func time(skew: Duration) -> Int64 {
        let now = configuration.clock.milliseconds
        guard skew == .zero else { return skewed(now, skew) }
        return state.withLock { state in
            state.latest = max(state.latest, now)
            return state.latest
        }
    }

    /// A time that is off, within the years that the wire can write.
    private func skewed(_ milliseconds: Int64, _ skew: Duration) -> Int64 {
        let bound: Int64 = 253_402_300_799
        let offset = max(-bound, min(bound, skew.components.seconds)) * 1000
        let time = milliseconds + offset + skew.components.attoseconds / 1_000_000_000_000_000
        return max(-62_135_596_800_000, min(253_402_300_799_999, time))
    }

    static func status(_ code: Int) -> HTTPResponse.Status {
        (100...999).contains(code) ? HTTPResponse.Status(code: code) : .internalServerError
    }
}
