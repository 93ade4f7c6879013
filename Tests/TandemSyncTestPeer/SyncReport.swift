import TandemSync

/// A report of the errors of a sync. No other client changes the server's objects, so every request succeeds
/// eventually.
struct SyncReport {
    /// The errors that may stop a push or an upload.
    var excuses: Set<SyncError.Code> = [.unreachable]

    /// Syncs until the process is killed. A pull may fetch the objects of a lost push. A push alone must find them
    /// itself.
    func synchronizeForEver(_ context: SyncContext) async throws {
        while true {
            SyncPeerMain.say("syncing")
            do {
                if Bool.random() {
                    say(try await context.push())
                } else {
                    say(try await context.synchronize())
                }
                SyncPeerMain.say("synced")
            } catch let error as SyncError {
                if let result = error.result { say(result) }
                let isExcused = error.code == .busy || excuses.contains(error.code)
                SyncPeerMain.say(isExcused ? "\(error.code)" : "error sync: \(error)")
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...30)))
        }
    }

    func say(_ result: SyncResult) {
        for pull in result.pulls {
            switch pull.outcome {
            case .failure(let error): SyncPeerMain.say("error pull: \(error)")
            case .success(let pull) where !pull.refusedRows.isEmpty:
                SyncPeerMain.say("error refused rows: \(pull.refusedRows)")
            case .success: break
            }
        }
        for edit in result.lostEdits { SyncPeerMain.say("error lost: \(edit)") }
        for entry in result.entries {
            switch entry.outcome {
            case .refused, .conflict, .tookServers, .held: SyncPeerMain.say("error push: \(entry)")
            default: break
            }
        }
        for upload in result.uploads {
            if case .failed(let error, _) = upload.outcome, !excuses.contains(error.code) {
                SyncPeerMain.say("error upload: \(upload)")
            }
        }
    }
}
