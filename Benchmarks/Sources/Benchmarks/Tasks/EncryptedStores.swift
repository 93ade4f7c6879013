import Foundation

/// What encryption costs: the same work on an encrypted store and a plain one; on a database of GRDB's with the
/// encryption alone; and with SQLCipher 4 against its own plain driver.
extension Benchmark {
    static let encryption: [Benchmark] = [CipherSubject.gcm, .sqlcipher].flatMap { profile in
        CipherTask.allCases.map { encrypted(profile, $0) }
    }

    /// The ratios that are wanted of the first profile. The second is held against SQLCipher's own.
    private static let bounds: [CipherTask: Double] = [.insert: 1.10, .scan: 1.25, .points: 1.5, .commits: 1.25]

    private static func encrypted(_ profile: CipherSubject, _ task: CipherTask) -> Benchmark {
        Benchmark("\(profile.rawValue)-\(task.rawValue)") { context in
            let files = CipherFiles(context, task)
            let database: CipherSubject = profile == .gcm ? .databaseGCM : .databaseSQLCipher
            var contest = Contest(
                subject: try files.contender(profile, name: "tandem"), baselines: [try files.contender(.plain)])
            if profile == .gcm { contest.bounds["plain"] = bounds[task] }
            contest.beside = [
                Contest(
                    subject: try files.contender(database, name: "database"),
                    baselines: [try files.contender(.databasePlain)])
            ]
            if profile == .sqlcipher, SQLCipherPeer.python != nil {
                contest.beside.append(
                    Contest(subject: try files.contender(.peer), baselines: [try files.contender(.peerPlain)]))
            }
            contest.judge = { judge($0, task, profile) }
            return contest
        }
    }

    private static func judge(_ results: [Comparison], _ task: CipherTask, _ profile: CipherSubject) -> [String] {
        guard task != .open else {
            return results.map { result in
                let extra = (result.subjectSeconds.median - result.baselineSeconds.median) * 1000
                let verdict = result.subject == "sqlcipher4" ? "" : extra < 2 ? " (below 2)" : " (2 or more)"
                return "\(result.subject) takes \(extra.text(2)) ms more to open than \(result.baseline)\(verdict)"
            }
        }
        guard profile == .sqlcipher else { return [] }
        func find(_ name: String) -> Comparison? { results.first { $0.subject == name } }
        guard let tandem = find("tandem"), let database = find("database"), let peer = find("sqlcipher4") else {
            return ["SQLCipher was left out: TANDEM_PEERS_PYTHON names no Python with sqlcipher3"]
        }
        let (mine, theirs) = (database.subjectSeconds.median, peer.subjectSeconds.median)
        let isKept = (tandem.ratio <= peer.ratio && database.ratio <= peer.ratio) || mine <= theirs
        func extra(_ result: Comparison) -> String {
            ((result.subjectSeconds.median - result.baselineSeconds.median) * 1000).text(1)
        }
        return [
            "SQLCipher pays \(peer.ratio.text(2)), the database \(database.ratio.text(2)), the store "
                + "\(tandem.ratio.text(2)); for the same rows \((theirs * 1000).text(1)) ms and "
                + "\((mine * 1000).text(1)) ms: \(isKept ? "at or below SQLCipher" : "above SQLCipher")",
            "encryption alone adds \(extra(database)) ms, SQLCipher's \(extra(peer)) ms: its driver's Python left out",
        ]
    }
}

/// The files that one task's subjects work on.
private struct CipherFiles {
    let context: Context
    let task: CipherTask
    let rows: Int

    init(_ context: Context, _ task: CipherTask) {
        self.context = context
        self.task = task
        rows = context.count(CipherTask.rows)
    }

    private func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func contender(_ subject: CipherSubject, name: String? = nil) throws -> Contender {
        let path = context.path("cipher-\(subject.rawValue)" + (task.needsNew ? "-new" : ""))
        if !task.needsNew, !FileManager.default.fileExists(atPath: path) {
            _ = try CipherProcess(task: .insert, subject: subject, path: path, rows: rows).run()
        }
        var last: (seconds: Double, outcome: String) = (0, "")
        let process = CipherProcess(task: task, subject: subject, path: path, rows: rows)
        return Contender(
            name: name ?? subject.rawValue.replacingOccurrences(of: "database-plain", with: "plain"),
            prepare: { if task.needsNew { remove(path) } },
            run: { last = try process.run() },
            cost: { last.seconds },
            finish: { if task.needsNew { remove(path) } },
            outcome: { last.outcome })
    }
}
