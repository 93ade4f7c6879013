import Tandem
import TandemSync

extension PagedServer {
    /// Creates a server with twenty rows, all older than the overlap: seven pages of three.
    static func ofTwenty(hasClock: Bool = true) -> PagedServer {
        let server = PagedServer(hasClock: hasClock)
        server.change { state in
            for index in 0..<20 { state.write("\(100 + index)", "pet \(index)") }
            state.now += 60_000
        }
        return server
    }

    /// Fails each request from one on.
    ///
    /// - Parameter number: The first request that fails, from 1 on.
    func fail(from number: Int, _ failure: RemoteFailure) {
        change { $0.requests = [] }
        on { state, _ throws(RemoteFailure) in
            if state.requests.count >= number { throw failure }
            return nil
        }
    }

    /// Responds to all requests from now on, and clears the earlier ones.
    func recover() {
        on { _, _ throws(RemoteFailure) in nil }
        change { $0.requests = [] }
    }

    /// The requests of a full pull, a word each.
    var walk: [String] {
        requests.map { request in
            switch request.order {
            case .id(let last): request.wantsCount ? "count" : "after \(last?.rawValue ?? "-")"
            case .updatedAt: "changes"
            }
        }
    }

    /// Returns the requests for pages of three of the twenty rows.
    ///
    /// - Parameter page: The first page, from 1 on.
    static func walk(from page: Int) -> [String] {
        (page..<8).map { "after \($0 == 1 ? "-" : "\(96 + 3 * $0)")" }
    }
}
