import DatasyncWire
import HTTPTypes
import TandemServerCore

/// The simulated network. A process can be killed during a message, and other tasks continue meanwhile.
struct SimTransport: HTTPTransport {
    let server: ServerCore
    let life: SimLife
    let world: SimWorld
    /// The device that sends, or -1 for another client.
    let sender: Int
    /// Whether the server can't recognize a repeated request for a new object.
    let hasServerIDs: Bool
    let mistake: SimMistake?

    struct NoResponse: Error {}

    /// The sender of the request that the server is executing.
    @TaskLocal static var sender: Int?

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        do { try life.step() } catch { throw .notSent(error) }
        let request = mistake?.rewritten(request) ?? request
        await world.passMessage()
        var delay = isRepeatable(request) ? world.drawDelay() : nil
        if isUndelete(request), delay != .slow { delay = nil }
        if delay == .late {
            world.note("    \(request.method) \(request.path ?? ""): will be late")
            world.later { await deliver(request, body, "late") }
            throw .lost(NoResponse())
        }
        let outcome = await Self.$sender.withValue(sender) { await server.exchange(request, body: body) }
        world.note(
            "    \(sender): \(request.method) \(request.path ?? "") \(String(decoding: body, as: UTF8.self)): "
                + outcome.line)
        switch delay {
        // The server rejects a rejected request again.
        case .lateTwice where outcome.mayHaveActed: world.later { await deliver(request, body, "once more") }
        case .slow: for _ in 0..<world.number(1...20) { await Task.yield() }
        default: break
        }
        await world.passMessage()
        do { try life.step() } catch { throw .lost(error) }
        switch outcome {
        case .response(let response, let body): return (response, body)
        case .noResponse: throw .lost(NoResponse())
        }
    }

    /// Returns whether a request may be repeated or delayed on the network.
    ///
    /// A server that makes the IDs makes two objects of a repeated insert, which no client can prevent.
    private func isRepeatable(_ request: HTTPRequest) -> Bool {
        let path = request.path?.split(separator: "?").first ?? ""
        let isInsert = request.method == .post && path.split(separator: "/").count == 2
        return request.method != .get && !(isInsert && hasServerIDs)
    }

    /// Whether a request restores a deleted row. None is late here: it would restore a row that was deleted again, as
    /// the limits of sync say.
    private func isUndelete(_ request: HTTPRequest) -> Bool {
        let path = request.path ?? ""
        return request.method == .put && path.contains("__includedeleted=true")
            || request.method == .post && (path.split(separator: "?").first ?? "").split(separator: "/").count == 3
    }

    private func deliver(_ request: HTTPRequest, _ body: [UInt8], _ word: String) async {
        let outcome = await Self.$sender.withValue(sender) { await server.exchange(request, body: body) }
        world.note(
            "    \(sender), \(word): \(request.method) \(request.path ?? "") \(String(decoding: body, as: UTF8.self)): "
                + outcome.line)
    }
}

extension ServerCore.Outcome {
    /// Whether the request may have been executed.
    fileprivate var mayHaveActed: Bool {
        switch self {
        case .response(let response, _): response.status.code < 400 || response.status.code >= 500
        case .noResponse: true
        }
    }

    /// The response in one line.
    fileprivate var line: String {
        switch self {
        case .response(let response, let body):
            "\(response.status.code) \(String(decoding: body.prefix(200), as: UTF8.self))"
        case .noResponse(let wasCarriedOut): wasCarriedOut ? "response lost" : "request lost"
        }
    }
}
