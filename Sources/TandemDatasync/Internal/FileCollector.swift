import AsyncHTTPClient
import DatasyncWire
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

/// Hands one answer's bytes over as they come, sends one request's, and knows whether the request has left.
///
/// AsyncHTTPClient calls it on the connection's event loop, which is the transport's only one, and does not go on with
/// an answer before the future that it was given is fulfilled.
final class FileCollector: HTTPClientResponseDelegate {
    typealias Response = HTTPResponse
    typealias Take = @Sendable (HTTPResponse, [UInt8]) async throws -> Void

    /// How many bytes are handed over at a time: what comes off a socket is much less.
    private static let piece = 256 << 10

    private struct State {
        var wasSent = false
        var response: HTTPResponse?
        /// What has come and is not handed over.
        var pending: [UInt8] = []
        /// What the caller's closures are called by, off the event loop.
        var workers: [Task<Void, any Error>] = []
        /// What one of the closures has thrown.
        var thrown: (any Error)?
        /// The write that a body waits for.
        var writing: (future: EventLoopFuture<Void>, waiting: EventLoopPromise<Void>)?
        /// Whether there is a body, and whether some of it has not been written yet.
        var hasBody = false
        var isSending = false
        /// How many bytes of the answer are still awaited that refuses the request before its body has left.
        var refusalRest: Int64?
        /// What a body waits for that is refused.
        var parked: EventLoopPromise<Void>?
        var isOver = false
    }

    /// Writes that AsyncHTTPClient has forgotten.
    ///
    /// NB: A write that has to wait since the connection is full gets a promise, and AsyncHTTPClient drops it if the
    /// connection then fails (`RequestBag.StateMachine.fail`): who waits for it waits for ever, and in a debug build
    /// a promise that goes without having been kept ends the process. So it does not go. It is a few hundred bytes for an
    /// upload that was cut.
    private static let forgotten = Mutex<[EventLoopFuture<Void>]>([])

    private let take: Take
    private let state = Mutex(State())

    init(take: @escaping Take) {
        self.take = take
    }

    /// Whether a byte of the request may have left.
    var wasSent: Bool { state.withLock { $0.wasSent } }

    /// What one of the caller's closures has thrown.
    var thrown: (any Error)? { state.withLock { $0.thrown } }

    func didSendRequestHead(task: HTTPClient.Task<HTTPResponse>, _ head: HTTPRequestHead) {
        state.withLock { $0.wasSent = true }
    }

