import Foundation

/// The cost of encryption: the same work with and without it.
///
/// The work is done by a Tandem store, by a GRDB database, and by SQLCipher 4 with its own driver. The GRDB database
/// shows the cost of the encryption without Tandem.
extension Benchmark {
    static let encryption: [Benchmark] = [CipherSubject.gcm, .sqlcipher].flatMap { profile in
        CipherTask.allCases.map { encrypted(profile, task: $0) }
    }

    /// The maximum ratios of the first profile. The second one is compared with SQLCipher's own ratios.
    private static let bounds: [CipherTask: Double] = [.insert: 1.10, .scan: 1.25, .points: 1.5, .commits: 1.25]

    private static func encrypted(_ profile: CipherSubject, task: CipherTask) -> Benchmark {
        Benchmark("\(profile.rawValue)-\(task.rawValue)") { context in
            let files = CipherFiles(context, task: task)
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
                if task != .open {
                    contest.beside.append(
                        Contest(
                            subject: try files.contender(.peerStore),
                            baselines: [try files.contender(.peerStorePlain)]))
                }
            }
            contest.judge = { judge($0, of: task, in: profile) }
            return contest
        }
    }

    private static func judge(_ results: [Comparison], of task: CipherTask, in profile: CipherSubject) -> [String] {
        guard task != .open else {
            return results.map { result in
                let extra = (result.subjectSeconds.median - result.baselineSeconds.median) * 1000
                let verdict = result.subject == "sqlcipher4" ? "" : extra < 2 ? " (below 2)" : " (2 or more)"
                return "\(result.subject) takes \(extra.text(2)) ms more to open than \(result.baseline)\(verdict)"
            }
        }
        guard profile == .sqlcipher else { return [] }
        func find(_ name: String) -> Comparison? { results.first { $0.subject == name } }
        guard let tandem = find("tandem"), let database = find("database"), let peer = find("sqlcipher4"),
            let onStore = find("sqlcipher4-store")
        else { return ["SQLCipher was skipped: TANDEM_PEERS_PYTHON is not a Python with sqlcipher3"] }
        return [
            verdict("the database", of: database, against: peer), verdict("the store", of: tandem, against: onStore),
        ]
    }

    /// Compares a subject with SQLCipher at the same work: by ratio, or by the time for the same rows.
    private static func verdict(_ name: String, of mine: Comparison, against theirs: Comparison) -> String {
        let isKept = mine.ratio <= theirs.ratio || mine.subjectSeconds.median <= theirs.subjectSeconds.median
        func times(_ result: Comparison) -> String {
            let (all, plain) = (result.subjectSeconds.median * 1000, result.baselineSeconds.median * 1000)
            return "\(result.ratio.text(2)) (\(all.text(1)) ms, of which encryption \((all - plain).text(1)))"
        }
        return "\(name) pays \(times(mine)), SQLCipher at the same work \(times(theirs)): "
            + (isKept ? "at or below SQLCipher" : "above SQLCipher")
    }
}

/// The files for one task's subjects.
private struct CipherFiles {
    let context: Context
    let task: CipherTask
    let rows: Int

    init(_ context: Context, task: CipherTask) {
        self.context = context
        self.task = task
        rows = context.count(CipherTask.rows)
    }

    private func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func contender(_ subject: CipherSubject, name: String? = nil) throws -> Contender {
        let path = context.path("cipher-\(subject.rawValue)" + (task.needsNew ? "-new" : ""))
        // If a driver works on a store, Tandem creates it.
        func make(_ task: CipherTask) throws {
            _ = try CipherProcess(task: task, subject: subject.storeMaker ?? subject, path: path, rows: rows).run()
        }
        if !task.needsNew, !FileManager.default.fileExists(atPath: path) { try make(.insert) }
        var last: (seconds: Double, outcome: String) = (0, "")
        let process = CipherProcess(task: task, subject: subject, path: path, rows: rows)
        return Contender(
            name: name ?? subject.rawValue.replacingOccurrences(of: "database-plain", with: "plain"),
            prepare: {
                guard task.needsNew else { return }
                remove(path)
                if subject.storeMaker != nil { try make(.open) }
            },
            run: { last = try process.run() },
            cost: { last.seconds },
            finish: { if task.needsNew { remove(path) } },
            outcome: { last.outcome })
    }
}
