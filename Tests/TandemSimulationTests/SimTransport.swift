import DatasyncWire
import HTTPTypes
import TandemServerCore

/// The way to the server and back, on which a process can die, and on which the world goes on meanwhile.
struct SimTransport: HTTPTransport {
    let server: ServerCore
    let life: SimLife
    let world: SimWorld
    /// The device that sends; -1 for another client.
    let sender: Int
    /// Whether the server can't know a request for a new object again.
    let hasServerIDs: Bool
    let slip: SimSlip?

    struct NoAnswer: Error {}

    /// Whose request the server is carrying out.
    @TaskLocal static var sender: Int?

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        do { try life.step() } catch { throw .notSent(error) }
        let request = slip?.rewritten(request) ?? request
        await world.passMessage()
        var delay = isRepeatable(request) ? world.drawDelay() : nil
        if isUndelete(request), delay != .slow { delay = nil }
        if delay == .late {
            world.note("    \(request.method) \(request.path ?? ""): will be late")
            world.later { await deliver(request, body, "late") }
            throw .lost(NoAnswer())
        }
        let outcome = await Self.$sender.withValue(sender) { await server.exchange(request, body: body) }
        world.note(
            "    \(sender): \(request.method) \(request.path ?? "") \(String(decoding: body, as: UTF8.self)): "
                + outcome.line)
        switch delay {
        // Who was refused is refused again.
        case .lateTwice where outcome.mayHaveActed: world.later { await deliver(request, body, "once more") }
        case .slow: for _ in 0..<world.number(1...20) { await Task.yield() }
        default: break
        }
        await world.passMessage()
        do { try life.step() } catch { throw .lost(error) }
        switch outcome {
        case .answer(let response, let body): return (response, body)
        case .noAnswer: throw .lost(NoAnswer())
        }
    }

    /// Whether somebody on the way may send it again, or late.
    ///
    /// A server that makes the IDs makes two objects of an insert that comes twice, and nobody can help it.
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
    /// Whether it is not said that the request was not carried out.
    fileprivate var mayHaveActed: Bool {
        switch self {
        case .answer(let response, _): response.status.code < 400 || response.status.code >= 500
        case .noAnswer: true
        }
    }

    /// The answer in a line.
    fileprivate var line: String {
        switch self {
        case .answer(let response, let body):
            "\(response.status.code) \(String(decoding: body.prefix(200), as: UTF8.self))"
        case .noAnswer(let wasCarriedOut): wasCarriedOut ? "answer lost" : "request lost"
        }
    }
}
