import TandemSync

/// A failed expectation of a requirement.
struct BrokenExpectation: Error {
    let message: String
    let line: String

    init(message: String, line: String) {
        self.message = message
        self.line = line
    }

    init(message: String, file: String = #fileID, line: UInt = #line) {
        self.init(message: message, line: "\(file):\(line)")
    }
}

func expect(
    _ isSo: Bool, or message: @autoclosure () throws -> String, file: String = #fileID, line: UInt = #line
) throws {
    if !isSo { throw BrokenExpectation(message: try message(), file: file, line: line) }
}

/// Returns a value that must exist.
func unwrap<T>(
    _ value: T?, or message: @autoclosure () throws -> String, file: String = #fileID, line: UInt = #line
) throws -> T {
    guard let value else { throw BrokenExpectation(message: try message(), file: file, line: line) }
    return value
}

/// Returns the failure that a block throws. It must be a `RemoteFailure`.
func failing(
    _ what: String, file: String = #fileID, line: UInt = #line, body: () async throws -> Void
) async throws -> RemoteFailure {
    do {
        try await body()
    } catch let failure as RemoteFailure {
        return failure
    }
    throw BrokenExpectation(message: "\(what) did not fail", file: file, line: line)
}

/// The reason why a requirement does not apply. The body of a requirement throws it.
struct NotApplicable: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
