import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// Checks, copies, keys, and damaged files.
@Suite(.ownThreads) struct MaintenanceCommandTests {
    @Test(arguments: ReadingCommandTests.kinds)
    func `check finds no problem in a store of an app`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        let (status, console) = try fixture.run("check")
        #expect(status == .success && console.output == "No problems.\n")
        #expect(try fixture.run("check", ["--write", "--files"]).status == .success)
        let (_, json) = try fixture.run("check", ["--json"])
        #expect(json.output == #"{"problems":[],"isDamaged":false,"readable":[]}"# + "\n")
    }

    @Test func `check reads the files of attachments on request`() throws {
        let fixture = try InspectorFixture()
        let photo = try fixture.store.attachments.add(Data("picture".utf8), name: "me.jpg")
        try fixture.store.write { tx in
            var card = Card(shop: "Лента", barcode: "1")
            card.photo = photo
            try tx.insert(card.identified(by: "c"))
        }
        #expect(try fixture.run("check", ["--files"]).status == .success)
        let url = try #require(try fixture.store.attachments.diskURL(of: photo))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        try Data("Picture".utf8).write(to: url)
        #expect(try fixture.run("check").status == .success)
        let (status, console) = try fixture.run("check", ["--files"])
        #expect(status == .negative && console.output.contains("Card.photo of c: "))
    }

    @Test(arguments: ReadingCommandTests.kinds)
    func `a damaged table is reported, and the other models are readable`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        try fixture.damageCards()
        let (status, console) = try fixture.run("check")
        #expect(status == .data && console.errors.contains("Restore a backup"))
        let rows = console.lines.map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains(["Person", "2", "all", "were", "read"]))
        let card = try #require(rows.first { $0.first == "Card" })
        #expect(card.count > 2 && card[2] != "all" && Int(card[1]).map { $0 < 1003 } == true)
        #expect(try fixture.run("query", ["Person"]).status == .success)
        // Its counts of cards can come from an index that is intact.
        let (_, summary) = try fixture.run("info")
        #expect(summary.lines.contains { $0.hasPrefix("Person ") && $0.contains(" 2 ") })
        let (export, exported) = try fixture.run("export", ["Card"])
        #expect(export == .data && exported.errors.contains("tandem check"))
    }

    @Test func `a file that is not a store, is missing or is damaged at its head is reported`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        fixture.store.close()
        let missing = TestConsole()
        #expect(missing.run("info", fixture.path + "-none") == .noInput)
        #expect(missing.errors.contains("does not exist") && missing.errors.contains("Check the path."))
        let text = try fixture.file("a.txt", "A text that is longer than the head of a database.")
        let other = TestConsole(environment: ["TANDEM_KEY": "x"])
        #expect([CommandStatus.data, .key].contains(other.run("info", text)))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        // The page of the schema, after the head of the file.
        bytes.replaceSubrange(100..<4096, with: repeatElement(0xFF, count: 3996))
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        for command in ["info", "check"] {
            let console = TestConsole()
            #expect(console.run(command, fixture.path) == .data)
            #expect(console.errors.contains("Restore a backup"), "\(console.errors)")
        }
    }

    @Test(arguments: ReadingCommandTests.kinds)
    func `a backup is a store with the same content and key`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        let copy = fixture.folder.path(of: "copy.tandem")
        #expect(try fixture.run("backup", [copy]).status == .success)
        let console = TestConsole()
        #expect(console.run(["export", copy] + (try fixture.key)) == .success)
        #expect(console.output == (try fixture.run("export").console.output))
        let other = try fixture.file("other.txt", "not a store, and not empty")
        #expect(try fixture.run("backup", [other]).status != .success)
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "not a store, and not empty")
    }

    @Test(arguments: ReadingCommandTests.kinds)
    func `compact makes the file smaller`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.store.write { tx in
            for number in 0..<500 {
                try tx.insert(Card(shop: String(repeating: "x", count: 500), barcode: "\(number)"))
            }
        }
        try fixture.store.write { _ = try $0.deleteAll(Card.self) }
        fixture.store.close()
        let before = StoreSummary.size(of: fixture.path)
        #expect(try fixture.run("compact", ["--write"]).status == .success)
        #expect(StoreSummary.size(of: fixture.path) < before)
        #expect(try fixture.run("check").status == .success)
    }

    @Test func `a store is encrypted, gets another key and format, and is decrypted`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let plain = try fixture.run("export").console.output
        fixture.store.close()
        let path = fixture.path
        func run(_ arguments: [String], _ environment: [String: String], secrets: [String] = []) -> TestConsole {
            let console = TestConsole(environment: environment, secrets: secrets)
            let status = console.run(arguments)
            #expect(status == .success, "\(arguments) \(console.errors)")
            return console
        }
        let raw = try fixture.file("raw", InspectorFixture.rawKey)
        _ = run(["encrypt", path, "--write", "--new-key-file", raw, "--new-raw-key"], [:])
        #expect(!KeyOptions.isPlain(path))
        let keyed = ["--key-file", raw, "--raw-key"]
        #expect(run(["export", path] + keyed, [:]).output == plain)
        // It is encrypted already.
        let twice = TestConsole(environment: ["TANDEM_NEW_KEY": "x"])
        #expect(twice.run("encrypt", path, "--write") == .key && twice.errors.contains("tandem rekey"))
        let asked = run(["rekey", path, "--write", "--new-profile", "sqlcipher4"] + keyed, [:], secrets: ["n", "n"])
        #expect(asked.prompts == ["New key: ", "New key again: "])
        let environment = ["TANDEM_KEY": "n"]
        #expect(run(["export", path, "--profile", "sqlcipher4"], environment).output == plain)
        let copy = fixture.folder.path(of: "plain.tandem")
        _ = run(["decrypt", path, copy], environment)
        #expect(KeyOptions.isPlain(copy))
        #expect(run(["export", copy], [:]).output == plain)
    }

    @Test func `a new key that is typed differently twice changes nothing`() throws {
        let fixture = try InspectorFixture()
        fixture.store.close()
        let console = TestConsole(secrets: ["a", "b"])
        #expect(console.run("encrypt", fixture.path, "--write") == .key)
        #expect(console.errors.contains("The two keys differ."))
        #expect(KeyOptions.isPlain(fixture.path))
    }

    @Test func `an open store is busy for a change of its encryption`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let console = TestConsole(environment: ["TANDEM_NEW_KEY": "x"])
        #expect(console.run("encrypt", fixture.path, "--write") == .busy)
        #expect(KeyOptions.isPlain(fixture.path))
    }

    @Test(arguments: [StoreKind.encrypted, .sqlCipher])
    func `salvage copies what is readable, and says what is lost`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        try fixture.fill()
        let whole = fixture.folder.path(of: "whole.tandem")
        let (complete, all) = try fixture.run("salvage", [whole])
        #expect(complete == .success && all.output.contains("Everything was copied."))
        try fixture.damageCards()
        let target = fixture.folder.path(of: "salvaged.tandem")
        let (status, console) = try fixture.run("salvage", [target])
        #expect(status == .negative && console.output.contains("The copy is not complete."))
        #expect(!console.output.contains("Damaged pages: 0"))
        // It is readable at once, and its app opens it.
        let inspected = TestConsole()
        #expect(inspected.run(["query", target, "Person", "--count"] + (try fixture.key)) == .success)
        #expect(inspected.output == "2\n")
        let store = try kind.open(at: target, InspectorFixture.models)
        defer { store.close() }
        #expect(try store.objects(Person.self).count() == 2)
        #expect(try store.objects(Card.self).count() > 100)
        let (_, existing) = try fixture.run("salvage", [target])
        #expect(!existing.errors.isEmpty)
    }

    @Test func `salvage of a plain store says what else is possible`() throws {
        let fixture = try InspectorFixture()
        let (status, console) = try fixture.run("salvage", [fixture.folder.path(of: "x")])
        #expect(status == .usage && console.errors.contains("tandem export"))
    }

    @Test func `the help lists the commands and the exit statuses`() {
        let console = TestConsole()
        #expect(console.run("--help") == .success && console.errors.isEmpty)
        for name in [
            "info", "schema", "query", "get", "queue", "errors", "watch", "export", "import", "check", "compact",
            "backup", "encrypt", "decrypt", "rekey", "salvage",
        ] {
            #expect(console.output.contains("  \(name) "), "\(name)")
            #expect(TestConsole().run("help", name) == .success)
        }
        for status in CommandStatus.allCases { #expect(console.output.contains("\(status.rawValue)  ")) }
        let unknown = TestConsole()
        #expect(unknown.run("inof") == .usage && unknown.errors.contains("inof"))
        #expect(TestConsole().run([]) == .success)
    }
}
