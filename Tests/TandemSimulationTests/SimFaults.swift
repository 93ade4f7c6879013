import DatasyncWire
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting

/// A process that can be killed between any two steps: a transaction, a request, its answer.
final class SimLife: Sendable {
    struct Killed: Error {}

    private let state = Mutex<(stepsLeft: Int?, isDead: Bool)>((nil, false))

    var isDead: Bool { state.withLock { $0.isDead } }

    /// Kills it after so many steps.
    func kill(after steps: Int) { state.withLock { $0.stepsLeft = steps } }

    /// It will not be killed after all.
    func spare() { state.withLock { $0.stepsLeft = nil } }

    /// One step further.
    func step() throws {
        let isDead = state.withLock { state in
            if state.stepsLeft == 0 { state.isDead = true }
            state.stepsLeft = state.stepsLeft.map { max(0, $0 - 1) }
            return state.isDead
        }
        if isDead { throw Killed() }
    }
}

/// The store as a process has it: what the process does when it is dead does not reach the store.
struct MortalStore: LocalStore {
    let store: Store
    let life: SimLife

    var models: [ModelDefinition] { store.models }
    var operationChanges: AsyncStream<Set<String>> { store.operationChanges }
    var lockName: String { store.lockName }
    var lockPath: String? { store.lockPath }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReading) throws -> T) async throws -> T {
        try life.step()
        return try await store.read { (local: any LocalReading) in try body(local) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalWriting) throws -> T) async throws -> T {
        try life.step()
        let result = try await store.write { (local: any LocalWriting) in try body(local) }
        // It may die with the transaction committed, and never know.
        try life.step()
        return result
    }
}

/// The way to the server and back, on which a process can die, and on which the world goes on meanwhile.
struct SimTransport: HTTPTransport {
    let server: ServerCore
    let life: SimLife
    let note: @Sendable (String) -> Void
    /// What happens before a message arrives: the request, then its answer.
    let meanwhile: @Sendable () async -> Void

    struct NoAnswer: Error {}

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        do { try life.step() } catch { throw .notSent(error) }
        await meanwhile()
        let outcome = await server.exchange(request, body: body)
        note("    \(request.method) \(request.path ?? "") \(String(decoding: body, as: UTF8.self)): \(outcome.line)")
        await meanwhile()
        do { try life.step() } catch { throw .lost(error) }
        switch outcome {
        case .answer(let response, let body): return (response, body)
        case .noAnswer: throw .lost(NoAnswer())
        }
    }
}

/// What goes wrong on the way, by the seed.
struct SimFaults: Sendable {
    /// Probabilities in thousandths.
    var weights: [(fault: ServerFault, weight: UInt64)]

    static func calm() -> SimFaults { SimFaults(weights: []) }

    static func stormy(_ random: inout SeededGenerator) -> SimFaults {
        let strength = [1, 1, 2, 4].randomElement(using: &random)!
        let all: [(ServerFault, UInt64)] = [
            (.lostRequest, 20), (.lostAnswer, 40), (.twice, 20), (.status(500), 15), (.status(503, retryAfter: 3), 10),
            (.status(429, retryAfter: 1), 10), (.conflict, 20), (.race, 10), (.skew(.seconds(-2)), 15),
            (.skew(.seconds(2)), 15),
        ]
        return SimFaults(weights: all.map { ($0.0, $0.1 * UInt64(strength)) })
    }

    func draw(_ random: inout SeededGenerator) -> [ServerFault] {
        weights.filter { random.next() % 1000 < $0.weight }.map(\.fault)
    }
}

extension ServerCore.Outcome {
    /// The answer in a line.
    fileprivate var line: String {
        switch self {
        case .answer(let response, let body):
            "\(response.status.code) \(String(decoding: body.prefix(200), as: UTF8.self))"
        case .noAnswer(let wasCarriedOut): wasCarriedOut ? "answer lost" : "request lost"
        }
    }
}
