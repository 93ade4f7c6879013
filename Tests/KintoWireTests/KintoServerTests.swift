import Foundation
import Tandem
import TandemKinto
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct KintoServerTests {
    @Model struct Card {
        var shop: String
    }

    @Test func `a server has records and files at the address of its URL`() throws {
        let account = KintoAccount(name: "anna", password: "secret")
        for text in ["https://shop.example/kinto", "https://shop.example/kinto/v1/"] {
            let url = try #require(URL(string: text))
            let server = try KintoServer(url: url, bucket: "cards", creates: true, account: account)
            #expect(server.remote.address == "https://shop.example/kinto/v1")
            #expect(server.remote.bucket == "cards" && server.remote.creates)
            #expect(server.files.collection == "files")
        }
    }

    @Test(arguments: ["https://anna:secret@shop.example", "ftp://shop.example", "https://shop.example/?a=1"])
    func `a URL that is not a server's address is refused without its password`(text: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: NetworkError.self) { try KintoServer(url: url, bucket: "cards") }
        #expect(error?.code == .invalidAddress)
        #expect(error.map { "\($0)".contains("secret") } == false)
        #expect(throws: NetworkError.self) { try KintoRemote(url: url, bucket: "cards") }
    }

    @Test func `a context syncs a store with the bucket of a server`() async throws {
        let kinto = FakeKinto()
        let server = KintoServer(
            try #require(ServerAddress("https://shop.example")), bucket: "b", creates: true, over: kinto)
        let phone = try Store.inMemory(models: Card.self)
        try await phone.write { try $0.insert(Card(shop: "Лента")) }
        _ = try await SyncContext(store: phone, server: server, user: "anna").synchronize()
        #expect(kinto.live().count == 1)
        let tablet = try Store.inMemory(models: Card.self)
        _ = try await SyncContext(store: tablet, server: server, user: "anna").synchronize()
        let shops = try await tablet.read { try $0.objects(Card.self).all().map(\.shop) }
        #expect(shops == ["Лента"])
    }
}
