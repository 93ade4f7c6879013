import Foundation

/// An output stream of the program: a terminal, a file or a pipe.
struct Screen: Sendable {
    let descriptor: Int32
    let isTerminal: Bool
    let hasColour: Bool

    static let output = Screen(descriptor: STDOUT_FILENO)
    static let errors = Screen(descriptor: STDERR_FILENO)

    /// Creates a screen. It uses colour if the terminal supports it and the user allows it (https://no-color.org).
    init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.init(descriptor: descriptor, isTerminal: isatty(descriptor) == 1, environment: environment)
    }

    init(descriptor: Int32, isTerminal: Bool, environment: [String: String]) {
        self.descriptor = descriptor
        self.isTerminal = isTerminal
        hasColour = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// The number of columns; `nil` if lines have no limit.
    var columns: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Returns the text in a colour, if the screen has colour.
    func paint(_ text: String, in colour: Colour?) -> String {
        guard let colour, hasColour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// Writes text without buffering, so that the output of two streams stays in order.
    func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                if errno == EPIPE { Interrupt.outputHasEnded() }
                return
            }
        }
    }

    func print(_ line: String = "") {
        write(line + "\n")
    }
}

/// The style of a text, as the parameters of an SGR sequence.
enum Colour: String {
    case strong = "1"
    case faint = "2"
    case heading = "1;36"
    case good = "32"
    case waiting = "33"
    case bad = "1;31"
    case star = "1;33"
}
