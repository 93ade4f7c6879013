public import HTTPTypes

/// The content of a file in a response, read on demand.
public struct FileContent: Sendable {
    /// Thrown to close the connection early: by a fault, or because the bytes no longer exist.
    public struct Cut: Error {}

    /// The maximum size of a piece, in bytes.
    static let piece = 256 << 10

    let content: any FileStorageContent
    let bytes: Range<Int64>
    let faults: FileFaults

    /// The number of bytes.
    public var count: Int64 { Int64(bytes.count) }

    /// Returns the piece after the first `sent` bytes, or `nil` at the end.
    ///
    /// - Parameter sent: The number of bytes that were already sent.
    /// - Throws: ``Cut`` or ``FileStorageError``. The caller must then close the connection, because the response has
    ///   begun.
    public func piece(after sent: Int64) async throws -> [UInt8]? {
        let offset = bytes.lowerBound + sent
        guard offset < bytes.upperBound else {
            // A response with a wrong length can't be completed.
            if faults.sizeError != 0 { throw Cut() }
            return nil
        }
        await faults.pause()
        var count = min(Int64(Self.piece), bytes.upperBound - offset)
        if let cut = faults.responseCut {
            guard sent < cut else { throw Cut() }
            count = min(count, cut - sent)
        }
        var piece = try content.read(at: offset, count: Int(count))
        guard piece.count == count else { throw Cut() }
        if faults.wrongsHash, sent == 0 { piece[0] ^= 1 }
        return piece
    }
}

/// The outcome of a file request.
public enum FileOutcome: Sendable {
    /// The response: a head with `Content-Length`, and content if there is any.
    case response(HTTPResponse, content: FileContent?)
    /// No response, by a fault or because the request's body was incomplete. The caller closes the connection.
    case noResponse(wasCarriedOut: Bool)
}

/// The faults that affect a file's bytes.
struct FileFaults: Sendable {
    var requestCut: Int64?
    var responseCut: Int64?
    var sizeError: Int64 = 0
    var wrongsHash = false
    var slowness: Duration?
    let clock: ServerClock

    init(_ faults: [ServerFault], clock: ServerClock) {
        self.clock = clock
        for fault in faults {
            switch fault {
            case .cutRequest(let count): requestCut = count
            case .cutResponse(let count): responseCut = count
            case .wrongSize(let error): sizeError = error
            case .wrongHash: wrongsHash = true
            case .slow(let pause): slowness = pause
            default: break
            }
        }
    }

    /// Waits before a piece.
    func pause() async {
        if let slowness { await clock.sleep(slowness) }
    }
}

extension ServerCore {
    /// Returns whether a request belongs to ``exchangeFile(_:next:)``: its path is under `/files`, and files are
    /// served.
    public func isForFile(_ request: HTTPRequest) -> Bool {
        guard configuration.files != nil else { return false }
        let path = (request.path ?? "").split(whereSeparator: { $0 == "?" }).first ?? ""
        return path.split(separator: "/").first?.lowercased() == "files"
    }

    /// Responds to a file request, with the configured faults.
    ///
    /// - Parameter next: Returns the next bytes of the request's body, or `nil` at its end. It is called on demand, and
    ///   may not be called to the end: a refusal needs no body.
    public func exchangeFile(
        _ request: HTTPRequest, next: () async throws -> [UInt8]?
    ) async -> FileOutcome {
        let faults = configuration.faults.faults(request, nextNumber())
        var skew = Duration.zero
        for case .latency(let latency) in faults { await configuration.clock.sleep(latency) }
        if faults.contains(.lostRequest) { return .noResponse(wasCarriedOut: false) }
        for case .skew(let offset) in faults { skew += offset }
        for case .status(let status, let seconds) in faults {
            var fields: HTTPFields = seconds.map { [.retryAfter: String($0)] } ?? [:]
            fields[.contentLength] = "0"
            return .response(
                dated(HTTPResponse(status: Self.status(status), headerFields: fields), skew: skew), content: nil)
        }
        guard let fileRequest = FileRequest(self, http: request, faults: FileFaults(faults, clock: configuration.clock))
        else {
            return .response(dated(FileRequest.refusal(.notFound).head, skew: skew), content: nil)
        }
        guard let (response, content) = await fileRequest.respond(next: next) else {
            return .noResponse(wasCarriedOut: false)
        }
        return faults.contains(.lostResponse)
            ? .noResponse(wasCarriedOut: true) : .response(dated(response, skew: skew), content: content)
    }
}
