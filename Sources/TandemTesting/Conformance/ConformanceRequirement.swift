import TandemSync

/// A requirement for an implementation of a protocol, which can be checked by itself.
///
/// ``RemoteConformance`` and ``RemoteFilesConformance`` have lists of them.
public struct ConformanceRequirement<Subject: Sendable>: Sendable, CustomStringConvertible {
    /// The requirement, as a sentence.
    public let name: String
    private let body: @Sendable (Subject) async throws -> Void

    init(_ name: String, body: @escaping @Sendable (Subject) async throws -> Void) {
        self.name = name
        self.body = body
    }

    /// The requirement's name.
    public var description: String { name }

    /// Checks that an implementation meets the requirement.
    ///
    /// - Parameter subject: The implementation.
    /// - Returns: Whether the requirement is met or does not apply.
    /// - Throws: ``ConformanceViolation`` if the requirement is violated, which includes unexpected failures of the
    ///   server; `CancellationError` if the task is cancelled.
    @discardableResult
    public func check(on subject: Subject) async throws -> ConformanceOutcome {
        do {
            try await body(subject)
            return .met
        } catch let exception as NotApplicable {
            return .notApplicable(reason: exception.reason)
        } catch let broken as BrokenExpectation {
            throw ConformanceViolation(requirement: name, message: broken.message, line: broken.line)
        } catch let failure as RemoteFailure {
            if failure.isCancellation { try Task.checkCancellation() }
            throw ConformanceViolation(requirement: name, message: "an unexpected failure: \(failure)", line: "")
        }
    }
}
