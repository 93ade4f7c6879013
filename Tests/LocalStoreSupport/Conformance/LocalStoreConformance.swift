import Foundation
import Tandem
import TandemSync

/// The requirements of a local store, which tests check one by one, on Tandem's store and on the one in memory.
///
/// A violated requirement throws a ``LocalStoreViolation`` with the failed expectation and its location.
package enum LocalStoreConformance {
    /// The models that the store must keep.
    package static let models: [any Model.Type] = [Thing.self, Part.self]

    /// All laws.
    package static let laws: [Law] =
        transactionLaws + queueLaws + referenceLaws + ruleLaws + sendingLaws + answerLaws + lostAnswerLaws
        + conflictLaws + discardingLaws + receivingLaws + clashLaws + sweepingLaws + rememberingLaws

    /// One thing that a local store must do.
    package struct Law: Sendable, CustomStringConvertible {
        /// What it says, as a sentence.
        package let name: String
        private let body: @Sendable (LawBench) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (LawBench) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// A law that holds within one transaction, as it does over several.
        init(_ name: String, inOne body: @escaping @Sendable (any LocalWriting) throws -> Void) {
            self.init(name) { bench in try await bench.write(body) }
        }

        package var description: String { name }

        /// Checks that a store keeps the law.
        ///
        /// - Parameter store: An empty one, with ``LocalStoreConformance/models``. It is not empty afterwards.
        /// - Throws: ``LocalStoreViolation``, and what the store throws.
        package func check(on store: any LocalStore) async throws {
            do {
                try await body(LawBench(store: store))
            } catch let broken as BrokenExpectation {
                throw LocalStoreViolation(law: name, message: broken.message, line: broken.line)
            }
        }
    }
}

/// A law that a local store does not keep.
package struct LocalStoreViolation: Error, Sendable, CustomStringConvertible {
    /// The law.
    package let law: String
    /// What was not so.
    package let message: String
    /// Where in the law.
    package let line: String

    package var description: String { "A local store breaks a law (\(law)): \(message) (\(line))." }
}

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

/// Expects an error of a code.
func expect(
    _ code: TandemError.Code, _ what: String, file: String = #fileID, line: UInt = #line, from body: () throws -> Void
) throws {
    do {
        try body()
    } catch let error as TandemError {
        return try expect(error.code == code, "\(what) threw \(error.code), not \(code)", file: file, line: line)
    }
    try expect(false, "\(what) did not throw \(code)", file: file, line: line)
}

/// What is there, or the law is broken.
func unwrap<T>(_ value: T?, _ what: String, file: String = #fileID, line: UInt = #line) throws -> T {
    guard let value else { throw BrokenExpectation(message: "there is no \(what)", line: "\(file):\(line)") }
    return value
}
