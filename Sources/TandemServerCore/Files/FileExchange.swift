public import HTTPTypes

/// The bytes of a file on their way out, read when they are wanted.
public struct FileContent: Sendable {
    /// Thrown to close the connection in the middle: a fault, or bytes that are no longer there.
    public struct Cut: Error {}

    /// The most bytes of a piece.
    static let piece = 256 << 10

    let content: any ShelfContent
    let bytes: Range<Int64>
    let faults: FileFaults

    /// How many bytes there are.
    public var count: Int64 { Int64(bytes.count) }

    /// The piece that follows so many bytes; nil at the end.
    ///
    /// - Throws: ``Cut``, and ``FileShelfError``. The connection must be closed then: the answer has begun.
    public func piece(after sent: Int64) async throws -> [UInt8]? {
        let offset = bytes.lowerBound + sent
        guard offset < bytes.upperBound else {
            // One that has said another length can't go on talking.
            if faults.sizeError != 0 { throw Cut() }
            return nil
        }
        await faults.pause()
        var count = min(Int64(Self.piece), bytes.upperBound - offset)
        if let cut = faults.answerCut {
            guard sent < cut else { throw Cut() }
            count = min(count, cut - sent)
        }
        var piece = try content.read(at: offset, count: Int(count))
        guard piece.count == count else { throw Cut() }
        if faults.wrongsHash, sent == 0 { piece[0] ^= 1 }
        return piece
    }
}

/// What comes of a request for a file.
public enum FileOutcome: Sendable {
    /// What the client gets: a head, and bytes or none. `Content-Length` is in the head.
    case answer(HTTPResponse, FileContent?)
    /// The client hears nothing: by a fault, or since its own bytes ended in the middle. Whoever has the connection
    /// closes it.
    case noAnswer(wasCarriedOut: Bool)
}

/// What of the faults matters to a file's bytes.
struct FileFaults: Sendable {
    var requestCut: Int64?
    var answerCut: Int64?
    var sizeError: Int64 = 0
    var wrongsHash = false
    var slowness: Duration?
    let clock: ServerClock

    init(_ faults: [ServerFault], _ clock: ServerClock) {
        self.clock = clock
        for fault in faults {
            switch fault {
            case .cutRequest(let count): requestCut = count
            case .cutAnswer(let count): answerCut = count
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
    /// Whether a request is for a file, and so for ``exchangeFile(_:next:)``: one under `/files`, if files are served.
    public func isForFile(_ request: HTTPRequest) -> Bool {
        guard configuration.files != nil else { return false }
        let path = (request.path ?? "").split(whereSeparator: { $0 == "?" }).first ?? ""
        return path.split(separator: "/").first?.lowercased() == "files"
    }

    /// Answers a request for a file, with the faults that the configuration has for it.
    ///
    /// - Parameter next: The next bytes of the request's body, none at its end. It is asked for them when they are
    ///   wanted, and maybe not to the end: a refusal needs no body.
    public func exchangeFile(
        _ request: HTTPRequest, next: () async throws -> [UInt8]?
    ) async -> FileOutcome {
        let faults = configuration.faults.faults(request, nextNumber())
        var skew = Duration.zero
        for case .latency(let latency) in faults { await configuration.clock.sleep(latency) }
        if faults.contains(.lostRequest) { return .noAnswer(wasCarriedOut: false) }
        for case .skew(let offset) in faults { skew += offset }
        for case .status(let status, let seconds) in faults {
            var fields: HTTPFields = seconds.map { [.retryAfter: String($0)] } ?? [:]
            fields[.contentLength] = "0"
            return .answer(dated(HTTPResponse(status: Self.status(status), headerFields: fields), skew), nil)
        }
        guard let visit = FileVisit(self, request, FileFaults(faults, configuration.clock)) else {
            return .answer(dated(FileVisit.refusal(.notFound).response, skew), nil)
        }
        guard let (response, content) = await visit.answer(next) else { return .noAnswer(wasCarriedOut: false) }
        return faults.contains(.lostAnswer)
            ? .noAnswer(wasCarriedOut: true) : .answer(dated(response, skew), content)
    }
}
