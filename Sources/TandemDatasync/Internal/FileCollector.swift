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
        var isOver = false
    }

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
        state.withLock { $0.response = response }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<HTTPResponse>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let isFull = state.withLock { state in
            state.pending.append(contentsOf: buffer.readableBytesView)
            return state.pending.count >= Self.piece
        }
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
        .stream(contentLength: body.count) { writer in
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
                    try await writer.write(.byteBuffer(ByteBuffer(bytes: piece))).get()
                }
            }
        }
    }

    /// Waits until none of the caller's closures is running, and none will.
    func end() async {
        let workers = state.withLock { state in
            state.isOver = true
            return state.workers
        }
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
