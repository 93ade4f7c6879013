import Foundation

/// A stream that the program prints to, and what is at its other end: a terminal, a file or a pipe.
struct Screen: Sendable {
    let descriptor: Int32
    let isTerminal: Bool
    let hasColour: Bool

    static let output = Screen(descriptor: STDOUT_FILENO)
    static let errors = Screen(descriptor: STDERR_FILENO)

    /// Colour needs a terminal that knows it, and a person who wants it (https://no-color.org).
    init(descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.init(descriptor: descriptor, isTerminal: isatty(descriptor) == 1, environment: environment)
    }

    init(descriptor: Int32, isTerminal: Bool, environment: [String: String]) {
        self.descriptor = descriptor
        self.isTerminal = isTerminal
        hasColour = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// How many columns there are to fill; `nil` where lines can be as long as they like.
    var columns: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// The text in a colour, where there is colour.
    func paint(_ text: String, _ colour: Colour?) -> String {
        guard let colour, hasColour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// Writes text at once: what two streams write stays in order.
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

/// What a text's look says of it: an SGR sequence's parameters.
enum Colour: String {
    case strong = "1"
    case faint = "2"
    case heading = "1;36"
    case good = "32"
    case waiting = "33"
    case bad = "1;31"
    case star = "1;33"
}
