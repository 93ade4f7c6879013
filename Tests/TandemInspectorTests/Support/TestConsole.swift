import Foundation
import Synchronization
import TestSupport

@testable import TandemInspector

/// A console that records the output, and answers questions from a list.
final class TestConsole: Sendable {
    private struct State {
        var output = ""
        var errors = ""
        var secrets: [String]
        var prompts: [String] = []
        var stop: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let environment: [String: String]
    private let input: String
    private let columns: Int?
    /// The number of writes after which the reader of the output ends, or nil.
    private let closesAfter: Int?
    /// Serves the pages of `browse`, or nil.
    private let browse: (@Sendable (BrowseRequest) throws -> Void)?
    private let writes = Atomic(0)

    init(
        environment: [String: String] = [:], secrets: [String] = [], input: String = "", columns: Int? = nil,
        closesAfter: Int? = nil, browse: (@Sendable (BrowseRequest) throws -> Void)? = nil
    ) {
        self.browse = browse
        state = Mutex(State(secrets: secrets))
        self.environment = environment
        self.input = input
        self.columns = columns
        self.closesAfter = closesAfter
    }

    var output: String { state.withLock { $0.output } }
    var errors: String { state.withLock { $0.errors } }
    /// The questions for secrets.
    var prompts: [String] { state.withLock { $0.prompts } }
    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Runs a command on this console.
    func run(_ arguments: [String]) -> CommandStatus { Inspector.run(arguments, on: console) }
    func run(_ arguments: String...) -> CommandStatus { run(arguments) }

    /// Interrupts the running command, as Ctrl-C does. Returns `false` if no command waits.
    func interrupt() -> Bool {
        let stop = state.withLock { $0.stop }
        stop?()
        return stop != nil
    }

    private var console: Console {
        Console(
            write: { [self] text in
                let count = writes.add(1, ordering: .relaxed).newValue
                if let closesAfter, count > closesAfter { throw ClosedOutput() }
                state.withLock { $0.output += text }
            },
            report: { [self] text in state.withLock { $0.errors += text + "\n" } },
            columns: { [columns] in columns },
            environment: environment,
            askSecret: { [self] prompt in
                state.withLock { state in
                    state.prompts.append(prompt)
                    return state.secrets.isEmpty ? nil : Array(state.secrets.removeFirst().utf8)
                }
            },
            readInput: { [input] in Data(input.utf8) },
            whenStopped: { [self] stop in
                state.withLock { $0.stop = stop }
                return { [self] in state.withLock { $0.stop = nil } }
            },
            browse: browse)
    }
}
