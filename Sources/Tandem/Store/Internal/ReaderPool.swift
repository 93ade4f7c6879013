import Dispatch
import Synchronization

/// The connections that a store reads by, made when they are first needed.
///
/// A connection is lent to one thread at a time. Whoever comes when all are lent waits for the next one returned, in
/// the order of coming.
final class ReaderPool: Sendable {
    /// A connection lent out. `@unchecked`: a connection is not safe for two threads at a time, and the pool lends it
    /// to one only; the pool's lock orders what one borrower did before what the next one does.
    struct Reader: @unchecked Sendable {
        let connection: Connection
    }

    private enum Waiter: Sendable {
        case thread(ThreadWaiter)
        case task(CheckedContinuation<Reader?, any Error>)
    }

    /// A thread that waits for a reader.
    private final class ThreadWaiter: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let reader = Mutex<Reader?>(nil)
    }

    private struct State {
        var idle: [Reader] = []
        var count = 0
        var waiters: [Waiter] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let maximum: Int
    private let path: String
    private let make: @Sendable () throws -> Reader

    init(maximum: Int, path: String, make: @escaping @Sendable () throws -> Reader) {
        self.maximum = max(1, maximum)
        self.path = path
        self.make = make
    }

    private enum Turn {
        case idle(Reader)
        case make
        case wait
    }

    private func turn(_ state: inout State, waiter: () -> Waiter) throws -> Turn {
        if state.isClosed { throw TandemError(.closed, "The store is closed.", store: path) }
        if let reader = state.idle.popLast() { return .idle(reader) }
        if state.count < maximum {
            state.count += 1
            return .make
        }
        state.waiters.append(waiter())
        return .wait
    }

    private func makeReader() throws -> Reader {
        do {
            return try make()
        } catch {
            state.withLock { $0.count -= 1 }
            throw error
        }
    }

    /// Borrows a reader, waiting for one if need be.
    func borrow() throws -> Reader {
        let waiter = ThreadWaiter()
        switch try state.withLock({ try turn(&$0) { .thread(waiter) } }) {
        case .idle(let reader): return reader
        case .make: return try makeReader()
        case .wait:
            waiter.semaphore.wait()
            guard let reader = waiter.reader.withLock({ $0 }) else {
                throw TandemError(.closed, "The store is closed.", store: path)
            }
            return reader
        }
    }

    /// Borrows a reader without blocking a thread.
    func borrow() async throws -> Reader {
        let reader: Reader? = try await withCheckedThrowingContinuation { continuation in
            let turn: Result<Turn, any Error> = state.withLock { state in
                Result { try self.turn(&state) { .task(continuation) } }
            }
            switch turn {
            case .success(.idle(let reader)): continuation.resume(returning: reader)
            case .success(.make): continuation.resume(returning: nil)
            case .success(.wait): break
            case .failure(let error): continuation.resume(throwing: error)
            }
        }
        return try reader ?? makeReader()
    }

    /// Borrows a reader for as long as a walk takes, beyond the maximum if need be: whoever walks may read by others
    /// meanwhile, and must not wait for another walk to end.
    func borrowForWalk() throws -> Reader {
        let idle: Reader? = try state.withLock { state in
            if state.isClosed { throw TandemError(.closed, "The store is closed.", store: path) }
            if let reader = state.idle.popLast() { return reader }
            state.count += 1
            return nil
        }
        return try idle ?? makeReader()
    }

    /// Gives a reader back.
    func giveBack(_ reader: Reader) {
        enum Next {
            case hand(Waiter)
            case keep
            case close
        }
        let next: Next = state.withLock { state in
            if state.isClosed || state.count > maximum {
                state.count -= 1
                return .close
            }
            if !state.waiters.isEmpty { return .hand(state.waiters.removeFirst()) }
            state.idle.append(reader)
            return .keep
        }
        let waiter: Waiter?
        switch next {
        case .hand(let first): waiter = first
        case .keep: return
        case .close:
            reader.connection.finalizeStatements()
            try? reader.connection.queue.close()
            return
        }
        switch waiter {
        case .thread(let waiter):
            waiter.reader.withLock { $0 = reader }
            waiter.semaphore.signal()
        case .task(let continuation): continuation.resume(returning: reader)
        case nil: break
        }
    }

    /// Refuses new borrowers, and returns the readers that are not lent.
    func close() -> [Reader] {
        let (readers, waiters) = state.withLock { state in
            defer {
                state.idle = []
                state.waiters = []
                state.isClosed = true
            }
            return (state.idle, state.waiters)
        }
        for waiter in waiters {
            switch waiter {
            case .thread(let waiter): waiter.semaphore.signal()
            case .task(let continuation):
                continuation.resume(throwing: TandemError(.closed, "The store is closed.", store: path))
            }
        }
        return readers
    }
}
