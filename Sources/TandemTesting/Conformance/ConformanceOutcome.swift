/// The outcome of the check of a requirement that is not violated.
public enum ConformanceOutcome: Hashable, Sendable {
    /// The requirement is met.
    case met
    /// The requirement does not apply. The value is the reason, as a sentence.
    case notApplicable(reason: String)
}
