/// A failed expectation of a requirement.
struct BrokenExpectation: Error {
    let message: String
    let line: String
}

func expect(
    _ isSo: Bool, _ message: @autoclosure () throws -> String, file: String = #fileID, line: UInt = #line
) throws {
    if !isSo { throw BrokenExpectation(message: try message(), line: "\(file):\(line)") }
}
