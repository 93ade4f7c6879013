import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// A store without Swift types while another process has it open and writes.
@Suite(.startsProcesses, .ownThreads) struct DynamicProcessTests {
    @Test(arguments: StoreKind.files)
    func `a live query by names follows the commits of another process`(kind: StoreKind) throws {
        let folder = try TestFolder()
        try Peer.open(folder.file(kind)).close()
        let key = kind.profile == nil ? nil : StoreKind.key
        let store = try Store.inspect(at: folder.file(kind), key: key, profile: kind.profile ?? .aes256gcm)
        defer { store.close() }
        let query = try store.objects(named: "PeerPerson").where("name matches '7'").sorted(by: "name")
        let recorder = query.collectionPublisher.record()
        defer { recorder.cancel() }
        #expect(recorder.waitForValues(1))
        let end = folder.file("end")
        let peer = try PeerProcess(["commits", folder.file(kind), "80", "1", end], in: folder)
        // 7, 17, …, 67 and 70 to 79.
        #expect(recorder.waitForValue { $0.count == 17 })
        _ = FileManager.default.createFile(atPath: end, contents: nil)
        #expect(peer.wait() == 0)
        #expect(try recorder.values.last.map(Array.init) == query.all())
        #expect(try store.operations(ofModel: "PeerPerson").count == 80)
    }
}
