import Foundation

/// The files of an open store, including its log, as an attacker without the key would copy them.
struct StolenFiles {
    /// The database first, then the files beside it.
    let files: [Data]

    /// Copies the files, and reads the copies.
    ///
    /// - Parameter folder: The folder for the copies. It must not exist yet.
    init(of path: String, to folder: URL) throws {
        let files = ["", "-wal", "-shm"].map { path + $0 }.filter(FileManager.default.fileExists)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // NB: another process copies them. A process that closes a file loses its own locks on it, including those of
        // SQLite's connections
        // (sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
        let copying = Process()
        copying.executableURL = URL(fileURLWithPath: "/bin/cp")
        copying.arguments = files + [folder.path]
        try copying.run()
        copying.waitUntilExit()
        guard copying.terminationStatus == 0 else { throw Failure(.inputOutput, message: "\(path) can't be copied.") }
        self.files = try files.map { file in
            try Data(contentsOf: folder.appendingPathComponent((file as NSString).lastPathComponent))
        }
    }

    init(_ files: [Data]) {
        self.files = files
    }

    var size: Int { files.reduce(0) { $0 + $1.count } }

    /// Returns how often a text occurs in the files, encoded as UTF-8.
    func count(of text: String) -> Int {
        let wanted = Array(text.utf8)
        return files.reduce(0) { $0 + Self.count(of: wanted, in: $1) }
    }

    private static func count(of wanted: [UInt8], in data: Data) -> Int {
        data.withUnsafeBytes { memory in
            guard var place = memory.baseAddress else { return 0 }
            let end = place + memory.count
            var count = 0
            while end - place >= wanted.count, let found = memchr(place, Int32(wanted[0]), end - place) {
                place = UnsafeRawPointer(found)
                if end - place >= wanted.count, memcmp(place, wanted, wanted.count) == 0 { count += 1 }
                place += 1
            }
            return count
        }
    }

    /// The Shannon entropy of the database's bytes, in bits: 8 for noise, in which all 256 values are equally frequent.
    ///
    /// Only the first megabyte counts, which is enough and keeps the demo short.
    var entropy: Double {
        var counts = [Int](repeating: 0, count: 256)
        let sample = files[0].prefix(1 << 20)
        for byte in sample { counts[Int(byte)] += 1 }
        return counts.reduce(0) { sum, count in
            guard count > 0 else { return sum }
            let share = Double(count) / Double(sample.count)
            return sum - share * log2(share)
        }
    }
}
