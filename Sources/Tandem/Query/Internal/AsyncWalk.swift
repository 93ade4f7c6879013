import Dispatch
import Synchronization

/// An iteration over the objects of a query, on its own connection. Batches are read on a thread of Dispatch.
///
/// Proof of `@unchecked Sendable`: only the iterating task uses the stored properties, and it waits while a batch is
/// read. A lock protects the state that cancellation accesses from other threads.
final class AsyncWalk<M: Model>: @unchecked Sendable {
    private enum Progress {
        case notBegun
        case under(Connection, statement: Statement)
        case over
    }

    private let results: Results<M>
    private var progress = Progress.notBegun
    /// The objects that were read but not returned yet, in reverse order.
    private var batch: [M] = []
    /// The state that cancellation accesses, from any thread.
    private struct Interruptible {
        var isCancelled = false
        /// The connection to interrupt, while this iteration owns it.
        var connection: ReaderPool.Reader?
    }
    private let interruptible = Mutex(Interruptible())

    /// A batch of this size takes longer than the switch to another thread and back.
    private static var batchSize: Int { 256 }

    init(results: Results<M>) {
        self.results = results
    }

    deinit {
        end()
    }

    func next() async throws -> M? {
        if let object = batch.popLast() { return object }
        if case .over = progress { return nil }
        do {
            try Task.checkCancellation()
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    DispatchQueue.global().async {
                        continuation.resume(with: Result { try self.readBatch() })
                    }
                }
            } onCancel: {
                interruptible.withLock { state in
                    state.isCancelled = true
                    state.connection?.connection.mustStop.isSet = true
                }
            }
        } catch {
            end()
            throw Task.isCancelled ? CancellationError() : error
        }
        return batch.popLast()
    }

    private func readBatch() throws {
        guard let (connection, statement) = try begun() else {
            // A store in memory has no second connection, and its objects are in memory anyway.
            batch = try results.all().reversed()
            progress = .over
            return
        }
        batch.reserveCapacity(Self.batchSize)
        while batch.count < Self.batchSize {
            guard try statement.step() else {
                end()
                break
            }
            batch.append(try M.read(statement.row(), path: connection.path))
        }
        batch.reverse()
    }

    private func begun() throws -> (Connection, Statement)? {
        if case .under(let connection, let statement) = progress { return (connection, statement) }
        let sql = try results.store.compiled(results.query.compileObjects)
        guard let connection = try results.store.checkOutReader() else { return nil }
        var prepared: Statement?
        do {
            let statement = try connection.uncachedStatement(sql.text)
            prepared = statement
            statement.bind(sql.values)
            // Check for a cancellation that came before the connection was set.
            try interruptible.withLock { state in
                if state.isCancelled { throw CancellationError() }
                state.connection = ReaderPool.Reader(connection: connection)
            }
            progress = .under(connection, statement: statement)
            return (connection, statement)
        } catch {
            prepared?.finalize()
            results.store.checkIn(connection)
            throw error
        }
    }

    /// Returns the connection to the pool, without state of this iteration. After that another thread may use it.
    private func end() {
        guard case .under(let connection, let statement) = progress else {
            progress = .over
            return
        }
        interruptible.withLock { $0.connection = nil }
        connection.mustStop.isSet = false
        statement.finalize()
        progress = .over
        results.store.checkIn(connection)
    }
}
