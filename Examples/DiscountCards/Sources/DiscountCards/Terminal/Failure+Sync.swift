import Tandem
import TandemSync

extension Failure {
    /// Converts a sync's error to this program's message and advice.
    ///
    /// - Parameter session: The session of the sync.
    init(_ error: SyncError, session: Session? = nil) {
        let server = session?.server ?? "The server"
        switch error.code {
        case .unreachable:
            let isLost = if case .lost? = error.underlying as? RemoteFailure { true } else { false }
            self.init(
                .tryAgain,
                message: isLost
                    ? "The response of \(server) was lost: the last change may have arrived."
                    : "\(server) can't be reached.",
                advice: "No data is lost: the next `cards sync` continues, and creates no duplicates.")
        case .unauthenticated:
            self.init(
                .noPermission, message: "\(server) does not accept this token of \(session?.name ?? "yours").",
                advice: "Set another one with `cards login NAME --token TOKEN`. Your changes stay.")
        case .otherUser:
            self.init(
                .noPermission, message: error.message,
                advice: "`cards login NAME --keep` takes it over, `--purge` drops it; or use another --store.")
        case .otherServer:
            self.init(
                .noPermission, message: error.message,
                advice: "If the server has moved: `cards login NAME --server URL --keep`. To start over: `--purge`.")
        case .busy, .later: self.init(.tryAgain, message: error.message, advice: error.advice)
        case .unknownModel: self.init(.software, message: error.description)
        default: self.init(.badData, message: error.description)
        }
    }
}
