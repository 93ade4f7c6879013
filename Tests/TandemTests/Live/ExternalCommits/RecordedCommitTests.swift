import BigInt
import Foundation
import GRDBSQLite
import TandemTestScript
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Commits that another store records, so that live queries follow them row by row.
@Suite(.ownThreads) struct RecordedCommitTests {
    @Test(arguments: StoreKind.files)
    func `recorded commits of another store are followed without reading again`(_ kind: StoreKind) throws {
        let pair = try ObservedPair(kind)
        pair.watchAll()
        let loads = pair.loads
        // Positions are unknown until one commit has been noticed, unless the store has checked before.
        try pair.other.write { try $0.insert(Card(shop: "Магнит", barcode: "new", points: 8)) }
        try pair.check()
        for points in [3, 100, 6, 0, 8] {
            try pair.setPoints("new", points)
            try pair.check()
        }
        try pair.other.write { tx in
            // A name that moves the card, and an owner that the joined query follows.
            try tx.update(tx.objects(Card.self).where { $0.barcode == "3" }) { $0.shop = "Ашан" }
            try tx.update(tx.objects(Person.self)) { $0.name = "Боб" }
        }
        try pair.check()
        try pair.other.write { tx in
            try tx.delete(tx.objects(Card.self).where { $0.points > 6 })
            try tx.update(tx.objects(Person.self)) { $0.name = "Ада" }
        }
        try pair.check()
        #expect(pair.loads == loads)
    }

    @Test(arguments: StoreKind.files)
    func `several commits between two checks are followed together with own ones`(_ kind: StoreKind) throws {
        let pair = try ObservedPair(kind)
        pair.watchAll()
        let loads = pair.loads
        for round in 0..<5 {
            try pair.unnoticed {
                for points in 0..<4 { try pair.setPoints("\(points)", round * 7 + points * 3) }
                // The same row several times, and a row that exists only in between.
                try pair.setPoints("1", round + 6)
                let card = try pair.other.write { try $0.insert(Card(shop: "Я", barcode: "gone", points: 7)) }
                try pair.other.write { _ = try $0.delete(card) }
            }
            // The own transaction notices them first.
            try pair.setPoints("5", round, in: pair.store)
            try pair.unnoticed { try pair.setPoints("6", round + 4) }
            try pair.check()
            try pair.setPoints("7", 9 - round, in: pair.store)
            try pair.setPoints("8", 9 - round, in: pair.store)
            try pair.check()
        }
        #expect(pair.loads == loads)
    }

    @Test func `a read-only store follows recorded commits`() throws {
        let pair = try ObservedPair(.file, isReadOnly: true)
        pair.watchAll()
        let loads = pair.loads
        try pair.unnoticed { for points in [3, 100, 6] { try pair.setPoints("2", points) } }
        try pair.check()
        #expect(pair.loads == loads)
    }

    @Test(arguments: [0, 1, 2])
    func `a commit without Tandem between recorded ones is not lost`(_ place: Int) throws {
        let pair = try ObservedPair(.file)
        pair.watchAll()
        let loads = pair.loads
        try pair.unnoticed {
            for number in 0..<3 {
                if number == place {
                    try pair.setPointsWithoutTandem("4", 50)
                } else {
                    try pair.setPoints("\(number)", 60 + number)
                }
            }
        }
        try pair.check()
        #expect(pair.loads > loads)
        // Later commits are followed again.
        let again = pair.loads
        try pair.setPoints("9", 70)
        try pair.check()
        #expect(pair.loads == again)
    }

    @Test func `a commit that did not record is not lost`() throws {
        let pair = try ObservedPair(.file)
        pair.watchAll()
        try pair.unnoticed {
            try pair.setPoints("1", 61)
            // As an older version of Tandem, or before the observer is known.
            pair.other.live.tuning.recordsCommits = false
            try pair.setPoints("2", 62)
            pair.other.live.tuning.recordsCommits = true
            try pair.setPoints("3", 63)
        }
        try pair.check()
    }

    @Test func `entries that later ones displace are not needed`() throws {
        var tuning = LiveTuning()
        tuning.recordedCommits = 4
        let pair = try ObservedPair(.file, tuning: tuning)
        pair.watchAll()
        let loads = pair.loads
        try pair.unnoticed { for number in 0..<4 { try pair.setPoints("\(number)", 60 + number) } }
        try pair.check()
        #expect(pair.loads == loads)
        let count = try pair.recordedCommits()
        #expect(count == .integer(4))
        try pair.unnoticed { for number in 0..<5 { try pair.setPoints("\(number)", 70 + number) } }
        try pair.check()
        #expect(pair.loads > loads)
    }

