import Synchronization
import Tandem
import TandemSync

/// A process that can be killed between any two steps: a transaction, a request, its response.
final class SimLife: Sendable {
    struct Killed: Error {}

    private let state = Mutex<(stepsLeft: Int?, isDead: Bool)>((nil, false))

    var isDead: Bool { state.withLock { $0.isDead } }

    /// Schedules the kill after a number of steps.
    func kill(after steps: Int) { state.withLock { $0.stepsLeft = steps } }

    /// Cancels the scheduled kill.
    func spare() { state.withLock { $0.stepsLeft = nil } }

    /// Counts a step.
    func step() throws {
        let isDead = state.withLock { state in
            if state.stepsLeft == 0 { state.isDead = true }
            state.stepsLeft = state.stepsLeft.map { max(0, $0 - 1) }
            return state.isDead
        }
        if isDead { throw Killed() }
    }
}

/// The store as seen by one process. Calls of a killed process do not reach the store.
///
/// Reads and writes run on the history's own thread. Other tasks may run before and after them.
struct MortalStore: LocalStore {
    let store: Store
    let life: SimLife
    let mistake: SimMistake?

    var models: [ModelDefinition] { store.models }
    var operationChanges: AsyncStream<Set<String>> { store.operationChanges }
    var lockName: String { store.lockName }
    var lockPath: String? { store.lockPath }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T {
        try life.step()
        await Task.yield()
        try life.step()
        return try store.readHere { try body($0) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T {
        try life.step()
        await Task.yield()
        try life.step()
        let result = try mistake?.isOfStore == true ? mistakenWrite(body) : store.writeHere { try body($0.sync) }
        await Task.yield()
        // The process may be killed after the commit, without seeing its result.
        try life.step()
        return result
    }

    private struct GivenUp: Error {}

    private func mistakenWrite<T>(_ body: (any LocalTransaction) throws -> T) throws -> T {
        guard let mistake else { return try store.writeHere { try body($0.sync) } }
        var place: FaultyTransaction.FaultPosition?
        do {
            return try store.writeHere { tx in
                let writing = FaultyTransaction(tx.sync, mistake)
                let result = try body(writing)
                guard mistake == .tokenBeforeRows, writing.place.token != nil else { return result }
                // The token's transaction has ended, and the rows' has not begun.
                place = writing.place
                do { try life.step() } catch { throw GivenUp() }
                return result
            }
        } catch is GivenUp {
            if let place {
                try store.writeHere { try $0.sync.setSyncToken(place.token, of: place.queryID, in: place.table) }
            }
            throw SimLife.Killed()
        }
    }
}

extension Store {
    /// Reads on the calling thread.
    func readHere<T>(_ body: (ReadTransaction) throws -> T) throws -> T { try read(body) }

    /// Writes on the calling thread.
    @discardableResult
    func writeHere<T>(_ body: (WriteTransaction) throws -> T) throws -> T { try write(body) }
}