    func didReceiveHead(task: HTTPClient.Task<HTTPResponse>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        guard let response = HTTPResponse(head) else {
            return task.eventLoop.makeFailedFuture(AnswerCollector.BadHead())
        }
        let isEnd = state.withLock { state in
            state.response = response
            guard state.hasBody, response.status.code >= 300 else { return false }
            state.refusalRest = response.headerFields[.contentLength].flatMap { Int64($0) } ?? 1
            return state.isSending && state.refusalRest == 0
        }
        if isEnd { end(task) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    /// The answer that refuses a request with a body, maybe before that has left.
    ///
    /// NB: AsyncHTTPClient stops writing then, and has the request wait for its body's end all the same, unless the
    /// answer's last bytes come together with its end; and a write that it refuses fails the request, answer or not.
    /// So the exchange is ended from here once the answer is there, and until then the body keeps still.
    var refusal: HTTPResponse? { state.withLock { $0.refusalRest == nil ? nil : $0.response } }

    private func end(_ task: HTTPClient.Task<HTTPResponse>) {
        task.eventLoop.execute { task.cancel() }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<HTTPResponse>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let (isFull, isEnd) = state.withLock { state in
            state.pending.append(contentsOf: buffer.readableBytesView)
            if let rest = state.refusalRest { state.refusalRest = rest - Int64(buffer.readableBytes) }
            return (state.pending.count >= Self.piece, state.isSending && state.refusalRest.map { $0 <= 0 } ?? false)
        }
        if isEnd { end(task) }
        return isFull
            ? work(on: task.eventLoop) { try await self.handOver() } : task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<HTTPResponse>) throws -> HTTPResponse {
        guard let response = state.withLock({ $0.response }) else { throw AnswerCollector.BadHead() }
        return response
    }

    /// Hands over what has come and is not handed over yet.
    func handOver() async throws {
        let (response, bytes) = state.withLock { state in
            defer { state.pending = [] }
            return (state.response, state.pending)
        }
        guard let response, !bytes.isEmpty else { return }
        do {
            try await take(response, bytes)
        } catch {
            note(error)
            throw error
        }
    }

    /// A body for AsyncHTTPClient: the next piece is asked for when the last one is written.
    func stream(_ body: FileBody, on eventLoop: any EventLoop) -> HTTPClient.Body {
        state.withLock { state in
            state.hasBody = true
            state.isSending = true
        }
        return .stream(contentLength: body.count) { writer in
            self.work(on: eventLoop) {
                var sent: Int64 = 0
                while sent < body.count {
                    try Task.checkCancellation()
                    let piece: [UInt8]
                    do {
                        piece = try await body.piece(sent)
                    } catch {
                        self.note(error)
                        throw error
                    }
                    sent += Int64(piece.count)
                    do {
                        try await self.write(ByteBuffer(bytes: piece), by: writer, on: eventLoop)
                    } catch  where self.refusal != nil {
                        return try await self.park(on: eventLoop)
                    }
                }
                self.state.withLock { $0.isSending = false }
            }
        }
    }

    /// Returns when a piece is on its way, and there is room for the next one; or when the exchange is over.
    private func write(
        _ buffer: ByteBuffer, by writer: HTTPClient.Body.StreamWriter, on eventLoop: any EventLoop
    ) async throws {
        let waiting = eventLoop.makePromise(of: Void.self)
        // On the event loop, where the future that comes back is the one that may be dropped.
        eventLoop.execute {
            let future = writer.write(.byteBuffer(buffer))
            let isOver = self.state.withLock { state in
                state.writing = (future, waiting)
                return state.isOver
            }
            future.whenComplete { result in
                self.state.withLock { $0.writing = nil }
                waiting.completeWith(result)
            }
            if isOver { self.forgetWriting() }
        }
        try await waiting.futureResult.get()
    }

    /// Waits for the end of the exchange.
    private func park(on eventLoop: any EventLoop) async throws {
        let parked = eventLoop.makePromise(of: Void.self)
        let isOver = state.withLock { state in
            state.parked = parked
            return state.isOver
        }
        if isOver { parked.fail(CancellationError()) }
        try await parked.futureResult.get()
    }

    /// Lets nobody wait for a write of an exchange that is over.
    private func forgetWriting() {
        guard let (future, waiting) = state.withLock({ $0.writing }) else { return }
        Self.forgotten.withLock { $0.append(future) }
        waiting.fail(CancellationError())
    }

    /// Waits until none of the caller's closures is running, and none will.
    func end(on eventLoop: any EventLoop) async {
        let (workers, parked) = state.withLock { state in
            state.isOver = true
            return (state.workers, state.parked)
        }
        parked?.fail(CancellationError())
        eventLoop.execute { self.forgetWriting() }
        for worker in workers { worker.cancel() }
        for worker in workers { _ = await worker.result }
    }

    /// Tells the caller's closures that nobody wants what they do.
    func cancel() {
        for worker in state.withLock({ $0.workers }) { worker.cancel() }
    }

    private func note(_ error: any Error) {
        state.withLock { state in
            if state.thrown == nil { state.thrown = error }
        }
    }

    private func work(
        on eventLoop: any EventLoop, _ body: @escaping @Sendable () async throws -> Void
    ) -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        let worker = state.withLock { state in
            let worker: Task<Void, any Error>? = state.isOver ? nil : Task { try await body() }
            // The one that sends, and the one that hands over: its forerunners have ended.
            if let worker {
                if state.workers.count > 1 { state.workers.removeLast() }
                state.workers.append(worker)
            }
            return worker
        }
        promise.completeWithTask {
            guard let worker else { throw CancellationError() }
            try await worker.value
        }
        return promise.futureResult
    }
}

extension HTTPResponse {
    /// A head as it can be passed on; nil if its status is none of an answer.
    init?(_ head: HTTPResponseHead) {
        guard (200...999).contains(head.status.code) else { return nil }
        self.init(status: .init(code: Int(head.status.code)))
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}
