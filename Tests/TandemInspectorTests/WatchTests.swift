import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// `watch` while the app writes.
@Suite(.ownThreads) struct WatchTests {
    /// A command on a thread of its own.
    private final class Running: Sendable {
        let console: TestConsole
        private let status = Mutex<CommandStatus?>(nil)

        init(_ arguments: [String], on console: TestConsole = TestConsole()) {
            self.console = console
            Thread { [self] in
                let result = console.run(arguments)
                status.withLock { $0 = result }
            }.start()
        }

        /// Waits for a condition. Returns `false` if the command ends without it.
        func wait(for condition: (TestConsole) -> Bool) -> Bool {
            expectBlockingAllowed()
            while true {
                let isOver = status.withLock { $0 } != nil
                if condition(console) { return true }
                if isOver { return false }
                usleep(500)
            }
        }

        /// Waits for the end of the command.
        func end() -> CommandStatus? {
            _ = wait { _ in false }
            return status.withLock { $0 }
        }
    }

    @Test(arguments: ReadingCommandTests.kinds)
    func `insertions, changes and deletions are printed as they happen`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        let running = Running(["watch", fixture.path, "Card", "--where", "points < 1000"] + (try fixture.key))
        #expect(running.wait { $0.errors == "Watching 2 objects of Card.\n" })
        #expect(running.console.output.isEmpty)
        let cards = try fixture.store.objects(Card.self).sorted(by: \.barcode).all()
        try fixture.store.write { _ = try $0.update(cards[0]) { $0.points = 7 } }
        #expect(running.wait { $0.lines.last == "~ card1  points: 20 → 7" })
        try fixture.store.write { _ = try $0.update(cards[1]) { $0.points = 5000 } }
        #expect(running.wait { $0.lines.last == "- card2" })
        try fixture.store.write { _ = try $0.insert(Card(shop: "Ашан", barcode: "9").identified(by: "new")) }
        #expect(running.wait { $0.lines.last?.hasPrefix("+ new  shop: Ашан, barcode: 9, points: 0") == true })
        #expect(running.console.interrupt())
        #expect(running.end() == .success)
        #expect(running.console.lines.count == 3)
    }

    @Test func `JSON has an object in each line, and the first objects on request`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let running = Running(["watch", fixture.path, "Badge", "--json", "--initial", "--commits", "1"])
        #expect(running.wait { $0.lines.count == 1 })
        try fixture.store.write { _ = try $0.insert(Badge(name: "new").identified(by: "n")) }
        #expect(running.end() == .success)
        let changes = try running.console.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(changes.map { $0["change"] as? String } == ["insertion", "insertion"])
        #expect(changes.map { ($0["object"] as? [String: Any])?["localID"] as? String } == ["gold", "n"])
    }

    @Test func `a closed output ends it`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let running = Running(["watch", fixture.path, "Badge"], on: TestConsole(closesAfter: 0))
        #expect(running.wait { !$0.errors.isEmpty })
        try fixture.store.write { _ = try $0.insert(Badge(name: "new")) }
        #expect(running.end() == .success)
    }

    @Test func `an unknown model is an error before the watch`() throws {
        let fixture = try InspectorFixture()
        #expect(try fixture.run("watch", ["Cart"]).status == .usage)
        #expect(try fixture.run("watch", ["Card", "--commits", "0"]).status == .usage)
    }
}
