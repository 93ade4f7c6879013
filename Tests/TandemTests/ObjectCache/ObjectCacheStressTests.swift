import Dispatch
import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Threads that read cached objects while others commit.
@Suite(.ownThreads) struct ObjectCacheStressTests {
    /// A number that only grows, with the newest value that is committed and the newest that is begun.
    private final class Counter: Sendable {
        let id: LocalID
        let begun = Atomic<Int>(0)
        let committed = Atomic<Int>(0)

        init(id: LocalID) { self.id = id }
    }

    private func number(_ badge: Badge?) -> Int { badge.flatMap { Int($0.name.split(separator: " ")[1]) } ?? -1 }

    @Test(arguments: StoreKind.allCases)
    func `each read is at least as new as the last ended commit, and blocks see one state`(kind: StoreKind) throws {
        try kind.withStore(Badge.self) { store in
            let counters = (0..<8).map { Counter(id: LocalID("b\($0)")) }
            // Two objects change in each commit, and have the same number.
            let pairs = (0..<4).map { (counters[2 * $0], counters[2 * $0 + 1]) }
            try store.write { tx in
                for (index, counter) in counters.enumerated() {
                    try tx.insert(Badge(name: "\(index) 0").identified(by: counter.id))
                }
            }
            let commits = isSoak ? 3000 : 300
            let isOver = Atomic<Bool>(false)
            let problems = Mutex<[String]>([])
            @Sendable func report(_ problem: String) { problems.withLock { if $0.count < 10 { $0.append(problem) } } }

            @Sendable func write() throws {
                var dice = Dice.seeded("cache stress \(kind)")
                for number in 1...commits {
                    let pair = dice.below(4)
                    let (first, second) = pairs[pair]
                    first.begun.store(number, ordering: .sequentiallyConsistent)
                    second.begun.store(number, ordering: .sequentiallyConsistent)
                    let isUndone = dice.chance(20)
                    do {
                        try store.write { tx in
                            try tx.update(Badge.self, localID: first.id) { $0.name = "\(2 * pair) \(number)" }
                            try tx.update(Badge.self, localID: second.id) { $0.name = "\(2 * pair + 1) \(number)" }
                            if isUndone { throw CancellationError() }
                        }
                        first.committed.store(number, ordering: .sequentiallyConsistent)
                        second.committed.store(number, ordering: .sequentiallyConsistent)
                    } catch is CancellationError {}
                }
            }
            @Sendable func readSingly(_ counter: Counter) throws {
                let oldest = counter.committed.load(ordering: .sequentiallyConsistent)
                let found = number(try store.object(ofType: Badge.self, forPrimaryKey: counter.id))
                let newest = counter.begun.load(ordering: .sequentiallyConsistent)
                if found < oldest || found > newest { report("\(counter.id): \(found), not \(oldest)...\(newest)") }
            }
            @Sendable func readTogether(_ pair: (Counter, Counter)) throws {
                let oldest = pair.0.committed.load(ordering: .sequentiallyConsistent)
                try store.read { tx in
                    for _ in 0..<3 {
                        let first = number(try tx.object(ofType: Badge.self, forPrimaryKey: pair.0.id))
                        let second = number(try tx.object(ofType: Badge.self, forPrimaryKey: pair.1.id))
                        if first != second { report("\(pair.0.id): \(first), beside \(second)") }
                        if first < oldest { report("\(pair.0.id): \(first), older than \(oldest)") }
                    }
                }
            }
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                do {
                    if thread == 0 {
                        defer { isOver.store(true, ordering: .releasing) }
                        return try write()
                    }
                    var dice = Dice(seed: UInt64(thread))
                    while !isOver.load(ordering: .acquiring) {
                        if dice.bool() {
                            try readSingly(counters[dice.below(8)])
                        } else {
                            try readTogether(pairs[dice.below(4)])
                        }
                    }
                } catch {
                    report("\(error)")
                }
            }
            #expect(problems.withLock { $0 } == [])
            #expect(try store.cacheProblems(Badge.self, counters.map(\.id)) == [])
        }
    }

    @Test(arguments: StoreKind.files)
    func `two stores that write the same file in turns never answer with an old object`(kind: StoreKind) throws {
        let folder = try TestFolder()
        let stores = try (0..<2).map { _ in try kind.open(at: folder.file(kind), [Badge.self]) }
        defer { for store in stores { store.close() } }
        try stores[0].write { tx in _ = try tx.insert(Badge(name: "b 0").identified(by: "b")) }
        let committed = Atomic<Int>(0)
        let problems = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            do {
                let store = stores[thread % 2]
                for _ in 0..<(isSoak ? 1000 : 150) {
                    if thread < 2 {
                        let new = try store.write { tx in
                            let old = number(try tx.object(ofType: Badge.self, forPrimaryKey: "b"))
                            try tx.update(Badge.self, localID: "b") { $0.name = "b \(old + 1)" }
                            return old + 1
                        }
                        _ = committed.max(new, ordering: .sequentiallyConsistent)
                    } else {
                        let oldest = committed.load(ordering: .sequentiallyConsistent)
                        let found = number(try store.object(ofType: Badge.self, forPrimaryKey: "b"))
                        if found < oldest { problems.withLock { $0.append("\(found), older than \(oldest)") } }
                    }
                }
            } catch {
                problems.withLock { $0.append("\(error)") }
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(number(try stores[0].object(ofType: Badge.self, forPrimaryKey: "b")) == (isSoak ? 2000 : 300))
    }

    @Test(arguments: StoreKind.allCases)
    func `store that closes while threads read its cache reports only that it is closed`(kind: StoreKind) throws {
        for _ in 0..<(isSoak ? 100 : 10) {
            let folder = try TestFolder()
            let store = try kind.open(at: folder.file(kind), [Badge.self])
            let badge = try store.write { tx in try tx.insert(Badge(name: "one")) }
            try store.cache(Badge.self, badge.localID)
            let codes = Mutex<Set<String>>([])
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                do {
                    if thread == 0 { return store.close() }
                    // A closed store ends the loop.
                    while true {
                        let found = try store.object(ofType: Badge.self, forPrimaryKey: badge.localID)
                        if found?.name != "one" { codes.withLock { _ = $0.insert("wrong object") } }
                    }
                } catch let error as TandemError {
                    codes.withLock { _ = $0.insert("\(error.code)") }
                } catch {
                    codes.withLock { _ = $0.insert("\(error)") }
                }
            }
            #expect(codes.withLock { $0 } == ["\(TandemError.Code.closed)"])
        }
    }
}
