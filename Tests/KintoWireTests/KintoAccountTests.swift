import HTTPTypes
import KintoWire
import TestSupport
import Testing

@Suite(.ownThreads) struct KintoAccountTests {
    @Test func `an account sends its name and password as basic credentials in UTF-8`() async throws {
        let account = KintoAccount(name: "анна", password: "п:1")
        let fields = try await account.authentication(.first)
        #expect(fields[.authorization] == "Basic 0LDQvdC90LA60L86MQ==")
        #expect(fields.count == 1)
    }

    @Test func `a description of an account does not contain its password`() {
        let account = KintoAccount(name: "anna", password: "secret")
        var dumped = ""
        dump(account, to: &dumped)
        for text in ["\(account)", String(reflecting: account), dumped] {
            #expect(text.contains("anna"))
            #expect(!text.contains("secret"))
        }
    }

    @Test func `a bearer token and basic credentials have their own forms`() {
        #expect(HTTPFields.bearer("t")[.authorization] == "Bearer t")
        #expect(HTTPFields.basic(user: "a", password: "b")[.authorization] == "Basic YTpi")
    }
}
