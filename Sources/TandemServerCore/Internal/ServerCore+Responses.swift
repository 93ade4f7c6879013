import HTTPTypes
import Tandem

/// A response that ends the request early and rolls its writes back.
struct EarlyResponse: Error {
    let response: ServerResponse
}

extension ServerCore {
    /// Responds to a request in its dialect. Errors become responses too.
    func respond(to http: HTTPRequest, body: [UInt8], skew: Duration, faults: [ServerFault]) -> ServerResponse {
        let isAzure =
            switch configuration.dialect {
            case .azureMobileApps: true
            case .datasync: false
            case .byVersionHeader: AzureMobileAppsRoutes.isVersion(http.headerFields[.zumoVersion] ?? "")
            }
        do {
            guard (http.path ?? "").utf8.count <= configuration.limits.path else {
                return ServerResponse(.uriTooLong)
            }
            guard let request = ServerRequest(http, body: body) else {
                return isAzure
                    ? AzureMobileAppsRoutes.error(.badRequest, text: "Malformed URL") : ServerResponse(.badRequest)
            }
            return isAzure
                ? try respondAzureMobileApps(request, skew: skew, faults: faults)
                : try respondDatasync(request, skew: skew, faults: faults)
        } catch let early as EarlyResponse {
            return early.response
        } catch let refusal as ServerRefusal {
            let status = Self.status(refusal.status)
            return refusal.body.map { ServerResponse(status, json: $0) } ?? ServerResponse(status)
        } catch TandemError.Code.busy {
            return ServerResponse(.serviceUnavailable, fields: [.retryAfter: "1"])
        } catch {
            return isAzure
                ? AzureMobileAppsRoutes.error(.internalServerError, text: "The store failed")
                : ServerResponse(.internalServerError)
        }
    }

    private func respondAzureMobileApps(
        _ request: ServerRequest, skew: Duration, faults: [ServerFault]
    ) throws -> ServerResponse {
        guard request.path.first?.lowercased() == "tables" else { return AzureMobileAppsRoutes.notFoundPage }
        try AzureMobileAppsRoutes.checkVersion(request)
        guard (2...3).contains(request.path.count), let table = table(named: request.path[1]) else {
            return AzureMobileAppsRoutes.notFoundPage
        }
        guard request.body.count <= configuration.limits.body ?? 100 << 10 else {
            return AzureMobileAppsRoutes.error(.badRequest, text: "request entity too large")
        }
        let unauthorized = ServerResponse(
            .unauthorized, json: ["name": "JsonWebTokenError", "message": "jwt malformed"])
        let tableRequest = try tableRequest(
            request, in: table, skew: skew, faults: faults, isAzure: true, unauthorized: unauthorized)
        if faults.contains(.conflict) { try tableRequest.touch() }
        return try AzureMobileAppsRoutes(tableRequest: tableRequest).respond()
    }

    private func respondDatasync(
        _ request: ServerRequest, skew: Duration, faults: [ServerFault]
    ) throws -> ServerResponse {
        guard request.path.first?.lowercased() == "tables", (2...3).contains(request.path.count),
            let table = table(named: request.path[1])
        else { return ServerResponse(.notFound) }
        guard request.body.count <= configuration.limits.body ?? 1 << 20 else {
            return ServerResponse(.contentTooLarge)
        }
        let unauthorized = ServerResponse(.unauthorized, fields: [.wwwAuthenticate: "Bearer"])
        let tableRequest = try tableRequest(
            request, in: table, skew: skew, faults: faults, isAzure: false, unauthorized: unauthorized)
        if faults.contains(.conflict) { try tableRequest.touch() }
        return try DatasyncRoutes(tableRequest: tableRequest).respond()
    }

    private func table(named name: String) -> ServerTable? {
        let folded = name.lowercased()
        return configuration.tables.first { $0.key.lowercased() == folded }?.value ?? configuration.otherTables
    }

    /// Authenticates the user, and creates the context of a request.
    private func tableRequest(
        _ request: ServerRequest, in table: ServerTable, skew: Duration, faults: [ServerFault], isAzure: Bool,
        unauthorized: ServerResponse
    ) throws -> TableRequest {
        var user: String?
        if let token = request.token, let userOf = configuration.user {
            user = userOf(token)
            if user == nil { throw EarlyResponse(response: unauthorized) }
        }
        if table.isPerUser, user == nil { throw EarlyResponse(response: unauthorized) }
        return TableRequest(
            core: self, request: request, table: table, name: request.path[1].lowercased(), user: user, skew: skew,
            isRaced: faults.contains(.race), isAzure: isAzure)
    }
}
