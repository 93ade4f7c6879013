import DatasyncWire
import TandemSync
import TestSupport
import Testing

/// The checks and the hash of a file to upload.
@Suite(.ownThreads) struct OutgoingFileTests {
    private static let id = String(repeating: "0a", count: 16)
    private static let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private let file = OutgoingFile(id: id, name: "", contentType: "", bytes: Array("abc".utf8))

    @Test func `a file in memory has the SHA-256 of its bytes`() throws {
        #expect(file.sha256 == Self.hash)
        #expect(file.sha256Base64 == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
        try file.check()
    }

    @Test(arguments: ["", "0a", id + "0a", id.uppercased(), String(repeating: "g", count: 32)])
    func `an ID that is not 32 lower-case digits is refused`(id: String) {
        var file = file
        file.id = id
        #expect(throws: RemoteFailure.self) { try file.check() }
    }

    @Test(arguments: ["", "0a", hash + "0a", hash.uppercased(), String(repeating: "g", count: 64)])
    func `a hash that is not 64 lower-case digits is refused`(hash: String) {
        var file = file
        file.sha256 = hash
        #expect(throws: RemoteFailure.self) { try file.check() }
    }
}
