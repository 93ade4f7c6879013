import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct AttemptedValuesTests {
    // MARK: Blob

    @Test func `values of every class are read back`() throws {
        var values = AttemptedValues()
        let all: [StorageValue] = [
            .null, .integer(.min), .real(-0.0), .text("a\u{0}b"), .blob([]), .text(String(repeating: "x", count: 64)),
            .text(String(repeating: "x", count: 65)), .blob([UInt8](repeating: 1, count: 1000)),
        ]
        for value in all { values.record(value, of: "c") }
        values.record(1, of: "d")
        let read = try values.bytes.withUnsafeBytes { try AttemptedValues(bytes: $0) }
        #expect(read == values)
        for value in all { #expect(read.contains(value, of: "c"), "\(value)") }
        #expect(!read.contains(0.0, of: "c") && !read.contains(.text(String(repeating: "x", count: 66)), of: "c"))
        #expect(!read.contains(.null, of: "d") && !read.contains(1, of: "e"))
        // A long text and a blob of the same bytes are distinct.
        #expect(!read.contains(.blob([UInt8](repeating: 120, count: 65)), of: "c"))
        #expect(values.bytes.count < 300)
    }

    @Test func `only the last values are recorded`() {
        var values = AttemptedValues()
        for number in 0..<20 { values.record(.integer(Int64(number)), of: "c") }
        // Sending a value again adds no entry.
        values.record(5, of: "c")
        #expect(values.columns[0].entries.count == AttemptedValues.limit && values.columns[0].current == .value(5))
        values.markMayHaveExecuted()
        #expect(values.columns[0].entries.count == AttemptedValues.limit && values.columns[0].current == nil)
        #expect(!values.contains(3, of: "c") && values.contains(5, of: "c") && values.contains(19, of: "c"))
    }

    @Test func `invalid bytes are refused`() {
        let good = {
            var values = AttemptedValues()
            values.record("text", of: "c")
            values.record(.text(String(repeating: "y", count: 100)), of: "c")
            return values.bytes
        }()
        for count in 0..<good.count {
            let cut = Array(good.prefix(count))
            #expect(throws: InvalidEncoding.self) { try cut.withUnsafeBytes { try AttemptedValues(bytes: $0) } }
        }
        for bytes in [good + [0], [2, 0], [1, 1, 1, 99, 1, 9], [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]] {
            #expect(throws: InvalidEncoding.self) { try bytes.withUnsafeBytes { try AttemptedValues(bytes: $0) } }
        }
    }

    // MARK: Queue

    private func attempted(_ store: Store) throws -> (AttemptedKinds, AttemptedValues) {
        let id = try #require(try store.operations.all().first).id
        return try store.write { (try #require(try $0.operation(id)).0.attemptedKinds, try $0.attemptedValues(id)) }
    }

    @Test(arguments: StoreKind.allCases)
    func `sent values are recorded until a response`(kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            try store.applyServerObject(Node("0", count: 7), serverID: "s", version: "1")
            let id = try store.write { tx in
                try tx.update(Node.self, localID: "s") { $0.name = "1" }
                return try #require(try tx.operations.all().first).id
            }
            #expect(try attempted(store).0 == [])
            for name in ["2", "3", "4"] {
                try store.write { tx in
                    let operation = try tx.beginAttempt(id)
                    #expect(
                        try tx.sync.markOutcomeUnknown(
                            id, attempt: operation.attempts, error: OperationError(message: "lost", at: .distantPast)))
                    try tx.update(Node.self, localID: "s") { $0.name = name }
                }
            }
            var (kinds, values) = try attempted(store)
            #expect(kinds == [.update])
            #expect(["1", "2", "3"].allSatisfy { values.contains(.text($0), of: "name") })
            #expect(!values.contains("4", of: "name") && !values.contains("0", of: "name"))
            #expect(values.columns.map(\.name) == ["name"])
            // A refusal concerns one attempt. The others may have arrived.
            try store.write { tx in
                let attempt = try tx.beginAttempt(id).attempts
                #expect(
                    try tx.sync.fail(
                        id, attempt: attempt, with: OperationError(message: "no", at: .distantPast), retry: true)
                )
                try tx.delete(Node.self, localID: "s")
                try tx.beginAttempt(id)
                try tx.undelete(Node.self, localID: "s")
            }
            (kinds, values) = try attempted(store)
            #expect(kinds == [.update, .delete] && values.contains("1", of: "name"))
            #expect(try store.checkIntegrity() == [])
            try store.write { try $0.acknowledge(id) }
            (kinds, values) = try attempted(store)
            #expect(kinds == [] && values.isEmpty)
            // The object is new on the server and not sent yet, so a delete leaves nothing.
            try store.write { try $0.delete(Node.self, localID: "s") }
            #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
        }
    }

    @Test func `an insert is recorded completely, with server IDs and the server's rounding`() throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            let server = try tx.insert(Node("target", localID: "t"))
            try tx.beginAttempt(1)
            try tx.acknowledge(1, serverID: "server-t")
            let unsent = try tx.insert(Node("unsent", localID: "u"))
            var node = Node("a", count: 5, localID: "a")
            node.next = server.reference
            node.friends = [unsent.reference, server.reference, Reference(localID: "unknown")]
            try tx.insert(node)
        }
        let id = try #require(try store.operations.all().last).id
        try store.write { tx in
            _ = try tx.sync.beginAttempt(id, leavingOut: []) { property, value in
                property.name == "count" ? 50 : value
            }
        }
        let values = try store.write { try $0.attemptedValues(id) }
        #expect(values.columns.count == Node.__definition.properties.filter { !$0.isLocalOnly }.count)
        #expect(values.contains(50, of: "count") && !values.contains(5, of: "count"))
        #expect(values.contains("server-t", of: "next"))
        #expect(values.contains(#"["u","server-t","unknown"]"#, of: "friends"))
        #expect(values.contains("[]", of: "owners") && values.contains(.null, of: "keeper"))
    }

    /// Offline attempts are frequent. Values that surely were not sent must not end conflicts with equal foreign
    /// values.
    @Test(arguments: StoreKind.allCases)
    func `values of a surely failed attempt are not recorded`(kind: StoreKind) throws {
        let no = OperationError(message: "not sent", at: .distantPast)
        try kind.withStore(Node.self) { store in
            try store.receiveNode("s", ["name": "0", "count": 0])
            try store.write { tx in
                try tx.update(Node.self, localID: "s") { $0.name = "1" }
                #expect(try tx.sync.fail(1, attempt: try tx.beginAttempt(1).attempts, with: no, retry: true))
                #expect(try tx.attemptedValues(1).isEmpty && tx.sync.outgoing(1)?.attemptedKinds == [])
                // An attempt without a response is recorded, whatever fails later: the same attempt or the next one.
                let lost = try tx.beginAttempt(1).attempts
                #expect(try tx.sync.markOutcomeUnknown(1, attempt: lost, error: no))
                #expect(try tx.sync.fail(1, attempt: lost, with: no, retry: true))
                try tx.update(Node.self, localID: "s") { ($0.name, $0.count) = ("2", 5) }
                #expect(try tx.sync.fail(1, attempt: try tx.beginAttempt(1).attempts, with: no, retry: true))
                #expect(try tx.sync.outgoing(1)?.attemptedKinds == .update)
                let values = try tx.attemptedValues(1)
                #expect(values.contains("1", of: "name") && !values.contains("2", of: "name"))
                #expect(!values.contains(5, of: "count") && values.columns.map(\.name) == ["name"])
                let theirs = ServerItem(serverID: "s", version: "2", values: ["name": "1", "count": 5])
                try tx.update(Node.self, localID: "s") { $0.count = 6 }
                // The name is ours, and the number is foreign.
                #expect(try tx.sync.sides(of: 1, against: theirs) { $1 }.changedThere == ["count"])
                // After a crash it is unknown which attempt failed.
                try tx.beginAttempt(1)
                try tx.fail(1, with: no, retry: true)
                #expect(try tx.attemptedValues(1).contains("2", of: "name"))
            }
            #expect(try store.checkIntegrity() == [])
        }
    }

    /// Deleting an object that no server knows leaves nothing, before and after the failure.
    @Test(arguments: [true, false])
    func `an insert that surely failed is removed with its object`(deletesFirst: Bool) throws {
        let store = try Store.ofNodes()
        try store.write { tx in
            let error = OperationError(message: "not sent", at: .distantPast)
            try tx.insert(Node("a", localID: "a"))
            let attempt = try tx.beginAttempt(1).attempts
            if deletesFirst { try tx.delete(Node.self, localID: "a") }
            #expect(try tx.sync.fail(1, attempt: attempt, with: error, retry: true))
            if !deletesFirst { try tx.delete(Node.self, localID: "a") }
        }
        #expect(try store.sql("SELECT count(*) FROM Node")[0][0] == 0)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    @Test func `a value that can't be sent leaves the operation unchanged`() throws {
        let store = try Store.ofNodes()
        try store.write { try $0.insert(Node("a", localID: "a")) }
        struct RequestEncodingError: Error {}
        #expect(throws: RequestEncodingError.self) {
            try store.write { _ = try $0.sync.beginAttempt(1, leavingOut: []) { _, _ in throw RequestEncodingError() } }
        }
        #expect(try store.queue() == ["insert a"] && store.operations.all()[0].attempts == 0)
    }

    @Test func `recorded values follow a migration`() throws {
        let folder = try TestFolder()
        let long = String(repeating: "long ", count: 30)
        func sent(_ store: Store) throws -> AttemptedValues { try store.write { try $0.attemptedValues(1) } }
        try folder.open(Flex.Card.version(.int("x"), .text("shop"))) { (store) throws in
            try store.write { tx in
                try tx.upsert(Flex.Card.self, values: ["x": 1, "shop": long])
                try tx.beginAttempt(1)
            }
            #expect(try sent(store).columns.map(\.name) == ["x", "shop"])
        }
        try folder.open(Flex.Card.version(PropertyDefinition("x", codec: Codec.of(BigInt.self)), .text("shop"))) {
            (store) throws in
            let values = try sent(store)
            #expect(values.contains(Migration.stored(BigInt(1)), of: "x") && values.contains(.text(long), of: "shop"))
        }
        try folder.open(Flex.Card.version(.text("shop"))) { (store) throws in
            #expect(try sent(store).columns.map(\.name) == ["shop"])
            #expect(try store.checkIntegrity() == [])
        }
    }

    /// Values that the new type can't express are forgotten. An update of a removed property is finished, sent or not.
    @Test func `a migration converts or forgets the recorded values`() throws {
        let folder = try TestFolder()
        let lost = OperationError(message: "lost", at: .distantPast)
        try folder.open(Flex.Card.version(.text("x"), .text("shop"))) { (store) throws in
            try store.write { tx in
                for id in ["a", "b"] {
                    try tx.upsert(Flex.Card.self, values: ["localID": id, "x": "1", "shop": "s"])
                    let operation = try #require(try tx.operations.all().last).id
                    try tx.beginAttempt(operation)
                    try tx.acknowledge(operation, serverID: ServerID(id), version: "1")
                }
                for value in ["no number", "2"] {
                    try tx.upsert(Flex.Card.self, values: ["localID": "a", "x": value, "shop": "s"])
                    let id = try #require(try tx.operations.all().last).id
                    #expect(try tx.sync.markOutcomeUnknown(id, attempt: try tx.beginAttempt(id).attempts, error: lost))
                }
                try tx.upsert(Flex.Card.self, values: ["localID": "b", "x": "1", "shop": "t"])
                let id = try #require(try tx.operations.all().last).id
                #expect(try tx.sync.markOutcomeUnknown(id, attempt: try tx.beginAttempt(id).attempts, error: lost))
            }
        }
        struct NoNumber: Error {}
        try folder.migrate(Flex.Card.version(.int("x"))) { configuration in
            configuration.schemaVersion = 1
            configuration.migrate(to: 1) { migration in
                try migration.convert("x", of: "Card") { value in
                    guard let number = value.string.flatMap(Int64.init) else { throw NoNumber() }
                    return .integer(number)
                }
            }
        } _: { (store) throws in
            let left = try store.operations.all()
            #expect(left.map(\.localID) == ["a"] && left.map(\.sent) == [["x": 1]])
            let values = try store.write { try $0.attemptedValues(left[0].id) }
            #expect(values.columns.map(\.entries) == [[.value(2)]])
            #expect(try store.sql("SELECT localID FROM Card WHERE synced = 1").map { $0[0] } == ["b"])
            #expect(try store.checkIntegrity() == [])
        }
    }
}
