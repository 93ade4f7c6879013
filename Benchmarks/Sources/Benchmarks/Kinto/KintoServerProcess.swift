import Foundation

/// Kinto on PostgreSQL, which `Scripts/kinto/bench.py` starts, and the Python client of the same script.
final class KintoServerProcess {
    /// A Python with Kinto and kinto-http, set by TANDEM_KINTO_PYTHON. `make bench` sets the variable.
    static let python: String? = ProcessInfo.processInfo.environment["TANDEM_KINTO_PYTHON"].flatMap {
        FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
    }
    /// The account of all clients.
    static let (user, password) = ("bench", "secret")

    private static let script = "Scripts/kinto/bench.py"

    /// The address of the server.
    var url: URL { process.url }
    private let process: ListeningProcess
    private var buckets = 0

    /// Starts a server, and returns when it listens.
    init() throws {
        process = try ListeningProcess(
            URL(fileURLWithPath: try Self.requirePython()), arguments: [Self.script, "serve"], name: "Kinto")
    }

    private static func requirePython() throws -> String {
        guard let python else { throw UsageError(problem: "TANDEM_KINTO_PYTHON is not set") }
        return python
    }

    /// Runs a command of the script, and returns what it printed.
    func run(_ arguments: String...) throws -> String {
        try Tool.run(try Self.requirePython(), with: [Self.script] + arguments)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: Buckets

    /// Creates a bucket with empty collections.
    ///
    /// - Returns: The name of the bucket.
    func createBucket() throws -> String {
        buckets += 1
        let name = "round-\(buckets)"
        for path in ["", "/collections/Card", "/collections/Person"] {
            try request("PUT", path: "buckets/\(name)\(path)")
        }
        return name
    }

    func deleteBucket(_ name: String) throws { try request("DELETE", path: "buckets/\(name)") }

    private func request(_ method: String, path: String) throws {
        try Tool.run(
            "curl",
            with: [
                "-sf", "-o", "/dev/null", "-u", "\(Self.user):\(Self.password)", "-X", method,
                "\(url.absoluteString)/\(path)",
            ])
    }

    /// Returns a summary of the cards on the server, equal to ``SyncedStore/contents()``.
    func contents(of bucket: String) throws -> String { try run("outcome", url.absoluteString, bucket) }
}
