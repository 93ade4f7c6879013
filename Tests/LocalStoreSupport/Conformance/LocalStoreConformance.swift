import Foundation
import Tandem
import TandemSync

/// The requirements of a local store.
///
/// Tests check them one by one, on Tandem's store and on the one in memory. A violated requirement throws a
/// ``LocalStoreViolation`` with the failed expectation and its location.
package enum LocalStoreConformance {
    /// The models that the store must support.
    package static let models: [any Model.Type] = [ConformanceModel.self, Part.self]

    /// All requirements.
    package static let requirements: [Requirement] =
        transactionRequirements + queueRequirements + referenceRequirements + ruleRequirements + sendingRequirements
        + responseRequirements + lostResponseRequirements
        + conflictRequirements + discardingRequirements + receivingRequirements + clashRequirements
        + sweepingRequirements + rememberingRequirements

    /// A requirement for a local store.
    package struct Requirement: Sendable, CustomStringConvertible {
        /// The requirement, as a sentence.
        package let name: String
        private let body: @Sendable (ConformanceFixture) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (ConformanceFixture) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// Creates a requirement that can be checked within one transaction, or over several.
        init(_ name: String, inOne body: @escaping @Sendable (any LocalTransaction) throws -> Void) {
            self.init(name) { bench in try await bench.write(body) }
        }

        /// The requirement's name.
        package var description: String { name }

        /// Checks that a store meets the requirement.
        ///
        /// - Parameter store: An empty store with ``LocalStoreConformance/models``. It is not empty afterwards.
        /// - Throws: ``LocalStoreViolation``, or the store's error.
        package func check(on store: any LocalStore) async throws {
            do {
                try await body(ConformanceFixture(store: store))
            } catch let broken as UnmetExpectation {
                throw LocalStoreViolation(requirement: name, message: broken.message, line: broken.line)
            }
        }
    }
}

/// A violation of a requirement by a local store.
package struct LocalStoreViolation: Error, Sendable, CustomStringConvertible {
    /// The violated requirement.
    package let requirement: String
    /// The failed expectation.
    package let message: String
    /// The location of the expectation.
    package let line: String

    /// The requirement, the failed expectation and its location.
    package var description: String { "A local store violates a requirement (\(requirement)): \(message) (\(line))." }
}

/// A failed expectation of a requirement.
struct UnmetExpectation: Error {
    let message: String
    let line: String
}

func expect(
    _ isSo: Bool, _ message: @autoclosure () throws -> String, file: String = #fileID, line: UInt = #line
) throws {
    if !isSo { throw UnmetExpectation(message: try message(), line: "\(file):\(line)") }
}

/// Expects an error with a code.
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

/// Unwraps a value that a requirement needs.
func unwrap<T>(_ value: T?, _ what: String, file: String = #fileID, line: UInt = #line) throws -> T {
    guard let value else { throw UnmetExpectation(message: "\(what) is missing", line: "\(file):\(line)") }
    return value
}
