import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The table behind the object cache: its size, its replacement, and its states.
@Suite(.startsProcesses, .ownThreads) struct CacheTableTests {
    private func key(_ id: String) -> CacheKey { CacheKey(Badge.self, kind: .localID, text: id) }

    private func object(_ name: String) throws -> CachedObject { try #require(CachedObject(Badge(name: name))) }

    private func name(_ result: CacheTable.LookupResult) -> String? {
        if case .object(let object) = result { object.value(Badge.self).name } else { nil }
    }

    private func isWanted(_ result: CacheTable.LookupResult) -> Bool {
        if case .absent(isWanted: true) = result { true } else { false }
    }

    @Test func `object is visible from its own state on, unless older states are outdated`() throws {
        var table = CacheTable(limit: 1 << 20)
        try table.insert(object("one"), for: key("1"), in: 5, oldest: 3, byteCount: 100)
        #expect(name(table.find(key("1"), in: 4, oldest: 3)) == nil)
        #expect(name(table.find(key("1"), in: 5, oldest: 3)) == "one")
        #expect(name(table.find(key("1"), in: 9, oldest: 5)) == "one")
        #expect(table.count == 1)
        #expect(isWanted(table.find(key("1"), in: 9, oldest: 6)))
        #expect(table.count == 0)
        #expect(table.byteCount == 0)
    }

    @Test func `object is wanted at its second read, and after its removal`() throws {
        var table = CacheTable(limit: 1 << 20)
        #expect(!isWanted(table.find(key("1"), in: 1, oldest: 1)))
        #expect(isWanted(table.find(key("1"), in: 1, oldest: 1)))
        try table.insert(object("one"), for: key("1"), in: 1, oldest: 1, byteCount: 100)
        table.remove(key("1").hash)
        #expect(table.count == 0)
        #expect(isWanted(table.find(key("1"), in: 2, oldest: 1)))
    }

    @Test func `object replaces an earlier one with the same key`() throws {
        var table = CacheTable(limit: 1 << 20)
        for number in 0..<5 {
            try table.insert(object("\(number)"), for: key("1"), in: UInt64(number + 1), oldest: 1, byteCount: 100)
        }
        #expect(table.count == 1)
        #expect(name(table.find(key("1"), in: 5, oldest: 1)) == "4")
    }

    @Test func `table behaves like a dictionary until it is full`() throws {
        var dice = Dice.seeded("cache table")
        var table = CacheTable(limit: 1 << 24)
        var model: [String: String] = [:]
        for step in 0..<20_000 {
            let id = "\(dice.below(600))"
            switch dice.below(3) {
            case 0:
                try table.insert(object("\(step)"), for: key(id), in: 1, oldest: 1, byteCount: 50)
                model[id] = "\(step)"
            case 1:
                table.remove(key(id).hash)
                model[id] = nil
            default:
                let found = name(table.find(key(id), in: 1, oldest: 1))
                if found != model[id] { Issue.record("step \(step): \(found ?? "nil"), not \(model[id] ?? "nil")") }
            }
        }
        #expect(table.count == model.count)
        for (id, expected) in model { #expect(name(table.find(key(id), in: 1, oldest: 1)) == expected) }
        table.removeAll()
        #expect(table.count == 0)
        #expect(table.byteCount == 0)
    }

    @Test func `full table keeps its size, its order of probes and the objects that are read`() throws {
        var dice = Dice.seeded("full cache table")
        let limit = 1 << 18
        var table = CacheTable(limit: limit)
        func add(_ id: String) throws {
            try table.insert(object(id), for: key(id), in: 1, oldest: 1, byteCount: 200 + dice.below(400))
            #expect(table.byteCount <= limit)
        }
        for number in 0..<40 { try add("read \(number)") }
        for number in 0..<20_000 {
            try add("\(number)")
            let id = "read \(number % 40)"
            _ = table.find(key(id), in: 1, oldest: 1)
            if number.isMultiple(of: 3) { table.remove(key("\(dice.below(number + 1))").hash) }
        }
        #expect(table.count > 100)
        let kept = (0..<40).filter { name(table.find(key("read \($0)"), in: 1, oldest: 1)) == "read \($0)" }
        #expect(kept.count >= 36)
        var found = 0
        for number in 0..<20_000 {
            guard let name = name(table.find(key("\(number)"), in: 1, oldest: 1)) else { continue }
            found += 1
            #expect(name == "\(number)")
        }
        #expect(found + kept.count == table.count)
    }

    @Test func `outdated objects make room first`() throws {
        var table = CacheTable(limit: 1 << 16)
        for number in 0..<90 {
            try table.insert(object("old"), for: key("old \(number)"), in: 1, oldest: 1, byteCount: 500)
            _ = table.find(key("old \(number)"), in: 1, oldest: 1)
        }
        for number in 0..<90 {
            try table.insert(object("new"), for: key("new \(number)"), in: 2, oldest: 2, byteCount: 500)
            #expect(name(table.find(key("new \(number)"), in: 2, oldest: 2)) == "new")
        }
    }

    @Test func `object beyond a quarter of the size is not added`() throws {
        var table = CacheTable(limit: 10_000)
        try table.insert(object("large"), for: key("1"), in: 1, oldest: 1, byteCount: 2_501)
        #expect(table.count == 0)
        try table.insert(object("small"), for: key("2"), in: 1, oldest: 1, byteCount: 1_000)
        #expect(table.count == 1)
    }

    @Test(arguments: [StoreKind.memory, .file])
    func `many objects that are all read twice stay within the size`(kind: StoreKind) throws {
        var configuration = Store.Configuration()
        configuration.objectCacheSize = 1 << 20
        try kind.withStore(Badge.self, configuration: configuration) { store in
            let cache = try #require(store.objectCache)
            let ids = (0..<(isSoak ? 100_000 : 20_000)).map { LocalID("b\($0)") }
            try store.write { tx in
                for (number, id) in ids.enumerated() { try tx.insert(Badge(name: "\(number)").identified(by: id)) }
            }
            var largest = 0
            var wrong = 0
            try store.read { tx in
                for (number, id) in ids.enumerated() {
                    for _ in 0..<2 {
                        if try tx.object(ofType: Badge.self, forPrimaryKey: id)?.name != "\(number)" { wrong += 1 }
                    }
                    if number.isMultiple(of: 100) { largest = max(largest, cache.byteCount) }
                }
            }
            #expect(wrong == 0)
            #expect(largest <= 1 << 20)
            #expect(largest > 1 << 19)
            #expect(cache.count > 500)
        }
    }

    #if os(Linux)
        @Test func `estimated size is at least the memory in use`() async {
            // A separate process, so that its memory belongs to this test.
            await #expect(processExitsWith: .success) { try CacheTableTests.fill() }
        }

        private static func fill() throws {
            func ownMemory() throws -> Int {
                let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
                return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])) * 1024
            }
            var configuration = Store.Configuration()
            let limit = (isSoak ? 64 : 16) << 20
            configuration.objectCacheSize = limit
            configuration.cacheSize = 1 << 20
            let store = try Store.inMemory(models: Person.self, Badge.self, Card.self, configuration: configuration)
            defer { store.close() }
            let count = isSoak ? 200_000 : 50_000
            try store.write { tx in
                for number in 0..<count {
                    let shop = "Перекрёсток на улице №\(number)"
                    try tx.insert(
                        Card(shop: shop, barcode: "\(number)").identified(by: LocalID("card-\(1_000_000_000 + number)"))
                    )
                }
            }
            let cache = try #require(store.objectCache)
            // The statements and tables that the first reads create are not the cache's.
            func read(_ numbers: Range<Int>) throws {
                for number in numbers {
                    for _ in 0..<2 {
                        _ = try store.object(
                            ofType: Card.self, forPrimaryKey: LocalID("card-\(1_000_000_000 + number)"))
                    }
                }
            }
            try read(0..<1000)
            let (memory, size) = (try ownMemory(), cache.byteCount)
            try read(1000..<count)
            let (grown, estimated) = (try ownMemory() - memory, cache.byteCount - size)
            print("a cache of \(cache.count) objects: \(grown >> 10) KiB more, \(estimated >> 10) KiB estimated")
            #expect(cache.byteCount <= limit)
            #expect(cache.byteCount > limit * 3 / 4)
            #expect(grown < estimated * 5 / 4)
        }
    #endif
}
