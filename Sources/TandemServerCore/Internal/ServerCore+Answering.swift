import HTTPTypes
import Tandem

/// A response that ends the request early and rolls its writes back.
struct EarlyAnswer: Error {
    let answer: ServerAnswer
}

extension ServerCore {
    /// Responds to a request in its dialect. Errors become responses too.
    func answer(_ http: HTTPRequest, _ body: [UInt8], skew: Duration, faults: [ServerFault]) -> ServerAnswer {
        let isAzure =
            switch configuration.dialect {
            case .azureMobileApps: true
            case .datasync: false
            case .byVersionHeader: AzureMobileAppsRoutes.isVersion(http.headerFields[.zumoVersion] ?? "")
            }
        do {
            guard (http.path ?? "").utf8.count <= configuration.limits.path else {
                return ServerAnswer(.uriTooLong)
            }
            guard let request = ServerRequest(http, body: body) else {
                return isAzure ? AzureMobileAppsRoutes.error(.badRequest, "Malformed URL") : ServerAnswer(.badRequest)
            }
            return isAzure
                ? try answerAzureMobileApps(request, skew: skew, faults: faults)
                : try answerDatasync(request, skew: skew, faults: faults)
        } catch let early as EarlyAnswer {
            return early.answer
        } catch let refusal as ServerRefusal {
            let status = Self.status(refusal.status)
            return refusal.body.map { ServerAnswer(status, json: $0) } ?? ServerAnswer(status)
        } catch TandemError.Code.busy {
            return ServerAnswer(.serviceUnavailable, [.retryAfter: "1"])
        } catch {
            return isAzure
                ? AzureMobileAppsRoutes.error(.internalServerError, "The store failed")
                : ServerAnswer(.internalServerError)
        }
    }

    private func answerAzureMobileApps(
        _ request: ServerRequest, skew: Duration, faults: [ServerFault]
    ) throws -> ServerAnswer {
        guard request.path.first?.lowercased() == "tables" else { return AzureMobileAppsRoutes.notFoundPage }
        try AzureMobileAppsRoutes.checkVersion(request)
        guard (2...3).contains(request.path.count), let table = table(named: request.path[1]) else {
            return AzureMobileAppsRoutes.notFoundPage
        }
        guard request.body.count <= configuration.limits.body ?? 100 << 10 else {
            return AzureMobileAppsRoutes.error(.badRequest, "request entity too large")
        }
        let unauthorized = ServerAnswer(
            .unauthorized, json: ["name": "JsonWebTokenError", "message": "jwt malformed"])
        let visit = try visit(request, table, skew, faults, isAzure: true, unauthorized: unauthorized)
        if faults.contains(.conflict) { try visit.touch() }
        return try AzureMobileAppsRoutes(visit: visit).answer()
    }

    private func answerDatasync(_ request: ServerRequest, skew: Duration, faults: [ServerFault]) throws -> ServerAnswer
    {
        guard request.path.first?.lowercased() == "tables", (2...3).contains(request.path.count),
            let table = table(named: request.path[1])
        else { return ServerAnswer(.notFound) }
        guard request.body.count <= configuration.limits.body ?? 1 << 20 else {
            return ServerAnswer(.contentTooLarge)
        }
        let unauthorized = ServerAnswer(.unauthorized, [.wwwAuthenticate: "Bearer"])
        let visit = try visit(request, table, skew, faults, isAzure: false, unauthorized: unauthorized)
        if faults.contains(.conflict) { try visit.touch() }
        return try DatasyncRoutes(visit: visit).answer()
    }

    private func table(named name: String) -> ServerTable? {
        let folded = name.lowercased()
        return configuration.tables.first { $0.key.lowercased() == folded }?.value ?? configuration.otherTables
    }

    /// Authenticates the user, and creates the context of a request.
    private func visit(
        _ request: ServerRequest, _ table: ServerTable, _ skew: Duration, _ faults: [ServerFault], isAzure: Bool,
        unauthorized: ServerAnswer
    ) throws -> Visit {
        var user: String?
        if let token = request.token, let userOf = configuration.user {
            user = userOf(token)
            if user == nil { throw EarlyAnswer(answer: unauthorized) }
        }
        if table.isPerUser, user == nil { throw EarlyAnswer(answer: unauthorized) }
        return Visit(
            core: self, request: request, table: table, name: request.path[1].lowercased(), user: user, skew: skew,
            isRaced: faults.contains(.race), isAzure: isAzure)
    }
}
