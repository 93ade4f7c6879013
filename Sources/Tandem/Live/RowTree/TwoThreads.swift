import Dispatch
import Foundation

/// The reading, sorting and building of long lists on two threads.
struct TwoThreads {
    /// The minimum number of rows for two threads. For fewer rows, no gain was measured.
    let leastRows: Int

    static let standard = TwoThreads(leastRows: ProcessInfo.processInfo.activeProcessorCount > 1 ? 20_000 : .max)

    /// Returns the number of parts for the first thread. It is `count` if one thread does all the work.
    ///
    /// - Parameters:
    ///   - count: The number of parts.
    ///   - rows: The number of rows in all parts.
    func middle(of count: Int, rows: Int) -> Int { rows < leastRows ? count : count / 2 }

    /// Calls a function for the ranges before and after `middle`, on two threads, and returns after both calls. The
    /// function must not write to anything that both calls access.
    static func run(_ count: Int, middle: Int, _ body: (Range<Int>) -> Void) {
        guard middle < count else { return body(0..<count) }
        withoutActuallyEscaping(body) { body in
            // Proof of `nonisolated(unsafe)`: Dispatch declares its parameter as `@Sendable`. The two calls share only
            // data that both read, and both end before `concurrentPerform` returns.
            nonisolated(unsafe) let body = body
            DispatchQueue.concurrentPerform(iterations: 2) { body($0 == 0 ? 0..<middle : middle..<count) }
        }
    }
}
