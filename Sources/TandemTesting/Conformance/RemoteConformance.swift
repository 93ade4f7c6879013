import Tandem
import TandemSync

/// The requirements for a remote, which can be checked one by one. Use them to test your own `Remote`.
///
/// For example, in a test:
///
/// ```swift
/// @Test(.serialized, arguments: RemoteConformance.requirements)
/// func requirementHolds(requirement: RemoteConformance.Requirement) async throws {
///     try await requirement.check(on: TestedRemote(MyRemote(url: testServer), table: "conformance"))
/// }
/// ```
///
/// A violated requirement throws a ``ConformanceViolation`` with the expectation and its location. A requirement that
/// does not apply to the remote's ``RemoteFeatures`` returns ``ConformanceOutcome/notApplicable(reason:)``.
///
/// Each check inserts items with new IDs and ignores others. So all checks can run on one table, one after the other.
/// If checks run concurrently, give each its own table, because some count the table's items.
public enum RemoteConformance {
    /// A requirement for a remote.
    public typealias Requirement = ConformanceRequirement<TestedRemote>

    /// All requirements.
    public static let requirements: [Requirement] =
        insertRequirements + updateRequirements + deleteRequirements + findRequirements + timeOrderRequirements
        + pageRequirements + filterRequirements + valueRequirements + concurrencyRequirements + batchRequirements
        + changeRequirements

    /// Checks all requirements one after the other.
    ///
    /// - Parameter remote: The remote under test.
    public static func report(on remote: TestedRemote) async -> ConformanceReport {
        await ConformanceReport(requirements, on: remote)
    }
}

extension ConformanceRequirement where Subject == TestedRemote {
    /// Creates a requirement that ends even if the remote hangs.
    init(remote name: String, body: @escaping @Sendable (TestedRemote) async throws -> Void) {
        self.init(name) { tested in
            try await tested.bounded { try await body(tested) }
        }
    }
}
