import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

@Suite(.ownThreads) struct ServerFaultsTests {
    private let put = #"{"id":"a","n":2}"#

    @Test func `a script applies its faults in order`() async throws {
        let server = try ServerFixture(.datasync) {
            $0.faults = .script([
                [.lostRequest], [.lostResponse], [.status(503, retryAfter: 7)], [.latency(.seconds(3))], [.status(429)],
            ])
        }
        func insert(_ id: String) async -> ReceivedResponse {
            await server.send(.post, "/tables/t", [:], "{\"id\":\"\(id)\"}")
        }
        func count() throws -> Int { try server.core.rows(in: "t").count }

        #expect(await insert("a").status == 444)
        #expect(try count() == 0)
        #expect(await insert("a").status == 444)
        #expect(try count() == 1)
        let busy = await insert("b")
        #expect(busy.status == 503)
        #expect(busy.head.headerFields[.retryAfter] == "7")
        #expect(try count() == 1)
        // The response of the first insert was lost, so the row already exists.
        #expect(await insert("a").status == 409)
        #expect(server.time.slept == [.seconds(3)])
        #expect(await insert("c").status == 429)
        #expect(await insert("c").status == 201)
    }

    @Test func `a lost request and a lost response are distinguished`() async throws {
        let server = try ServerFixture(.datasync) { $0.faults = .script([[.lostRequest], [.lostResponse]]) }
        let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/tables/t")
        for wasCarriedOut in [false, true] {
            guard case .noResponse(wasCarriedOut) = await server.core.exchange(request, body: []) else {
                Issue.record("a response, or the wrong kind of none")
                return
            }
        }
        guard case .response(let response, _) = await server.core.exchange(request, body: []) else {
            Issue.record("no response")
            return
        }
        #expect(response.status == .ok)
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `a planned conflict makes the client's version outdated`(dialect: ServerDialect) async throws {
        let server = try ServerFixture(dialect) { $0.faults = .script([[], [.conflict], [.conflict]]) }
        let first = await server.send(.post, "/tables/t", [:], #"{"id":"a","n":1}"#)
        let method = dialect == .datasync ? HTTPRequest.Method.put : .patch
        let body = dialect == .datasync ? put : #"{"n":2}"#
        let stale = await server.send(method, "/tables/t/a", [.ifMatch: first.tag ?? ""], body)
        #expect(stale.status == 412)
        #expect(stale.object["n"] as? Int == 1)
        #expect(stale.version != first.version)
        // A request without a version has no conflict.
        #expect(await server.send(method, "/tables/t/a", [:], body).status == 200)
    }

    @Test func `a lost race gets a 409 with the other writer's row`() async throws {
        let server = try ServerFixture(.datasync) { $0.faults = .script([[], [.race], [.race]]) }
        let first = await server.send(.post, "/tables/t", [:], #"{"id":"a","n":1}"#)
        let lost = await server.send(.put, "/tables/t/a", [.ifMatch: first.tag ?? ""], put)
        #expect(lost.status == 409)
        #expect(lost.object["n"] as? Int == 1)
        #expect(lost.version != first.version && lost.tag == "\"\(lost.version)\"")
        #expect(await server.send(.delete, "/tables/t/a", [.ifMatch: lost.tag ?? ""]).status == 409)
        #expect(await server.send(.delete, "/tables/t/a", [.ifMatch: lost.tag ?? ""]).status == 412)
    }

    @Test func `a request that arrives twice is carried out twice`() async throws {
        let server = try ServerFixture(.datasync) { $0.faults = .script([[.twice], [.twice]]) }
        #expect(await server.send(.post, "/tables/t", [:], #"{"id":"a"}"#).status == 409)
        #expect(await server.send(.post, "/tables/t", [:], "{}").status == 201)
        #expect(try server.core.rows(in: "t").count == 3)
    }

    @Test func `a skewed clock goes back and returns`() async throws {
        let server = try ServerFixture(.datasync) {
            $0.faults = .script([[], [.skew(.milliseconds(-2500))], [], [.skew(.seconds(2))], []])
        }
        var times: [String] = []
        for _ in 0..<5 {
            let response = await server.send(.post, "/tables/t", [:], "{}")
            times.append(String((response.object["updatedAt"] as? String ?? "").suffix(7)))
        }
        #expect(times == ["33.887Z", "31.387Z", "33.887Z", "35.887Z", "33.887Z"])
        let extreme = try ServerFixture(.datasync) {
            $0.faults = .script([[.skew(.seconds(Int64.max))], [.skew(.seconds(Int64.min))]])
        }
        let late = await extreme.send(.post, "/tables/t", [:], "{}")
        #expect(late.object["updatedAt"] as? String == "9999-12-31T23:59:59.999Z")
        #expect(late.head.headerFields[.date] == "Fri, 31 Dec 9999 23:59:59 GMT")
        let early = await extreme.send(.get, "/tables/t")
        #expect(early.head.headerFields[.date] == "Mon, 01 Jan 0001 00:00:00 GMT")
    }

    @Test func `a seed always has the same faults`() async throws {
        func statuses(_ seed: UInt64) async throws -> [Int] {
            let server = try ServerFixture(.datasync) {
                $0.faults = .seeded(
                    seed,
                    odds: [
                        (.lostRequest, 0.1), (.lostResponse, 0.1), (.status(503), 0.2), (.latency(.seconds(1)), 0.5),
                    ])
            }
            var statuses: [Int] = []
            for _ in 0..<300 { statuses.append(await server.send(.get, "/tables/t").status) }
            #expect((90...210).contains(server.time.slept.count))
            return statuses
        }
        let first = try await statuses(1)
        #expect(try await statuses(1) == first)
        #expect(try await statuses(2) != first)
        // About a fifth of them are lost, and a fifth of the others fail.
        #expect((30...90).contains(first.count { $0 == 444 }))
        #expect((25...80).contains(first.count { $0 == 503 }))
    }
}
