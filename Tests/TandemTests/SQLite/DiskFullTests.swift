import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// A disk that fills up during a write: a typed error, an unchanged store, and a usable one when there is space again.
@Suite(.startsProcesses, .ownThreads) struct DiskFullTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func expectRecovered(
        _ peer: PeerProcess, code: String, sourceLocation: SourceLocation = #_sourceLocation
    )
        throws
    {
        peer.wait()
        let lines = peer.lines
        try #require(lines.count == 6, "\(lines)", sourceLocation: sourceLocation)
        #expect(lines[0] == "full \(code)", sourceLocation: sourceLocation)
        for index in [1, 3] {
            let expected = lines[index + 1].split(separator: " ").compactMap { Int($0) }
            #expect(
                lines[index] == "holds \(expected[0]) \(expected[1]) \(expected[1]) 0", sourceLocation: sourceLocation)
        }
        #expect(lines[5] == "reopened \(lines[4].split(separator: " ")[1])", sourceLocation: sourceLocation)
    }

    @Test(
        .enabled(if: PeerProcess.canMount, "no mounts here"),
        arguments: zip([4, 5, 8, 5, 4], [StoreKind.file, .file, .file, .encrypted, .sqlCipher]))
    func `a full disk is an error and loses nothing`(megabytes: Int, kind: StoreKind) throws {
        let peer = try PeerProcess(
            mounting: """
                mkdir '\(folder.file("disk"))'
                mount -t tmpfs -o size=\(megabytes)m tmpfs '\(folder.file("disk"))'
                head -c 2000000 /dev/zero > '\(folder.file("disk"))/ballast'
                '\(PeerProcess.executable)' fill '\(folder.file("disk"))/\(Peer.name(kind))' \
                '\(folder.file("disk"))/ballast'
                """, in: folder)
        try expectRecovered(peer, code: "diskFull")
    }

    @Test(
        arguments: zip(
            [1_000_000, 1_777_777, 4_000_000, 1_777_777, 1_000_000],
            [StoreKind.file, .file, .file, .encrypted, .sqlCipher]))
    func `a file at its size limit is an error and loses nothing`(bytes: Int, kind: StoreKind) throws {
        let peer = try PeerProcess(["fill", folder.file(kind), "\(bytes)"], in: folder)
        try expectRecovered(peer, code: "ioFailure")
    }

    @Test(arguments: StoreKind.files)
    func `a store that reaches SQLite's page limit is usable afterwards`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        _ = try store.write { try $0.insert(PeerPerson(name: "before")) }
        func limit(_ pages: Int) throws {
            try store.writer.queue.unsafeReentrantWrite { _ in
                _ = try store.writer.connection.value("PRAGMA max_page_count = \(pages)")
            }
        }
        try limit(60)
        let error = expectError(.diskFull) {
            try store.write { tx in
                for index in 0..<1000 {
                    try tx.insert(PeerCard(shop: String(repeating: "ж", count: 5000), barcode: "\(index)"))
                }
            }
        }
        #expect(error?.store == store.path && error?.advice != nil)
        #expect(try store.operations.count() == 1)
        try limit(100_000)
        _ = try store.write { try $0.insert(PeerCard(shop: "after", barcode: "1")) }
        #expect(try store.operations.count() == 2)
        try store.expectSound()
    }

    @Test(arguments: StoreKind.files)
    func `a migration without enough space leaves the store unchanged`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try store.write { tx in
            for index in 0..<300 { try tx.insert(PeerPerson(name: "\(index) " + String(repeating: "я", count: 2000))) }
        }
        store.close()
        let before = try folder.storeBytes(kind)
        let outputs = try TestFolder()
        let peer = try PeerProcess(
            under: ["/bin/sh", "-ec", "trap '' XFSZ; ulimit -f 300; exec \"$@\"", "sh"],
            ["rewrite", folder.file(kind)],
            in: outputs)
        peer.wait()
        #expect(peer.lines.first?.hasPrefix("error ioFailure") == true, "\(peer.lines)")
        // The log is empty or removed. The file has the same bytes.
        #expect(try folder.storeBytes(kind)[Peer.name(kind)] == before[Peer.name(kind)])
        let again = try kind.open(at: folder.file(kind), [PeerPersonGrown.self])
        #expect(try again.rows("SELECT count(*) FROM PeerPerson") == [[300]])
    }
}
