/// Limits for the size of a filter or an order.
struct FilterLimits: Sendable {
    /// The maximum length in bytes of UTF-8.
    var length: Int
    /// The maximum depth of parentheses, calls and signs, and of chained operators other than `and` and `or`.
    var depth: Int
    var nodes: Int
    var orderKeys: Int
}
