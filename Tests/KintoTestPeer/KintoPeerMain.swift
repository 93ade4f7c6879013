import Foundation
import TandemTesting

/// A client of Kinto for `Scripts/kinto/interop.py`.
///
/// - `conformance BUCKET`: Checks the requirements for remotes in a collection of the bucket.
/// - `device STORE BUCKET SETTINGS`: Executes commands from the standard input. See `DeviceCommands`.
///
/// BUCKET is the URL of a bucket. The environment variable `KINTO_USER` contains an account, as `name:password`.
@main struct KintoPeerMain {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("conformance", 2): exit(try await checkConformance(in: PeerBucket(url: arguments[1])) ? 0 : 1)
            case ("device", 4): try await runDevice(arguments)
            default: throw PeerFailure("unknown arguments: \(arguments)")
            }
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }

    private static func checkConformance(in bucket: PeerBucket) async throws -> Bool {
        var features = RemoteFeatures()
        features.batches = true
        features.changeTags = true
        features.generations = true
        // Kinto counts no tombstones.
        features.counts = false
        // PostgreSQL's JSON has no -0.0.
        features.negativeZero = false
        let report = await RemoteConformance.report(
            on: TestedRemote(bucket.remote, table: "conformance", features: features))
        say("\(report)")
        return report.violations.isEmpty
    }

    private static func runDevice(_ arguments: [String]) async throws {
        let settings = try JSONDecoder().decode(DeviceSettings.self, from: Data(arguments[3].utf8))
        var commands = try DeviceCommands(
            path: arguments[1], bucket: PeerBucket(url: arguments[2]), settings: settings)
        for await line in standardInput() {
            do {
                try await commands.run(line.split(separator: " ").map(String.init))
                say("done")
            } catch {
                say("failed \(error)".replacingOccurrences(of: "\n", with: " "))
            }
        }
        await commands.end()
    }

    /// Returns the lines of the standard input. A thread of its own waits for them.
    private static func standardInput() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }

    /// Prints a line at once. A single write keeps the lines of two threads apart.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
    }

    /// Prints a word and a JSON object on a line.
    static func say(_ word: String, _ object: some Encodable) throws {
        say("\(word) \(try json(object))")
    }

    static func json(_ object: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(object), as: UTF8.self)
    }
}
