import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Commits that other processes record, with real processes and files.
@Suite(.startsProcesses, .ownThreads) struct RecordedCommitProcessTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func loads(of store: Store) -> Int { store.live.present.map(\.loads).reduce(0, +) }

    @Test(arguments: StoreKind.files)
    func `commits of other processes are followed without reading again`(_ kind: StoreKind) throws {
        let path = folder.file(kind)
        let store = try Peer.open(path)
        defer { store.close() }
        try store.write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
        let people = PictureFollower(store.objects(PeerPerson.self)) { "\($0.localID) \($0.name)" }
        let marks = PictureFollower(store.objects(PeerMark.self)) { "\($0.number)" }
        let count = store.objects(PeerPerson.self).countPublisher.on(.immediate).record()
        #expect(store.live.waitUntilIdle(store))
        let loads = loads(of: store)
        for number in 1...5 {
            // Each process opens the store, commits and closes it.
            try PeerProcess(["count", path, "1"], in: folder).wait()
            #expect(store.live.waitUntilIdle(store))
            try people.check("commit \(number)")
            try marks.check("commit \(number)")
            #expect(count.values.last == number)
        }
        #expect(self.loads(of: store) == loads)
    }

    @Test func `a killed observer is not recorded for any more`() throws {
        let path = folder.file(.file)
        let store = try Peer.open(path)
        defer { store.close() }
        store.live.tuning.observerInterval = 0
        let entries = "SELECT count(*) FROM \"__recent_commits\""
        try store.write { try $0.insert(PeerPerson(name: "alone")) }
        #expect(try store.rows("SELECT name FROM sqlite_master WHERE name = '__recent_commits'") == [])
        let observer = try PeerProcess(["observe", path], in: folder)
        try #require(observer.waitForLine("observing"))
        try store.write { try $0.insert(PeerPerson(name: "observed")) }
        #expect(try store.rows(entries) == [[1]])
        try store.write { try $0.insert(PeerPerson(name: "observed again")) }
        #expect(try store.rows(entries) == [[2]])
        observer.kill()
        try store.write { try $0.insert(PeerPerson(name: "alone again")) }
        #expect(try store.rows(entries) == [[0]])
    }

    /// Three processes write: this one, one that is killed again and again, and one that opens and closes the store.
    @Test(arguments: StoreKind.files)
    func `histories of several processes are followed through kills`(_ kind: StoreKind) throws {
        var random = SeededGenerator.seeded("histories of several processes")
        let seed = random.next() % 1_000_000
        let path = folder.file(kind)
        let store = try Peer.open(path)
        defer { store.close() }
        store.live.tuning.observerInterval = 0
        let cards = store.objects(PeerCard.self)
        func picture(_ card: PeerCard) -> String {
            let people = card.people.map(\.localID)
            return "\(card.localID) \(card.shop) \(card.points) \(String(describing: card.owner?.localID)) \(people)"
        }
        let lists = [
            PictureFollower(cards, picture: picture),
            PictureFollower(cards.includingDeleted(), picture: picture),
        ]
        let people = PictureFollower(store.objects(PeerPerson.self)) { "\($0.localID) \($0.name)" }
        let count = cards.countPublisher.on(.immediate).record()
        #expect(store.live.waitUntilIdle(store))
        var known = 0
        for round in 0..<(isSoak ? 60 : 6) {
            let script = try PeerProcess(["script", path, "\(seed)"], in: folder)
            let end = folder.file("end \(round)")
            let inserting = try PeerProcess(["commits", path, "20", "1", end], in: folder)
            for number in 0..<10 { try store.write { try $0.insert(PeerPerson(name: "own \(round) \(number)")) } }
            #expect(script.waitForLine("ack \(known + Int.random(in: 1...8, using: &random))"))
            script.kill()
            if Bool.random(using: &random) {
                inserting.kill()
            } else {
                #expect(inserting.waitForLine("commit 20 "))
                _ = FileManager.default.createFile(atPath: end, contents: nil)
                inserting.wait()
            }
            for process in [script, inserting] {
                #expect(!process.lines.contains { $0.hasPrefix("error") }, "\(process.lines.last ?? "")")
            }
            known = script.lines.last { $0.hasPrefix("ack ") }.flatMap { Int($0.dropFirst(4)) } ?? known
            #expect(store.live.waitUntilIdle(store))
            for list in lists { try list.check("seed \(seed), round \(round)") }
            try people.check("seed \(seed), round \(round)")
            let now = try cards.count()
            #expect(count.values.last == now, "seed \(seed), round \(round)")
        }
        let problems = try store.checkIntegrity()
        #expect(problems.isEmpty)
    }
}
