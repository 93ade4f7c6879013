import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Kills a process that attaches, replaces, uploads and frees files at random moments (`kill -9`). After reopening,
/// each row has its file and each file its row.
@Suite(.startsProcesses, .ownThreads) struct AttachmentKillTests {
    private static let kills = isSoak ? 600 : 45

    @Test func `every file has its row after a kill`() throws {
        let base =
            ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)
        print("AttachmentKillTests: TANDEM_SEED=\(base)")
        var steps = 0
        for kind in StoreKind.files {
            let folder = try TestFolder()
            let path = folder.file(kind)
            var random = PeerRandom(base)
            for kill in 0..<Self.kills / 3 {
                let context: Comment = "\(kind), seed \(base), kill \(kill)"
                let peer = try PeerProcess(["files", path, "\(base &+ UInt64(kill))"], in: folder)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    usleep(UInt32.random(in: 0...60_000, using: &random))
                } else {
                    #expect(peer.waitForLine("ack \(Int.random(in: 1...12, using: &random))"), context)
                    usleep(UInt32.random(in: 0...4000, using: &random))
                }
                peer.kill()
                #expect(!peer.lines.contains { $0.hasPrefix("error") }, "\(context): \(peer.lines.last ?? "")")
                steps += peer.lines.count { $0.hasPrefix("ack") }
                let store = try Peer.open(path, models: [PeerFile.self])
                defer { store.close() }
                try store.expectFilesInOrder()
                for object in try store.objects(PeerFile.self).all() {
                    for file in [object.file].compactMap({ $0 }) + object.more
                    where try store.attachments.status(of: file).isOnDevice {
                        try store.attachments.verify(file)
                    }
                }
            }
        }
        #expect(steps > Self.kills, "too few steps for the kills to mean much")
    }
}
