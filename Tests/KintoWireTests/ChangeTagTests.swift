import HTTPTypes
import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct ChangeTagTests {
    @Test func `a tag differs after each change of a collection, and only then`() async throws {
        let kinto = FakeKinto("Card", "Other")
        let remote = KintoRemote(kinto)
        var tags = [try await remote.changeTag(of: "Card")]
        for act in 0..<4 {
            kinto.put("x\(act)", in: "Other")
            #expect(try await remote.changeTag(of: "Card") == tags.last)
            switch act {
            case 0: kinto.put("a")
            case 1: kinto.put("a", [("x", .integer(1))])
            case 2: kinto.delete("a")
            default:
                kinto.state.withLock { state in
                    state.now += 10
                    state.buckets["b"]?["Card"] = FakeKinto.Collection(members: [], created: state.now, time: state.now)
                }
            }
            tags.append(try await remote.changeTag(of: "Card"))
        }
        #expect(Set(tags).count == 5 && !tags.contains(nil))
    }

    @Test func `an unchanged collection costs a request without a body in its response`() async throws {
        let kinto = FakeKinto("Card")
        for number in 0..<100 { kinto.put("r\(number)", [("shop", .text("Лента"))]) }
        let remote = KintoRemote(kinto)
        let tag = try #require(try await remote.changeTag(of: "Card"))
        #expect(kinto.heads[0].headerFields[.ifNoneMatch] == nil)
        #expect(try await remote.changeTag(of: "Card") == tag)
        #expect(kinto.heads[1].headerFields[.ifNoneMatch] == "\"\(tag)\"")
        #expect(
            kinto.requests
                == Array(repeating: "GET /v1/buckets/b/collections/Card/records?_limit=1&_fields=id", count: 2))
    }

    @Test func `a list without a tag is refused`() async {
        let kinto = FakeKinto("Card")
        for tag in [nil, "W/\"5\"", "abc", "\"\""] {
            var fields: HTTPFields = [.contentType: "application/json"]
            fields[.eTag] = tag
            kinto.fail(.response(200, fields, #"{"data":[]}"#))
            let remote = KintoRemote(kinto)
            let outcome = await line { () async throws(RemoteFailure) in try await remote.changeTag(of: "Card") }
            #expect(outcome == "invalidResponse noETag")
        }
    }
}
