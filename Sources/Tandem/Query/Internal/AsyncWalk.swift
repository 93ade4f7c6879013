import Dispatch
import Synchronization

/// A walk over the objects of a query, on a connection of its own, read in batches on a thread of Dispatch's.
///
/// Unchecked, because what it holds is used by one task, the one that iterates, and while a batch is read that task
/// waits for it. What cancellation touches from elsewhere is behind a lock.
final class AsyncWalk<M: Model>: @unchecked Sendable {
    private enum Progress {
        case notBegun
        case under(Connection, Statement)
        case over
    }

    private let results: Results<M>
    private var progress = Progress.notBegun
    /// The objects read and not handed out, the next one last.
    private var batch: [M] = []
    /// What cancellation touches, from any thread.
    private struct Interruptible {
        var isCancelled = false
        /// The connection to stop, as long as it is this walk's.
        var connection: ReaderPool.Reader?
    }
    private let interruptible = Mutex(Interruptible())

    /// Enough for a batch to cost more than the way to another thread and back.
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
            // In memory there is no second connection, and the objects are in memory anyway.
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
        let sql = try results.store.compiled(results.compileObjects)
        guard let connection = try results.store.checkOutReader() else { return nil }
        var prepared: Statement?
        do {
            let statement = try connection.uncachedStatement(sql.text)
            prepared = statement
            statement.bind(sql.values)
            // A cancel that came before there was anything to stop is seen here.
            try interruptible.withLock { state in
                if state.isCancelled { throw CancellationError() }
                state.connection = ReaderPool.Reader(connection: connection)
            }
            progress = .under(connection, statement)
            return (connection, statement)
        } catch {
            prepared?.finalize()
            results.store.checkIn(connection)
            throw error
        }
    }

    /// Gives the connection back, with nothing of the walk's left on it: another thread may use it from then on.
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
