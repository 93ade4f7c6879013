import Testing

@testable import DiscountCards

@Suite struct KintoDemoServerTests {
    private static let environment = [
        "CARDS_SERVER": "http://127.0.0.1:1/v1/buckets/cards", "CARDS_TOKEN": "maria:secret",
        "CARDS_OTHER_TOKEN": "ada:secret", "CARDS_FAULTS": "http://127.0.0.1:2",
    ]

    @Test func `the environment names the bucket and the accounts of both devices`() throws {
        let server = try KintoDemoServer(environment: Self.environment)
        #expect(server.url == "http://127.0.0.1:1/v1/buckets/cards")
        #expect([server.tokens.phone, server.tokens.tablet] == ["maria:secret", "ada:secret"])
    }

    @Test(arguments: environment.keys.sorted(), [nil, ""]) func `a missing variable is named`(
        _ variable: String, value: String?
    ) async throws {
        var environment = Self.environment
        environment[variable] = value
        let failure = try await failure { _ = try KintoDemoServer(environment: environment) }
        #expect(failure?.status == .usage && failure?.message == "\(variable) is not set.")
    }

    @Test func `a server without a bucket is refused`() async throws {
        var environment = Self.environment
        environment["CARDS_SERVER"] = "http://127.0.0.1:8080"
        let failure = try await failure { _ = try KintoDemoServer(environment: environment) }
        #expect(failure?.status == .usage)
    }
}
