import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// A store that is opened through a symbolic link is the store itself.
///
/// Both paths share one folder of files and one lock.
@Suite(.startsProcesses, .ownThreads) struct AttachmentLinkTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func link(_ name: String, to target: String) throws -> String {
        try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: target)
        return folder.file(name)
    }

    private func subfolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        return folder.file(name)
    }

    /// Returns all folders of files in the test's folder.
    private func folders() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix("-files") }.sorted()
    }

    @Test(arguments: StoreKind.files, ["store.tandem", "links/../store.tandem", "/"])
    func `a link and its target use the same folder`(kind: StoreKind, target: String) throws {
        _ = try subfolder("links")
        let real = folder.file()
        let path = try link("link", to: target == "/" ? real : target)
        for opensLinkFirst in [true, false] {
            let names = opensLinkFirst ? [path, real] : [real, path]
            let first = try kind.open(at: names[0], [Album.self])
            #expect(first.path == names[0])
            let draft = try first.attach("б")
            let file = try first.attach("а")
            try first.write { try $0.insert(Album(title: "а", cover: file)) }
            let second = try kind.open(at: names[1], [Album.self])
            #expect(try second.text(of: second.objects(Album.self).first()?.cover) == "а")
            // The second store has swept nothing of the first one's.
            #expect(try first.text(of: draft) == "б")
            #expect(try folders() == ["store.tandem-files"])
            // The log is found. Files are not removed without it.
            _ = try first.write { try $0.delete($0.objects(Album.self)) }
            #expect(try first.blobs().count == 1)
            first.close()
            second.close()
        }
    }

    @Test(arguments: StoreKind.files) func `another process uses the same folder through a link`(kind: StoreKind) throws
    {
        let real = folder.file(kind)
        _ = try subfolder("links")
        let path = try link("links/" + Peer.name(kind), to: "../" + Peer.name(kind))
        for (there, here) in [(path, real), (real, path)] {
            let peer = try PeerProcess(["attach", there, "а"], in: folder)
            try #require(peer.waitForLine("attached"))
            let store = try kind.open(at: here, [PeerFile.self])
            #expect(try store.blobs().count == 3)
            #expect(try store.objects(PeerFile.self).all().allSatisfy { try store.text(of: $0.file) != nil })
            store.close()
            peer.kill()
            let again = try kind.open(at: here, [PeerFile.self])
            #expect(try again.blobs().count == 2)
            _ = try again.write { try $0.delete($0.objects(PeerFile.self)) }
            again.close()
            #expect(try folders() == [Peer.name(kind) + "-files"])
        }
    }

    @Test(arguments: StoreKind.files) func `a link to a missing file creates the store at its target`(
        kind: StoreKind
    ) throws {
        _ = try subfolder("real")
        _ = try link("middle", to: "real/made.tandem")
        let path = try link("link", to: "middle")
        let store = try kind.open(at: path, [Album.self])
        let file = try store.attach("а")
        try store.write { try $0.insert(Album(title: "а", cover: file)) }
        store.close()
        #expect(try folders() == ["real/made.tandem-files"])
        let real = try kind.open(at: folder.file("real/made.tandem"), [Album.self])
        defer { real.close() }
        #expect(try real.text(of: file) == "а")
        try real.expectFilesInOrder()
    }

    @Test func `a link in a loop or into a missing folder is refused`() throws {
        let round = try link("a", to: "b")
        _ = try link("b", to: "a")
        let lost = try link("lost", to: "no/such")
        for path in [round, lost] {
            expectError(.cannotOpen) { try Store(at: path, models: Album.self) }
            expectError(.cannotOpen) { try StoreKind.encrypted.open(at: path, [Album.self]) }
        }
        #expect(try folders() == [])
    }

    /// Some systems have a link at `/tmp`.
    @Test(arguments: StoreKind.files) func `a folder behind a link is the folder itself`(kind: StoreKind) throws {
        let real = try subfolder("real") + "/store.tandem"
        let path = try link("link", to: "real") + "/store.tandem"
        let store = try kind.open(at: path, [Album.self])
        #expect(store.path == path)
        let file = try store.attach("а")
        let other = try kind.open(at: real, [Album.self])
        defer { for store in [store, other] { store.close() } }
        try store.write { try $0.insert(Album(title: "а", cover: file)) }
        #expect(try other.text(of: file) == "а")
        let url = try #require(try other.attachments.diskURL(of: file))
        #expect(url == (try store.attachments.diskURL(of: file)))
    }

    @Test(arguments: StoreKind.files) func `a link that is redirected does not affect an open store`(
        kind: StoreKind
    ) throws {
        for name in ["one", "two"] {
            let store = try kind.open(at: folder.file(name), [Album.self])
            let file = try store.attach(name)
            try store.write { try $0.insert(Album(title: name, cover: file)) }
            store.close()
        }
        let path = try link("link", to: "one")
        let store = try kind.open(at: path, [Album.self])
        defer { store.close() }
        try FileManager.default.removeItem(atPath: path)
        _ = try link("link", to: "two")
        // Further readers are opened on demand.
        let album = try #require(try store.objects(Album.self).first())
        #expect(try album.title == "one" && store.text(of: album.cover) == "one")
        let file = try store.attach("more")
        try store.write { try $0.insert(Album(title: "more", cover: file)) }
        try store.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.files) func `a copy to a link replaces its target`(
        kind: StoreKind
    ) throws {
        _ = try subfolder("real")
        let path = try link("link", to: "real/backup")
        let store = try kind.open(at: folder.file(), [Album.self])
        defer { store.close() }
        for text in ["а", "б"] {
            _ = try store.write { try $0.delete($0.objects(Album.self)) }
            let file = try store.attach(text)
            try store.write { try $0.insert(Album(title: text, cover: file)) }
            try store.backup(to: path)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "real/backup")
            #expect(try folders() == ["real/backup-files", "store.tandem-files"])
            let copy = try kind.open(at: folder.file("real/backup"), [Album.self])
            #expect(try copy.text(of: file) == text)
            try copy.expectFilesInOrder()
            copy.close()
        }
    }
}