    @Test(arguments: [true, false])
    func `a large commit reloads only the queries of its table`(_ hasManyRows: Bool) throws {
        var tuning = LiveTuning()
        if hasManyRows { tuning.recordedRows = 5 } else { tuning.recordedBytes = 500 }
        let pair = try ObservedPair(.file, tuning: tuning)
        pair.watch(pair.cards.sorted(by: \.shop))
        let people = pair.store.objects(Person.self).sorted(by: \.name).changesetPublisher.record()
        #expect(people.waitForValues(1))
        pair.waitUntilDelivered()
        let loads = pair.loads
        try pair.other.write { tx in
            try tx.update(tx.objects(Card.self)) { $0.points += 1 }
            try tx.insert(Person(name: "Боб"))
        }
        try pair.check()
        #expect(pair.loads == loads + 1)
        #expect(people.values.last?.results.map(\.name) == ["Ада", "Боб"])
    }

    @Test(arguments: StoreKind.files)
    func `a log that begins again costs one reload`(_ kind: StoreKind) throws {
        let pair = try ObservedPair(kind)
        pair.watchAll()
        for round in 0..<3 {
            try pair.emptyLog()
            try pair.setPoints("1", 10 + round)
            try pair.check()
            let loads = pair.loads
            try pair.unnoticed {
                try pair.setPoints("1", 20 + round)
                try pair.setPoints("2", 20 + round)
            }
            try pair.check()
            #expect(pair.loads == loads)
        }
    }

    @Test func `a result that already has an unnoticed commit does not get it twice`() throws {
        let pair = try ObservedPair(.file)
        pair.watchAll()
        // The subscription begins and reads while another store's commit is not noticed.
        try pair.unnoticed {
            try pair.setPoints("1", 61)
            let count = { (store: Store) in try store.objects(Card.self).where { $0.points > 60 }.count() }
            pair.watch(pair.cards.where { $0.points > 60 }.countPublisher, fresh: count)
            try pair.setPoints("2", 62)
        }
        try pair.check()
        try pair.setPoints("3", 63)
        try pair.check()
    }

    @Test func `a result read between two commits that cancel each other out is corrected`() throws {
        let pair = try ObservedPair(.file)
        pair.watchAll()
        try pair.setPoints("1", 5)
        try pair.check()
        try pair.unnoticed {
            try pair.setPoints("1", 61)
            let count = { (store: Store) in try store.objects(Card.self).where { $0.points > 60 }.count() }
            pair.watch(pair.cards.where { $0.points > 60 }.countPublisher, fresh: count)
            try pair.setPoints("1", 5)
        }
        try pair.check()
    }

    // MARK: The cost for writers

    /// The number of pages that a write of one value adds to the log.
    private func pages(_ pair: ObservedPair, _ points: Int) throws -> Int32 {
        let before = pair.other.writer.connection.writtenPages
        try pair.setPoints("11", points)
        return pair.other.writer.connection.writtenPages - before
    }

    @Test func `a store without observers records nothing`() throws {
        let pair = try ObservedPair(.file)
        _ = try pages(pair, 9)
        let pagesWithoutRecord = try pages(pair, 1)
        let table = try pair.recordedCommits()
        #expect(table == nil)
        // Its own live queries do not count.
        let own = pair.other.objects(Card.self).countPublisher.record()
        #expect(own.waitForValues(1))
        #expect(try pages(pair, 2) == pagesWithoutRecord)
        let still = try pair.recordedCommits()
        #expect(still == nil)
        own.cancel()
    }

    @Test func `recorded commits are removed when nothing observes them any more`() throws {
        let pair = try ObservedPair(.file)
        _ = try pages(pair, 9)
        let pagesWithoutRecord = try pages(pair, 1)
        let count = pair.cards.countPublisher.record()
        #expect(count.waitForValues(1))
        #expect(try pages(pair, 2) > pagesWithoutRecord)
        let recorded = try pair.recordedCommits()
        #expect(recorded == .integer(1))
        count.cancel()
        #expect(comesTrue { !pair.other.live.leavesLogToOthers })
        _ = try pages(pair, 3)
        let left = try pair.recordedCommits()
        #expect(left == .integer(0))
        #expect(try pages(pair, 4) == pagesWithoutRecord)
    }

