/// The outcomes of all requirements for one implementation, for a program that is not a test.
///
/// For example:
///
/// ```swift
/// let report = await RemoteConformance.report(on: TestedRemote(remote, table: "conformance"))
/// print(report)
/// exit(report.violations.isEmpty ? 0 : 1)
/// ```
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// The names of the requirements that are met.
    public private(set) var met: [String] = []
    /// The names of the requirements that do not apply, with their reasons.
    public private(set) var notApplicable: [(requirement: String, reason: String)] = []
    /// The names of the violated requirements, with their errors.
    public private(set) var violations: [(requirement: String, error: any Error)] = []

    /// Checks requirements one after the other.
    ///
    /// - Parameters:
    ///   - requirements: The requirements.
    ///   - subject: The implementation.
    public init<Subject>(_ requirements: [ConformanceRequirement<Subject>], on subject: Subject) async {
        for requirement in requirements {
            do {
                switch try await requirement.check(on: subject) {
                case .met: met.append(requirement.name)
                case .notApplicable(let reason): notApplicable.append((requirement.name, reason))
                }
            } catch {
                violations.append((requirement.name, error))
            }
        }
    }

    /// The numbers of requirements, then a line for each requirement that does not apply or is violated. An example of
    /// the first line is "The remote meets 40 requirements, 4 do not apply, and 0 are violated."
    public var description: String {
        let summary =
            "The remote meets \(met.count) requirements, \(notApplicable.count) do not apply, and "
            + "\(violations.count) are violated."
        let exceptions = notApplicable.map { "not applicable: \($0.requirement): \($0.reason)" }
        return ([summary] + exceptions + violations.map { "violated: \($0.error)" }).joined(separator: "\n")
    }
}
