import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// The commands that read a store, on stores of each kind.
@Suite(.ownThreads) struct ReadingCommandTests {
    static let kinds: [StoreKind] = [.file, .encrypted, .sqlCipher]

    private func json(_ console: TestConsole) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(console.output.utf8), options: .fragmentsAllowed)
    }

    @Test(arguments: kinds)
    func `info counts the objects and the operations`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        try fixture.failUpdate()
        let (status, console) = try fixture.run("info")
        #expect(status == .success && console.errors.isEmpty)
        #expect(console.output.contains(kind == .file ? "bytes, not encrypted" : "bytes, encrypted"))
        #expect(console.output.contains("Queue: 6 pending, 0 attempted, 1 failed, 0 held"))
        #expect(console.lines.contains { $0.split(separator: " ") == ["Card", "4", "0", "4", "4"] })
        let (_, asJSON) = try fixture.run("info", ["--json"])
        let info = try #require(try json(asJSON) as? [String: Any])
        let models = try #require(info["models"] as? [[String: Any]])
        #expect(models.map { $0["name"] as? String } == ["Badge", "Card", "Person"])
        #expect(models.map { $0["objects"] as? Int } == [1, 4, 2])
        #expect((info["operations"] as? [String: Int])?["failed"] == 1)
        #expect(info["isEncrypted"] as? Bool == (kind != .file))
    }

    @Test func `schema shows types, attributes and links`() throws {
        let fixture = try InspectorFixture()
        let (status, console) = try fixture.run("schema")
        #expect(status == .success)
        let rows = console.lines.map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        for row in [
            "shop String searched", "barcode String indexed", "points BigInt", "discount Double?",
            "isPinned Bool local only", "owner Reference<Person>? on delete: nullify", "name String unique",
            "Index: isPinned, shop", "Referred to by: Card.owner", "photo Attachment?",
        ] {
            #expect(rows.contains(row), "\(row)")
        }
        let (_, asJSON) = try fixture.run("schema", ["Badge", "--json"])
        let models = try #require(try json(asJSON) as? [[String: Any]])
        let properties = try #require(models.first?["properties"] as? [[String: Any]])
        #expect(models.count == 1 && properties.first?["isUnique"] as? Bool == true)
        #expect(models.first?["linkedBy"] as? [String] == ["Card.badges"])
    }

    @Test(arguments: kinds)
    func `query selects, sorts and limits by names`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        let (status, console) = try fixture.run(
            "query",
            [
                "Card", "--where", "points > 5", "--where", "owner.name == 'Ада'", "--sort", "points desc",
                "--columns", "localID, shop,points",
            ])
        #expect(status == .success)
        #expect(
            console.output == """
                localID  shop                             points
                ───────  ──────  ───────────────────────────────
                card3    Магнит  1000000000000000000000000000000
                card1    Лента                                20

                """)
        let (_, limited) = try fixture.run("query", ["Card", "--limit", "1", "--offset", "1", "--sort", "-barcode"])
        #expect(limited.lines.count == 3 && limited.lines[2].hasPrefix("card2"))
        #expect(limited.errors == "1 of 3 objects. --limit and --offset show others.\n")
        let (_, counted) = try fixture.run(
            "query", ["Card", "--count", "--where", "shop matches 'стор' or note is nil"])
        #expect(counted.output == "1\n")
        let (_, explained) = try fixture.run("query", ["Card", "--explain"])
        #expect(explained.output.contains("SELECT"))
    }

    @Test func `query prints lossless JSON`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let (_, console) = try fixture.run("query", ["Card", "--json", "--sort", "barcode"])
        let objects = try fixture.store.objects(named: "Card").sorted(by: "barcode").all()
        #expect(console.output == "[\n" + objects.map(\.json).joined(separator: ",\n") + "\n]\n")
        #expect((try json(console) as? [[String: Any]])?.count == 3)
        let (_, none) = try fixture.run("query", ["Card", "--json", "--where", "false"])
        #expect(none.output == "[]\n")
    }

    @Test func `a table shows nil, empty texts and line breaks apart, and its state on request`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let (_, console) = try fixture.run("query", ["Card", "--columns", "barcode,note", "--sort", "barcode"])
        #expect(console.lines[2...].map { $0 } == ["1", "2        a, \"b\"\u{FFFD}c", "3        \"\""])
        let (_, state) = try fixture.run("query", ["Badge", "--state"])
        for title in ["localID", "serverID", "isSynced", "isDeleted", "version", "createdAt", "updatedAt", "name"] {
            #expect(state.lines[0].contains(title))
        }
    }

    @Test(
        arguments: [
            (["Cart"], "Its models are: Badge, Card, Person."),
            (["Card", "--where", "shpo == 'x'"], "shop"),
            (["Card", "--where", "points >"], "        ^"),
            (["Card", "--sort", "shop sideways"], "desc"),
            (["Card", "--columns", "shpo"], "Its columns are: shop, barcode"),
            (["Card", "--limit", "-1"], "limit"),
            (["Card", "--json", "--count"], "Only one of"),
            ([], "<model>"),
        ])
    func `an error in a query is a usage error that says what is possible`(arguments: [String], text: String) throws {
        let fixture = try InspectorFixture()
        let (status, console) = try fixture.run("query", arguments)
        #expect(status == .usage && console.output.isEmpty)
        #expect(console.errors.contains(text), "\(console.errors)")
    }

    @Test(arguments: kinds)
    func `get shows an object, its links, its files and its operation`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        let photo = try fixture.store.attachments.add(Data("picture".utf8), name: "me.jpg")
        try fixture.store.write { tx in
            guard let card = try tx.object(ofType: Card.self, forPrimaryKey: "card1") else { return }
            _ = try tx.update(card) { $0.photo = photo }
        }
        let (status, console) = try fixture.run("get", ["Card", "card1"])
        #expect(status == .success)
        for text in ["Лента", "isSynced", "me.jpg", "on this device, not uploaded", "insert of Card card1, pending"] {
            #expect(console.output.contains(text), "\(text)")
        }
        let (_, person) = try fixture.run("get", ["Person", "ada", "--json"])
        let details = try #require(try json(person) as? [String: Any])
        let links = try #require(details["linkedBy"] as? [[String: Any]])
        #expect(links.first?["reference"] as? String == "Card.owner" && links.first?["count"] as? Int == 2)
        #expect(Set(links.first?["localIDs"] as? [String] ?? []) == ["card1", "card3"])
        #expect((details["operation"] as? [String: Any])?["kind"] as? String == "insert")
    }

    @Test func `get finds a server ID and a deleted object, and reports a missing one`() throws {
        let fixture = try InspectorFixture()
        let card = try fixture.store.applyServerObject(
            Card(shop: "Ашан", barcode: "9").identified(by: "here"), serverID: "there")
        try fixture.store.write { _ = try $0.delete(card) }
        let (status, console) = try fixture.run("get", ["Card", "there", "--json"])
        let details = try #require(try json(console) as? [String: Any])
        #expect(status == .success && details["isDeleted"] as? Bool == true)
        #expect((details["operation"] as? [String: Any])?["kind"] as? String == "delete")
        let (missing, report) = try fixture.run("get", ["Card", "nowhere"])
        #expect(missing == .negative && report.errors == "tandem: Card has no object with the ID nowhere.\n")
    }

    @Test(arguments: kinds)
    func `queue and errors show the operations with their values side by side`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        try fixture.failUpdate()
        let (_, queue) = try fixture.run("queue", ["Card"])
        #expect(queue.lines.count == 6 && queue.lines[5].contains("points"))
        #expect(queue.lines[5].contains("The card has changed."))
        let (_, failed) = try fixture.run("queue", ["--state", "failed", "--json"])
        let operations = try #require(try json(failed) as? [[String: Any]])
        #expect(operations.count == 1 && operations[0]["localID"] as? String == "s")
        let (status, errors) = try fixture.run("errors")
        #expect(status == .success)
        #expect(errors.lines[0].contains("update of Card s, failed"))
        #expect(errors.lines[1] == "Error: The card has changed. (status 409, 2001-01-01T00:00:00Z)")
        #expect(errors.lines.last?.split(separator: " ").map(String.init) == ["points", "1", "2", "3"])
        let (_, asJSON) = try fixture.run("errors", ["Card", "--json"])
        let values = try #require((try json(asJSON) as? [[String: Any]])?.first?["values"] as? [[String: String]])
        #expect(values == [["property": "points", "before": "1", "here": "2", "server": "3"]])
        let (_, none) = try fixture.run("errors", ["Badge"])
        #expect(none.output == "No operation has an error.\n")
    }

    @Test func `nothing is changed without --write`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let target = try fixture.file("in.json", "[]")
        for arguments in [
            ["import", fixture.path, target, "Card"], ["compact", fixture.path], ["encrypt", fixture.path],
            ["rekey", fixture.path],
        ] {
            let console = TestConsole(environment: ["TANDEM_NEW_KEY": "x"])
            #expect(console.run(arguments) == .usage)
            #expect(console.errors.contains("\(arguments[0]) changes the store.\nGive --write to allow it."))
        }
        #expect(KeyOptions.isPlain(fixture.path))
    }
}