    @Test func `a closing store leaves the log to an observer`() throws {
        let pair = try ObservedPair(.file)
        pair.watchAll()
        let loads = pair.loads
        for round in 0..<3 {
            let third = try pair.kind.open(at: pair.path, [Badge.self, Person.self, Card.self])
            third.live.tuning = pair.other.live.tuning
            try pair.setPoints("1", 30 + round, in: third)
            third.close()
            try pair.check()
        }
        #expect(pair.loads == loads)
    }

    @Test(arguments: StoreKind.files)
    func `a copy has no recorded commits`(_ kind: StoreKind) throws {
        let pair = try ObservedPair(kind)
        pair.watchAll()
        try pair.setPoints("1", 30)
        let copy = pair.folder.file("copy.tandem")
        try pair.other.backup(to: copy)
        let opened = try kind.open(at: copy, [Badge.self, Person.self, Card.self])
        defer { opened.close() }
        let table = try pair.recordedCommits(in: opened)
        #expect(table == nil)
        let own = try pair.recordedCommits()
        #expect(own == .integer(1))
    }

    // MARK: Data from files

    @Test(arguments: StoreKind.files)
    func `the position in the log counts the frames of the file`(_ kind: StoreKind) throws {
        let folder = try TestFolder()
        let store = try kind.open(at: folder.file(kind), [Badge.self])
        defer { store.close() }
        for number in 0..<3 {
            try store.write { try $0.insert(Badge(name: "\(number)")) }
            let position = try #require(store.writer.connection.logPosition)
            let log = folder.file(kind) + "-wal"
            let size = try #require(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
            #expect(size == 32 + Int(position.frame) * (24 + position.pageSize))
            let reader = try #require(try store.checkOutReader())
            // Before its first read, a connection has not opened the log.
            _ = try reader.value("SELECT count(*) FROM \"Badge\"")
            #expect(reader.logPosition == position)
            store.checkIn(reader)
        }
    }

    @Test func `the commits of all programs between two positions are counted`() throws {
        let pair = try ObservedPair(.file)
        let lock = ObserverLock(path: pair.path + "-wal")
        var positions = [try #require(pair.other.writer.connection.logPosition)]
        for number in 0..<6 {
            if number.isMultiple(of: 2) {
                try pair.setPointsWithoutTandem("1", number)
            } else {
                try pair.setPoints("1", number)
            }
            positions.append(try #require(pair.other.writer.connection.logPosition))
        }
        let ends = lock.withDescriptor { LogCommits.ends(after: positions[0], upTo: positions[6], in: $0) }
        #expect(ends == positions.dropFirst().map(\.frame))
        let none = lock.withDescriptor { LogCommits.ends(after: positions[6], upTo: positions[6], in: $0) }
        #expect(none == [UInt32]())
        // A position in the middle of a commit, and one in a log that has begun again.
        let middle = positions[6].at(positions[6].frame - 1)
        #expect(lock.withDescriptor { LogCommits.ends(after: positions[0], upTo: middle, in: $0) } == .some(nil))
        try pair.emptyLog()
        try pair.setPoints("1", 9)
        let end = try #require(pair.other.writer.connection.logPosition)
        #expect(lock.withDescriptor { LogCommits.ends(after: positions[6], upTo: end, in: $0) } == .some(nil))
    }

    @Test func `damaged entries are refused`() throws {
        var bytes = [RecordedChanges.version]
        bytes.append(block: "Card".utf8)
        bytes.append(1)
        bytes.append(number: UInt32(2))
        bytes.append(number: Int64(7))
        bytes.append(number: RecordedChanges.newRow)
        bytes.append(number: Int64(8))
        bytes.append(number: UInt16(3))
        bytes.append(value: .null)
        bytes.append(value: .integer(-1))
        bytes.append(value: .real(0.5))
        let whole = bytes.withUnsafeBytes { RecordedChanges($0) }
        #expect(whole?.tables.first?.rows?.map(\.rowID) == [7, 8])
        #expect(whole?.tables.first?.rows?.last?.old?.count == 3)
        for count in 2..<bytes.count {
            #expect(Array(bytes[..<count]).withUnsafeBytes { RecordedChanges($0) } == nil, "\(count) bytes")
        }
        var random = Dice.seeded("damaged entries")
        for _ in 0..<10_000 {
            var damaged = bytes
            damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
                in: 0...255, using: &random)
            _ = damaged.withUnsafeBytes { RecordedChanges($0) }
        }
    }
}
