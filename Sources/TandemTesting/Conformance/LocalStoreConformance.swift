import Foundation
import Tandem
import TandemSync

/// What every local store must do, as laws that can be checked one by one: for whoever writes one.
///
/// For example, in a test:
///
/// ```swift
/// @Test(arguments: LocalStoreConformance.laws)
/// func aLawIsKept(law: LocalStoreConformance.Law) async throws {
///     try await law.check(on: MyStore(models: LocalStoreConformance.models))
/// }
/// ```
///
/// A law that is broken throws a ``LocalStoreViolation``, which says what was expected and where.
public enum LocalStoreConformance {
    /// The models that the store must keep.
    public static let models: [any Model.Type] = [Thing.self, Part.self]

    /// All laws.
    public static let laws: [Law] =
        transactionLaws + queueLaws + referenceLaws + ruleLaws + sendingLaws + answerLaws + lostAnswerLaws
        + conflictLaws + discardingLaws + receivingLaws + clashLaws + sweepingLaws + rememberingLaws

    /// One thing that a local store must do.
    public struct Law: Sendable, CustomStringConvertible {
        /// What it says, as a sentence.
        public let name: String
        private let body: @Sendable (LawBench) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (LawBench) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// A law that holds within one transaction, as it does over several.
        init(_ name: String, inOne body: @escaping @Sendable (any LocalWriting) throws -> Void) {
            self.init(name) { bench in try await bench.write(body) }
        }

        public var description: String { name }

        /// Checks that a store keeps the law.
        ///
        /// - Parameter store: An empty one, with ``LocalStoreConformance/models``. It is not empty afterwards.
        /// - Throws: ``LocalStoreViolation``, and what the store throws.
        public func check(on store: any LocalStore) async throws {
            do {
                try await body(LawBench(store: store))
            } catch let broken as BrokenExpectation {
                throw LocalStoreViolation(law: name, message: broken.message, line: broken.line)
            }
        }
    }
}

/// A law that a local store does not keep.
public struct LocalStoreViolation: Error, Sendable, CustomStringConvertible {
    /// The law.
    public let law: String
    /// What was not so.
    public let message: String
    /// Where in the law.
    public let line: String

    public var description: String { "A local store breaks a law (\(law)): \(message) (\(line))." }
}

/// What a law expected, and was not so.
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
