/// How large a filter or an order may be.
struct FilterLimits: Sendable {
    /// In bytes of UTF-8.
    var length: Int
    /// Of parentheses, calls and signs, and of chained operators that are not `and` or `or`.
    var depth: Int
    var nodes: Int
    var orderKeys: Int
}
