import HTTPTypes
import Tandem
import TestSupport
import Testing

@testable import TandemServerCore

/// The cost of a page depends on its size, not on that of the table.
@Suite(.ownThreads) struct ListQueryPlanTests {
    @Test(arguments: [
        (
            "(a eq 1) and (updatedAt ge cast(2026-11-21T03:14:33.887Z,Edm.DateTimeOffset))", "updatedAt,id",
            "table=? AND changed>?"
        ),
        ("(a eq 1) and (updatedAt gt 2026-11-21T03:14:33.887Z)", "updatedAt", "table=? AND changed>?"),
        ("(a eq 1) and (id gt 'x')", "id", "table=? AND key>?"), ("id eq 'x'", "", "table=? AND key=?"),
        ("a eq 1", "", "table=?"),
    ])
    func `pages of a pull are read by an index in its order`(filter: String, order: String, constraint: String) throws {
        let core = try ServerCore.inMemory()
        let http = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/tables/t")
        let visit = TableRequest(
            core: core, request: try #require(ServerRequest(http, body: [])), table: ServerTable(), name: "t",
            user: nil,
            skew: .zero, isRaced: false, isAzure: false)
        let limits = FilterLimits(length: 1000, depth: 10, nodes: 100, orderKeys: 5)
        var query = ListQuery(take: 100)
        query.filter = try ODataParser.filter(filter, grammar: .odata4, limits: limits) { _ in .unknown }
        if !order.isEmpty {
            query.order = try ODataParser.order(order, grammar: .odata4, limits: limits) { _ in .unknown }
        }
        try core.store.read { tx in
            let candidates = query.candidates(visit, in: tx)
            let plan = try candidates.results.explain().plan.joined(separator: "\n")
            #expect(candidates.isSorted)
            #expect(plan.contains("(\(constraint))"), "\(plan)")
            #expect(!plan.contains("TEMP B-TREE FOR ORDER BY"), "\(plan)")
        }
    }
}
