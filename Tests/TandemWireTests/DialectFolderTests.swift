import DatasyncWire
import HTTPTypes
import TandemSync
import TestSupport
import Testing

/// The folder of a server's tables.
@Suite(.ownThreads) struct DialectFolderTests {
    private struct NoTransport: HTTPTransport {
        struct Unused: Error {}

        func send(
            _ request: HTTPRequest, body: [UInt8], limit: Int
        ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
            throw .notSent(Unused())
        }
    }

    @Test(arguments: [("tables", "/tables/card"), ("", "/card"), ("api/v2", "/api/v2/card")])
    func `A table is in the dialect's folder or at the address itself`(folder: String, path: String) throws {
        var dialect = Dialect.datasync
        dialect.folder = folder
        let address = try #require(ServerAddress("https://shop.example"))
        let remote = DatasyncRemote(address, dialect: dialect, over: NoTransport())
        #expect(remote.url(of: "Card") == "https://shop.example" + path)
    }
}
