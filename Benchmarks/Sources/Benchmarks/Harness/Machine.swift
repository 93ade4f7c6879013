import Foundation
import GRDBSQLite

/// The description of the machine that runs the benchmarks.
enum Machine {
    static var description: [(String, String)] {
        [
            ("Processor", "\(processor), \(ProcessInfo.processInfo.activeProcessorCount) cores"),
            ("Memory", "\(Int((Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824).rounded())) GiB"),
            ("System", system),
            ("SQLite", String(cString: sqlite3_libversion())),
            ("Swift", swift),
        ]
    }

    private static var processor: String {
        field("model name", in: "/proc/cpuinfo", separator: ":") ?? "unknown processor"
    }

    private static var system: String {
        #if os(Linux)
            let name = field("PRETTY_NAME", in: "/etc/os-release", separator: "=")
            var kernel = utsname()
            uname(&kernel)
            let release = withUnsafeBytes(of: kernel.release) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            return "\(name ?? "Linux"), kernel \(release)"
        #else
            return ProcessInfo.processInfo.operatingSystemVersionString
        #endif
    }

    /// The compiler reports its version only on the command line.
    private static var swift: String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift", "--version"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return "unknown" }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").first.map(String.init) ?? "unknown"
    }

    private static func field(_ name: String, in file: String, separator: Character) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            let value = line.split(separator: separator, maxSplits: 1).last ?? ""
            return value.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
        }
        return nil
    }
}
