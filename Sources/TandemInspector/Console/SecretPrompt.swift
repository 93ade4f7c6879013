import Foundation

/// Asks for a secret on the terminal, without showing it.
enum SecretPrompt {
    private enum Key {
        static let interrupt: UInt8 = 3
        static let end: UInt8 = 4
        static let backspaces: [UInt8] = [8, 127]
        static let lineBreaks: [UInt8] = [10, 13]
        static let clear: UInt8 = 21
    }

    /// Asks for a secret, and returns its bytes, or nil if there is no terminal.
    ///
    /// Keys that the terminal would handle are handled here, so that Ctrl-C restores the terminal first.
    ///
    /// - Throws: `CommandFailure` if the user interrupts it.
    static func ask(_ prompt: String) throws -> [UInt8]? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var original = termios()
        guard tcgetattr(terminal, &original) == 0 else { return nil }
        var silent = original
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        defer {
            tcsetattr(terminal, TCSAFLUSH, &original)
            show("\n", on: terminal)
        }
        show(prompt, on: terminal)
        return try line {
            var byte: UInt8 = 0
            return read(terminal, &byte, 1) == 1 ? byte : nil
        }
    }

    /// Reads the bytes of a line, and applies the keys that edit it.
    ///
    /// - Parameter next: Returns the next byte; nil at the end of the input.
    static func line(_ next: () -> UInt8?) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let byte = next() {
            switch byte {
            case Key.interrupt: throw CommandFailure(.interrupted, message: "Interrupted.")
            case Key.clear: bytes.removeAll()
            case Key.end where bytes.isEmpty: return bytes
            case let byte where Key.lineBreaks.contains(byte): return bytes
            case let byte where Key.backspaces.contains(byte): removeLastScalar(&bytes)
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    private static func removeLastScalar(_ bytes: inout [UInt8]) {
        // Continuation bytes of UTF-8 begin with the bits 10.
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }

    private static func show(_ text: String, on terminal: Int32) {
        var text = text
        text.withUTF8 { _ = write(terminal, $0.baseAddress, $0.count) }
    }
}
