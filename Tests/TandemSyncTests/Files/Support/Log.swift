import Synchronization

/// Lines in the order in which they were logged.
final class Log: Sendable {
    private let state = Mutex<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    func note(_ line: String) { state.withLock { $0.append(line) } }
}
