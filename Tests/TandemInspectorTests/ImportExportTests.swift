import BigInt
import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// Export and import, from one store to another.
@Suite(.ownThreads) struct ImportExportTests {
    @Test(arguments: ReadingCommandTests.kinds)
    func `all values of an exported store are imported without loss`(kind: StoreKind) throws {
        let source = try InspectorFixture(kind)
        try source.fill()
        let (status, exported) = try source.run("export")
        #expect(status == .success && exported.output.hasPrefix("{\n\"Badge\": [\n"))
        let target = try InspectorFixture(kind)
        let file = try target.file("all.json", exported.output)
        let (imported, console) = try target.run("import", [file, "--write"])
        #expect(imported == .success, "\(console.errors)")
        #expect(console.output == "Badge: 1 objects imported\nCard: 3 objects imported\nPerson: 2 objects imported\n")
        let (_, again) = try target.run("export")
        #expect(again.output == exported.output)
        #expect(try target.store.operations.count(.insert) == 6)
        #expect(try target.store.checkIntegrity() == [])
    }

    @Test(arguments: ReadingCommandTests.kinds)
    func `exported CSV is imported`(kind: StoreKind) throws {
        let source = try InspectorFixture(kind)
        try source.fill()
        let columns = "localID,shop,barcode,points,visits,discount,isPinned,addedAt,note,owner,badges"
        let (status, exported) = try source.run(
            "export", ["Card", "--csv", "--columns", columns, "--sort", "barcode"])
        #expect(status == .success)
        #expect(
            exported.output == """
                \(columns)
                card1,Лента,1,20,0,0.5,false,2001-01-01T00:00:00.500Z,,ada,"[""gold""]"
                card2,東京ストア,2,5,0,,false,,"a, ""b""
                c",bob,[]
                card3,Магнит,3,1000000000000000000000000000000,0,,false,,"",ada,[]

                """)
        let target = try InspectorFixture(kind)
        try target.store.write { tx in
            for name in ["ada", "bob"] { try tx.insert(Person(name: name).identified(by: LocalID(name))) }
            try tx.insert(Badge(name: "gold").identified(by: "gold"))
        }
        let file = try target.file("cards.csv", exported.output)
        let (imported, console) = try target.run("import", [file, "Card", "--csv", "--write"])
        #expect(imported == .success, "\(console.errors)")
        let (_, again) = try target.run("export", ["Card", "--csv", "--columns", columns, "--sort", "barcode"])
        #expect(again.output == exported.output)
    }

    @Test func `an import changes named properties only, and reads the input`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let input = TestConsole(input: #"[{"localID":"card1","points":21},{"localID":"card2","note":null}]"#)
        #expect(try fixture.run("import", ["-", "Card", "--write"], on: input).status == .success)
        let cards = try fixture.store.objects(Card.self).sorted(by: \.barcode).all()
        #expect(cards.map(\.points) == [21, 5, BigInt(10).power(30)])
        #expect(cards[0].shop == "Лента" && cards[1].note == nil)
    }

    @Test(
        arguments: [
            (#"[{"localID":"card1","points":1},{"localID":"card2","points":"x"}]"#, "Card", "Card.points"),
            (#"[{"localID":"card1","pionts":1}]"#, "Card", "pionts"),
            (#"[{"localID":"card1","#, "Card", "JSON"),
            (#"[{"localID":"card1","points":1}]"#, nil, "Give the name of the model"),
            (#"{"Cart":[]}"#, nil, "Badge, Card, Person"),
            (#"[{"name":"gold"}]"#, "Badge", "Badge.name"),
        ])
    func `an import with an error changes nothing`(json: String, model: String?, text: String) throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let before = try fixture.run("export").console.output
        let file = try fixture.file("in.json", json)
        let (status, console) = try fixture.run("import", [file] + (model.map { [$0] } ?? []) + ["--write"])
        #expect(status != .success && console.errors.contains(text), "\(console.errors)")
        #expect(try fixture.run("export").console.output == before)
    }

    @Test(
        arguments: [
            ("localID,points\ncard1,many\n", "Card.points"), ("localID,points\ncard1\n", "1 fields instead of 2"),
            ("localID,photo\ncard1,x\n", "describes files"), ("", "The file is empty."),
            ("localID,isPinned\ncard1,yes\n", "Card.isPinned"), ("localID,visits\ncard1,1.5\n", "Card.visits"),
        ])
    func `an error in CSV is reported`(csv: String, text: String) throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let file = try fixture.file("in.csv", csv)
        let (status, console) = try fixture.run("import", [file, "Card", "--csv", "--write"])
        #expect(status == .data || status == .usage)
        #expect(console.errors.contains(text), "\(console.errors)")
    }

    @Test func `a column of CSV can have the name on the wire`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let input = TestConsole(input: "localID,badgeList\ncard2,\"[\"\"gold\"\"]\"\n")
        #expect(try fixture.run("import", ["-", "Card", "--csv", "--write"], on: input).status == .success)
        let card = try #require(try fixture.store.object(named: "Card", localID: "card2"))
        #expect(card["badges"] == .references(["gold"]))
    }

    @Test func `unknown names are ignored on request`() throws {
        let fixture = try InspectorFixture()
        let input = TestConsole(input: "name,colour\nsilver,red\n")
        let arguments = ["-", "Badge", "--csv", "--write", "--ignore-unknown"]
        #expect(try fixture.run("import", arguments, on: input).status == .success)
        #expect(try fixture.store.objects(Badge.self).first()?.name == "silver")
    }

    @Test func `an export ends silently when its reader ends`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let console = TestConsole(closesAfter: 0)
        #expect(try fixture.run("export", on: console).status == .success && console.errors.isEmpty)
    }

    @Test(arguments: [["--csv"], ["--json", "--csv", "Card"], ["--where", "true"], ["Card", "--columns", "shop"]])
    func `options that do not fit are rejected`(arguments: [String]) throws {
        let fixture = try InspectorFixture()
        #expect(try fixture.run("export", arguments).status == .usage)
    }
}
