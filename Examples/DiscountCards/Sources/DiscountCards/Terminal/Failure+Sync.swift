import Tandem
import TandemSync

extension Failure {
    /// A sync's error in this program's words: what happened, then what to do.
    ///
    /// - Parameter session: Whose sync it was, and with which server.
    init(_ error: SyncError, _ session: Session? = nil) {
        let server = session?.server ?? "The server"
        switch error.code {
        case .unreachable:
            let isLost = if case .lost? = error.underlying as? RemoteFailure { true } else { false }
            self.init(
                .tryAgain,
                isLost
                    ? "\(server) was asked, and its answer was lost: what was sent last may have arrived."
                    : "\(server) can't be reached.",
                advice: "Nothing is lost: the next `cards sync` goes on, and creates nothing twice.")
        case .unauthenticated:
            self.init(
                .noPermission, "\(server) does not know \(session?.name ?? "you") by this token.",
                advice: "`cards login NAME --token TOKEN` gives another one. What you changed stays.")
        case .otherUser:
            self.init(
                .noPermission, error.message,
                advice: "`cards login NAME --keep` makes it yours, `--purge` drops it; or take another --store.")
        case .otherServer:
            self.init(
                .noPermission, error.message,
                advice: "If it has moved: `cards login NAME --server URL --keep`. To begin anew: `--purge`.")
        case .busy, .later: self.init(.tryAgain, error.message, advice: error.advice)
        case .unknownModel: self.init(.software, error.description)
        default: self.init(.badData, error.description)
        }
    }
}
