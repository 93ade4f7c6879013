import Foundation

/// A process that runs a single task with a single subject.
struct CipherProcess {
    let task: CipherTask
    let subject: CipherSubject
    let path: String
    let rows: Int

    static let option = "--cipher-work"

    /// Runs the measured process, which prints seconds and outcome.
    static func runAsChild(_ arguments: [String]) throws {
        guard arguments.count == 4, let task = CipherTask(rawValue: arguments[0]),
            let subject = CipherSubject(rawValue: arguments[1]), let rows = Int(arguments[3])
        else { throw UsageError(problem: "\(option) needs TASK SUBJECT PATH ROWS") }
        let (seconds, outcome) = try CipherWork(task: task, subject: subject, path: arguments[2], rows: rows).run()
        print("\(seconds)\t\(outcome)")
    }

    func run() throws -> (seconds: Double, outcome: String) {
        let process = Process()
        let arguments = [task.rawValue, subject.rawValue, path, "\(rows)"]
        if subject.isPeer {
            guard let python = SQLCipherPeer.python else { throw UsageError(problem: "sqlcipher3 is missing") }
            process.executableURL = URL(fileURLWithPath: python)
            process.arguments = ["-c", SQLCipherPeer.program] + arguments
        } else {
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [Self.option] + arguments
        }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let parts = printed.split(separator: "\t", maxSplits: 1)
        guard process.terminationStatus == 0, parts.count == 2, let seconds = Double(parts[0]) else {
            throw UsageError(problem: "\(subject.rawValue) could not do \(task.rawValue): \(printed)")
        }
        return (seconds, parts[1].trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
