import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct AttachmentReplacingTests {
    private let files = (0..<5).map { number in
        Attachment(id: someFileID(), name: "\(number)", contentType: "", size: nil, sha256: nil, serverURL: "u")
    }

    /// Returns the names of the replaced attachments, by the indices of the new ones.
    private func replaced(_ here: [Int], _ earlier: [Int]) -> [Int: String] {
        here.map { files[$0] }.replaced(from: earlier.map { files[$0] }).mapValues(\.name)
    }

    @Test func `an attachment at the position of another one replaces it`() {
        #expect(replaced([1], [0]) == [0: "0"])
        #expect(replaced([3, 1], [0, 1]) == [0: "0"])
        #expect(replaced([0, 3, 2], [0, 1, 2]) == [1: "1"])
        #expect(replaced([3, 4], [0, 1]) == [0: "0", 1: "1"])
    }

    @Test func `an added attachment replaces none`() {
        #expect(replaced([], [0, 1]) == [:])
        #expect(replaced([0], []) == [:])
        #expect(replaced([0, 1], [0]) == [:])
        #expect(replaced([1, 0], [0]) == [:])
        // A removal before a common attachment, and an addition after it.
        #expect(replaced([1, 2], [0, 1]) == [:])
    }

    @Test func `an attachment that occurs twice in a list replaces and is replaced once for each occurrence`() {
        #expect(replaced([3, 3], [0, 0]) == [0: "0", 1: "0"])
        #expect(replaced([1, 3, 1, 4], [1, 2]) == [1: "2"])
        #expect(replaced([0, 1, 0], [0, 1, 0]) == [:])
    }

    @Test(arguments: StoreKind.allCases)
    func `a replaced file stays on the server until the new URL is sent`(kind: StoreKind) throws {
        try kind.withStore(Album.self) { store in
            let (first, second) = (try store.attach("1"), try store.attach("2"))
            let album = try store.write { try $0.insert(Album(title: "а", cover: first)) }
            let insert = try #require(store.operations.all().first).id
            try store.write { tx in
                try tx.beginAttempt(insert)
                try tx.acknowledge(insert, serverID: "s", version: "1")
                _ = try tx.sync.finishUpload(of: first.id, at: "u1", etag: nil, isSetByServer: true)
            }
            try store.write { tx in
                try tx.update(Album.self, localID: album.localID) { album in
                    (album.title, album.cover) = ("б", second)
                }
            }
            let id = try #require(store.operations.all().first).id
            #expect(try store.write { try $0.sync.deferToUpload(id, removingAdditions: true) } == false)
            let attempt = try store.write { try $0.beginAttempt(id).attempts }
            let sent = try #require(try store.write { try $0.sync.outgoing(id) })
            let item = ServerItem(serverID: "s", version: "2", values: sent.values)
            #expect(try store.write { try $0.sync.filesReleased(by: id, for: item) } == [])
            #expect(try store.write { try $0.sync.acknowledge(id, attempt: attempt, with: item) } == .done)
            #expect(try store.operations.all().map(\.changedProperties) == [["cover"]])
            #expect(try store.write { try $0.waitsForReplacements(id) })
            #expect(try store.write { try $0.sync.deferToUpload(id, removingAdditions: true) })
            #expect(try store.objects(Album.self).first()?.cover == second)
            #expect(try store.checkIntegrity() == [])
            // After the upload the operation is an update of the URL, with the old file as its base.
            let operations = try store.write { tx in
                try tx.sync.finishUpload(of: second.id, at: "u2", etag: nil, isSetByServer: false)
            }
            #expect(operations == [id])
            #expect(try !store.write { try $0.sync.deferToUpload(id, removingAdditions: true) })
            let next = try #require(try store.write { try $0.sync.outgoing(id) })
            #expect(next.changed == ["cover"] && next.values["cover"] != sent.values["cover"])
            let news = ServerItem(serverID: "s", version: "3", values: next.values)
            _ = try store.write { try $0.beginAttempt(id) }
            let gone = try store.write { try $0.sync.filesReleased(by: id, for: news) }
            #expect(gone.map(\.url) == ["u1"])
            try store.expectFilesInOrder()
        }
    }
}
