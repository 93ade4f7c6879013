import Dispatch
import Hummingbird
import PageServer
import Tandem
import TandemInspector

/// The data of the pages, as JSON.
extension BrowserRoutes {
    func addData(to router: Router<WebContext>) {
        let (site, store) = (self.site, self.site.store)
        router.get("/data/summary") { _, _ in
            let (isDamaged, summary) = try await store.read { _ in
                let summary = try StoreSummary(store, path: site.request.path)
                return (summary.isDamaged, summary.json)
            }
            return site.json(.object([("isDamaged", .bool(isDamaged)), ("summary", summary)]))
        }
        router.get("/data/model") { request, _ in
            let model = try store.model(named: try QueryParameters(request).require("model"))
            return site.json(ModelDetails(model: model).json)
        }
        router.get("/data/rows") { request, _ in
            let parameters = QueryParameters(request)
            let query = try RowQuery(parameters, of: store, limits: site.limits)
            let from = try parameters.number("from") ?? 0
            let to = min(try parameters.number("to") ?? from, from + site.limits.rows)
            return site.json(try await RowWindow(query, range: from..<max(from, to), of: site).json)
        }
        router.get("/data/object") { request, _ in
            let parameters = QueryParameters(request)
            let (model, id) = (try parameters.require("model"), try parameters.require("id"))
            return site.json(try await store.read { _ in try ObjectPage(model: model, id: id, of: store).json })
        }
        for (path, errors) in [("/data/queue", false), ("/data/errors", true)] {
            router.get(RouterPath(path)) { _, _ in
                let limit = site.limits.operations
                return site.json(
                    try await store.read { _ in try QueuePage(errors: errors, limit: limit, of: store).json })
            }
        }
        // It reads the whole store, so that it needs the token.
        router.post("/data/check") { _, _ in site.json(try await Self.check(store)) }
    }

    /// Returns the problems of the store, and the readable objects of a damaged one.
    private static func check(_ store: Store) async throws -> JSONOutput {
        try await withCheckedThrowingContinuation { continuation in
            // The check blocks its thread.
            DispatchQueue.global().async {
                continuation.resume(with: Result { try IntegrityReport(store, readsFiles: false).json })
            }
        }
    }
}
