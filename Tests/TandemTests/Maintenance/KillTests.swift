import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Kills a writing process at random moments (`kill -9`) and checks what it acknowledged.
@Suite(.startsProcesses, .ownThreads) struct KillTests {
    /// The number of kills; `TANDEM_SOAK=1` for more.
    static let kills = isSoak ? 2000 : 100
    /// A script's store is replaced after some kills, so that kills also hit the first moments of a new one.
    static let killsPerStore = 10

    /// All kinds share the kills.
    @Test func `a killed process leaves exactly the acknowledged state with its operations`() throws {
        let base =
            ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)
        print("KillTests: TANDEM_SEED=\(base)")
        var survivors = 0
        for index in 0..<(Self.kills / Self.killsPerStore) {
            let kind = StoreKind.files[index % StoreKind.files.count]
            survivors += try runStore(kind, seed: base &+ UInt64(index))
        }
        #expect(survivors > Self.kills, "too few transactions for the kills to mean much")
    }

    private func runStore(_ kind: StoreKind, seed: UInt64) throws -> Int {
        let folder = try TestFolder()
        let path = folder.file(kind)
        var random = PeerRandom(seed)
        var world = PeerWorld(seed: seed)
        for kill in 0..<Self.killsPerStore {
            let known = world.number
            let peer = try PeerProcess(["script", path, "\(seed)"], in: folder)
            if Int.random(in: 0..<4, using: &random) == 0 {
                // The kill comes at any moment of starting, opening, migrating and writing.
                usleep(UInt32.random(in: 0...60_000, using: &random))
            } else {
                #expect(peer.waitForLine("ack \(known + Int.random(in: 1...12, using: &random))"))
                usleep(UInt32.random(in: 0...4000, using: &random))
            }
            peer.kill()
            let lines = peer.lines
            #expect(!lines.contains { $0.hasPrefix("error") }, "\(kind), seed \(seed): \(lines.last ?? "")")
            let acknowledged = lines.last { $0.hasPrefix("ack ") }.flatMap { Int($0.dropFirst(4)) } ?? known
            try check(path, &world, acknowledged: acknowledged, "\(kind), seed \(seed), kill \(kill)")
        }
        return world.number
    }

    private func check(_ path: String, _ world: inout PeerWorld, acknowledged: Int, _ context: String) throws {
        // A process that is killed before creating the file leaves nothing to check. An existing file must open.
        let store = try Peer.open(path)
        defer { store.close() }
        var number = 0
        if case .integer(let stored)? = try store.sql("SELECT \"number\" FROM \"PeerMark\"").first?[0] {
            number = Int(stored)
        }
        // A commit in progress may exist without its acknowledgement.
        #expect(number == acknowledged || number == acknowledged + 1, "\(context)")
        while world.number < number { _ = world.step() }
        try store.expectHolds(world, context)
        try store.expectSound()
    }
}

extension Store {
    /// Compares all objects and operations with those of a script.
    func expectHolds(_ world: PeerWorld, _ context: String) throws {
        var cards: [String: PeerWorld.Card] = [:]
        for row in try sql(
            #"""
            SELECT "localID", "shop", "barcode", "points", "owner", "people", "serverID", "deleted" \#
            FROM "PeerCard"
            """#
        ) {
            cards[row[0].string!] = PeerWorld.Card(
                shop: row[1].string!, barcode: row[2].string!, points: row[3].int!, owner: row[4].string,
                people: try LinkList.parse(row[5].string!).map(\.rawValue), isSent: row[6] != .null,
                isDeleted: row[7] == .integer(1))
        }
        #expect(cards == world.cards, "\(context)")
        var people: [String: PeerWorld.Person] = [:]
        for row in try sql("SELECT \"localID\", \"name\", \"serverID\", \"deleted\" FROM \"PeerPerson\"") {
            people[row[0].string!] = PeerWorld.Person(
                name: row[1].string!, isSent: row[2] != .null, isDeleted: row[3] == .integer(1))
        }
        #expect(people == world.people, "\(context)")
        var pending: [String: PeerWorld.Pending] = [:]
        for operation in try operations.all() {
            pending[operation.localID.rawValue] = PeerWorld.Pending(
                operation.kind, Set(operation.changedProperties), replaced: operation.replaced)
        }
        #expect(pending == world.pending, "\(context)")
    }
}

extension StorageValue {
    var string: String? { if case .text(let text) = self { text } else { nil } }
    var int: Int? { if case .integer(let value) = self { Int(value) } else { nil } }
}
