import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import RemoteHTTP
import Synchronization

/// Delivers the bytes of one response as they arrive, and sends the body of one request.
///
/// It also records whether the request was sent.
///
/// AsyncHTTPClient calls this delegate on the connection's event loop, which is the transport's only one. It continues
/// with a response when the returned future is fulfilled.
final class FileCollector: HTTPClientResponseDelegate {
    typealias Response = HTTPResponse
    typealias ChunkHandler = @Sendable (HTTPResponse, [UInt8]) async throws -> Void

    /// The number of bytes that are delivered at a time. A read of a socket returns much less.
    private static let piece = 256 << 10

    private struct State {
        var wasSent = false
        var response: HTTPResponse?
        /// The received bytes that are not delivered yet.
        var pending: [UInt8] = []
        /// The tasks that call the caller's closures, off the event loop.
        var workers: [Task<Void, any Error>] = []
        /// The first error that a closure threw.
        var thrown: (any Error)?
        /// The write that the request's body waits for.
        var writing: (future: EventLoopFuture<Void>, waiting: EventLoopPromise<Void>)?
        /// Whether the request has a body, and whether a part of the body is still to be written.
        var hasBody = false
        var isSending = false
        /// The number of bytes missing from a response that refuses the request before its body is sent.
        var refusalRest: Int64?
        /// The promise that the body of a refused request waits for.
        var parked: EventLoopPromise<Void>?
        var isOver = false
    }

    /// Writes whose promises AsyncHTTPClient never completes.
    ///
    /// NB: A write that waits because the connection is full gets a promise. AsyncHTTPClient drops the promise if the
    /// connection then fails (`RequestBag.StateMachine.fail`). A waiting task would never resume. In a debug build, the
    /// release of an uncompleted promise ends the process. The futures are therefore kept: a few hundred bytes for each
    /// interrupted upload.
    private static let forgotten = Mutex<[EventLoopFuture<Void>]>([])

    private let receive: ChunkHandler
    private let state = Mutex(State())

    init(receive: @escaping ChunkHandler) {
        self.receive = receive
    }

    /// Whether a byte of the request may have been sent.
    var wasSent: Bool { state.withLock { $0.wasSent } }

    /// The first error that one of the caller's closures threw.
    var thrown: (any Error)? { state.withLock { $0.thrown } }

    func didSendRequestHead(task: HTTPClient.Task<HTTPResponse>, _ head: HTTPRequestHead) {
        state.withLock { $0.wasSent = true }
    }

    func didReceiveHead(task: HTTPClient.Task<HTTPResponse>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        guard let response = HTTPResponse(head) else {
            return task.eventLoop.makeFailedFuture(ResponseCollector.BadHead())
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

    /// The response that refuses a request with a body, possibly before the body is sent.
    ///
    /// NB: AsyncHTTPClient then stops writing, but still waits for the body's end. It does not wait if the response's
    /// last bytes arrive together with its end. A write that AsyncHTTPClient refuses fails the request, despite the
    /// response. This type therefore ends the exchange once the response is complete, and until then the body waits.
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
            ? work(on: task.eventLoop) { try await self.deliver() } : task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<HTTPResponse>) throws -> HTTPResponse {
        guard let response = state.withLock({ $0.response }) else { throw ResponseCollector.BadHead() }
        return response
    }

    /// Delivers the received bytes that are not delivered yet.
    func deliver() async throws {
        let (response, bytes) = state.withLock { state in
            defer { state.pending = [] }
            return (state.response, state.pending)
        }
        guard let response, !bytes.isEmpty else { return }
        do {
            try await receive(response, bytes)
        } catch {
            recordFailure(error)
            throw error
        }
    }

    /// Creates a body for AsyncHTTPClient. It asks for the next piece when the previous one is written.
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
                        self.recordFailure(error)
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

    /// Returns when a piece is written and the connection accepts the next one, or when the exchange is over.
    private func write(
        _ buffer: ByteBuffer, by writer: HTTPClient.Body.StreamWriter, on eventLoop: any EventLoop
    ) async throws {
        let waiting = eventLoop.makePromise(of: Void.self)
        // Runs on the event loop: the returned future is the one that AsyncHTTPClient may drop.
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

    /// Fails the pending write of an exchange that is over, so that no task waits for it.
    private func forgetWriting() {
        guard let (future, waiting) = state.withLock({ $0.writing }) else { return }
        Self.forgotten.withLock { $0.append(future) }
        waiting.fail(CancellationError())
    }

    /// Waits until all closures of the caller have ended. No closure starts afterwards.
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

    /// Cancels the running closures of the caller.
    func cancel() {
        for worker in state.withLock({ $0.workers }) { worker.cancel() }
    }

    private func recordFailure(_ error: any Error) {
        state.withLock { state in
            if state.thrown == nil { state.thrown = error }
        }
    }

    private func work(
        on eventLoop: any EventLoop, body: @escaping @Sendable () async throws -> Void
    ) -> EventLoopFuture<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        let worker = state.withLock { state in
            let worker: Task<Void, any Error>? = state.isOver ? nil : Task { try await body() }
            // At most two workers run: the sender and the deliverer. Earlier deliverers have ended.
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
    /// Converts a head. Returns `nil` if its status is not one of a final response.
    init?(_ head: HTTPResponseHead) {
        guard (200...999).contains(head.status.code) else { return nil }
        self.init(status: .init(code: Int(head.status.code)))
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}
