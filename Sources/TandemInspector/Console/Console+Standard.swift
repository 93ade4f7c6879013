import Foundation

extension Console {
    /// The streams and the environment of this process.
    static var standard: Console {
        Console(
            write: { try send($0, to: STDOUT_FILENO) },
            report: { _ = try? send($0 + "\n", to: STDERR_FILENO) },
            columns: { terminalColumns(STDOUT_FILENO) },
            environment: ProcessInfo.processInfo.environment,
            askSecret: { try SecretPrompt.ask($0) },
            readInput: { try FileHandle.standardInput.readToEnd() ?? Data() },
            whenStopped: { StopWatch.start(watching: STDOUT_FILENO, $0) })
    }

    /// Writes text without buffering.
    private static func send(_ text: String, to descriptor: Int32) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EPIPE {
                throw ClosedOutput()
            } else if errno != EINTR && errno != EAGAIN {
                throw CommandFailure(
                    .failure, message: "The output can't be written: \(String(cString: strerror(errno))).",
                    advice: "Check the disk, then run the command again.")
            }
        }
    }

    private static func terminalColumns(_ descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
