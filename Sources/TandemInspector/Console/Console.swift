import Foundation

/// The streams and the environment of a command: those of the process, or those of a test.
struct Console: Sendable {
    /// Writes text to the output. Throws ``ClosedOutput`` if its reader has ended.
    var write: @Sendable (String) throws -> Void
    /// Writes a text and a line break to the error stream.
    var report: @Sendable (String) -> Void
    /// Returns the number of columns of the output; nil if it is not a terminal.
    var columns: @Sendable () -> Int?
    /// The environment variables.
    var environment: [String: String]
    /// Asks for a secret without showing it, with a prompt. Returns nil if there is no terminal.
    var askSecret: @Sendable (String) throws -> [UInt8]?
    /// Reads the input to its end.
    var readInput: @Sendable () throws -> Data
    /// Calls a function when the user interrupts the command, or the output's reader ends. The returned function ends
    /// that.
    var whenStopped: @Sendable (@escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// Serves the pages of a store until the user ends them. It is nil where no server is linked.
    var browse: (@Sendable (BrowseRequest) throws -> Void)?
}

extension Console {
    /// Writes a line to the output.
    func print(_ line: String = "") throws { try write(line + "\n") }
}

/// The output's reader has ended: `tandem query … | head`.
struct ClosedOutput: Error {}
