import BigInt
import Foundation
import HTTPTypes
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemBrowser

@Suite(.ownThreads, .timeLimit(.minutes(2))) struct BrowserEditTests {
    private func browse(_ body: @Sendable (TestBrowser, BrowserFixture) async throws -> Void) async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try await fixture.browse(isWritable: true) { browser in
            try await browser.open()
            try await body(browser, fixture)
        }
    }

    private static func update(_ id: String, _ name: String, _ text: Any, was: Any) -> [String: Any] {
        ["model": "Ticket", "id": id, "values": [name: ["text": text, "was": was]]]
    }

    private func ticket(_ id: LocalID, in fixture: BrowserFixture) throws -> Ticket? {
        try fixture.store.objects(Ticket.self).where { $0.localID == id }.first()
    }

    @Test func `an update is queued for the server, and can be undone`() async throws {
        let fixture = try BrowserFixture()
        let tag = try fixture.store.applyServerObject(Tag(name: "red").identified(by: "s"))
        try await fixture.browse(isWritable: true) { browser in
            try await browser.open()
            let values = ["name": ["text": "blue", "was": "red"]]
            let edit = try await browser.edit(
                "update", ["model": "Tag", "id": tag.localID.rawValue, "values": values])
            #expect(try fixture.tag()?.name == "blue")
            #expect(try fixture.store.operations.all().map(\.changedProperties) == [["name"]])
            try await browser.undo(edit)
            #expect(try fixture.tag()?.name == "red")
            let again = try await browser.send(.post, "/undo/\(try #require(edit["undo"].text))")
            #expect(again.status == .gone)
        }
    }

    @Test func `texts become values of each kind, and nil`() async throws {
        try await browse { browser, fixture in
            let due = "2026-11-26T01:02:03.000Z"
            let changes: [(String, Any, Any)] = [
                ("points", "1" + String(repeating: "0", count: 32), "20"), ("seats", "-7", "1"),
                ("price", NSNull(), "12.5"),
                ("isOpen", "false", "true"), ("note", "", NSNull()), ("due", due, NSNull()),
                ("bytes", "AQID", NSNull()), ("guest", "bob", "ada"), ("tags", "", "red"), ("title", " a\nb ", "Opera"),
            ]
            for (name, text, was) in changes {
                _ = try await browser.edit("update", Self.update("t1", name, text, was: was))
            }
            let ticket = try #require(try ticket("t1", in: fixture))
            #expect(ticket.points == BigInt(10).power(32) && ticket.seats == -7 && ticket.price == nil)
            #expect(!ticket.isOpen && ticket.note?.isEmpty == true && ticket.bytes == Data([1, 2, 3]))
            #expect(ticket.guest?.localID == "bob" && ticket.tags.isEmpty && ticket.title == " a\nb ")
            #expect(ticket.due.map { DynamicValue.date($0).description } == due)
        }
    }

    @Test func `a value that is not valid is shown at its field, and nothing changes`() async throws {
        try await browse { browser, fixture in
            let changes: [(String, Any, Any)] = [
                ("points", "many", "20"), ("seats", "300", "1"), ("price", "1,5", "12.5"), ("isOpen", "yes", "true"),
                ("due", "tomorrow", NSNull()), ("bytes", "?", NSNull()), ("title", NSNull(), "Opera"),
                ("guest", "none", "ada"), ("tags", "red\nnone", "red"),
            ]
            for (name, text, was) in changes {
                let response = try await browser.edit(
                    "update", Self.update("t1", name, text, was: was), expecting: .badRequest)
                #expect(response["fields"][name].text?.isEmpty == false, "\(name)")
            }
            let file = try await browser.edit(
                "update", Self.update("t1", "file", "x", was: NSNull()), expecting: .badRequest)
            #expect(file["fields"]["file"].text?.contains("can't be edited") == true)
            _ = try await browser.edit(
                "update", Self.update("t1", "nothing", "x", was: NSNull()), expecting: .badRequest)
            _ = try await browser.edit("update", Self.update("none", "title", "x", was: "y"), expecting: .notFound)
            let unique = try await browser.edit(
                "update", Self.update("t1", "code", "B2", was: "A1"), expecting: .conflict)
            #expect(unique["fields"]["code"].text?.isEmpty == false)
            #expect(try ticket("t1", in: fixture)?.seats == 1)
        }
    }

    @Test func `an edit and an undo do not overwrite a value that another process has changed`() async throws {
        try await browse { browser, fixture in
            try await fixture.store.write { tx in
                _ = try tx.update("Ticket", localID: "t1", values: ["title": "Concert"])
            }
            let late = try await browser.edit(
                "update", Self.update("t1", "title", "Play", was: "Opera"), expecting: .conflict)
            #expect(late["fields"]["title"].text?.contains("Concert") == true)
            let edit = try await browser.edit("update", Self.update("t1", "title", "Play", was: "Concert"))
            try await fixture.store.write { tx in
                _ = try tx.update("Ticket", localID: "t1", values: ["title": "Mime"])
            }
            try await browser.undo(edit, expecting: .conflict)
            #expect(try ticket("t1", in: fixture)?.title == "Mime")
            // Another property does not matter.
            let other = try await browser.edit("update", Self.update("t1", "seats", "2", was: "1"))
            try await fixture.store.write { tx in
                _ = try tx.update("Ticket", localID: "t1", values: ["title": "Dance"])
            }
            try await browser.undo(other)
            let ticket = try ticket("t1", in: fixture)
            #expect(ticket?.seats == 1 && ticket?.title == "Dance")
        }
    }

    @Test func `an insert and its undo leave the store as it was`() async throws {
        try await browse { browser, fixture in
            let before = try fixture.store.operations.count()
            let values: [String: [String: Any]] = ["name": ["text": "new", "was": NSNull()]]
            let edit = try await browser.edit("insert", ["model": "Tag", "values": values])
            #expect(try fixture.count(Tag.self) == 2)
            #expect(try fixture.store.operations.count() == before + 1)
            try await browser.undo(edit)
            #expect(try fixture.count(Tag.self) == 1)
            #expect(try fixture.store.operations.count() == before)
            let missing = try await browser.edit("insert", ["model": "Tag"], expecting: .badRequest)
            #expect(missing["fields"]["name"].text?.isEmpty == false)
        }
    }

    @Test func `the undo of an insert does not delete or change objects that refer to it since`() async throws {
        try await browse { browser, fixture in
            let texts = ["title": "Play", "code": "D4", "points": "0", "seats": "1", "isOpen": "true"]
            let values: [String: [String: Any]] = texts.mapValues { ["text": $0, "was": NSNull()] }
            let edit = try await browser.edit("insert", ["model": "Ticket", "values": values])
            let id = LocalID(try #require(edit["id"].text))
            try await fixture.store.write { tx in
                try tx.insert(Stub(number: 1, ticket: Reference(localID: id)).identified(by: "s1"))
            }
            let response = try await browser.undo(edit, expecting: .conflict)
            #expect(response["message"].text?.contains("Stub.ticket") == true)
            #expect(try fixture.count(Stub.self) == 1)
            #expect(try ticket(id, in: fixture) != nil)
            try await fixture.store.write { tx in _ = try tx.delete("Stub", localID: "s1") }
            try await browser.undo(edit)
            #expect(try ticket(id, in: fixture) == nil)
        }
    }

    @Test func `the undo of a delete restores the object, its dependents and the references to it`() async throws {
        try await browse { browser, fixture in
            try await fixture.store.write { tx in
                let ticket = Reference<Ticket>(localID: "t1")
                try tx.insert(Stub(number: 1, ticket: ticket).identified(by: "s1"))
                try tx.insert(Stub(number: 2, ticket: ticket).identified(by: "s2"))
            }
            let before = try BrowserEditTests.contents(of: fixture.store)
            for (model, id) in [("Ticket", "t1"), ("Guest", "ada"), ("Tag", "red")] {
                let edit = try await browser.edit("delete", ["model": model, "id": id])
                #expect(try BrowserEditTests.contents(of: fixture.store) != before)
                try await browser.undo(edit)
                #expect(try BrowserEditTests.contents(of: fixture.store) == before, "\(model)")
            }
        }
    }

    @Test func `the undo of a delete does not overwrite a list that was changed since`() async throws {
        try await browse { browser, fixture in
            try await fixture.store.write { tx in
                try tx.insert(Tag(name: "blue").identified(by: "blue"))
                _ = try tx.update("Ticket", localID: "t1", values: ["tags": .references(["red", "blue"])])
            }
            let edit = try await browser.edit("delete", ["model": "Tag", "id": "red"])
            try await fixture.store.write { tx in
                _ = try tx.update("Ticket", localID: "t1", values: ["tags": .references([])])
            }
            try await browser.undo(edit)
            #expect(try fixture.count(Tag.self) == 2)
            #expect(try ticket("t1", in: fixture)?.tags.isEmpty == true)
        }
    }

    @Test func `the undo of a delete restores an object that the server knows, and its operation`() async throws {
        let fixture = try BrowserFixture()
        let tag = try fixture.store.applyServerObject(Tag(name: "red").identified(by: "s"))
        try await fixture.browse(isWritable: true) { browser in
            try await browser.open()
            let target: [String: Any] = ["model": "Tag", "id": tag.localID.rawValue]
            let edit = try await browser.edit("delete", target)
            #expect(try fixture.store.operations.all().map(\.kind) == [.delete])
            let only = try await browser.data("rows", ["model": "Tag", "deleted": "only", "to": "9"])
            #expect(only["count"].number == 1)
            try await browser.undo(edit)
            #expect(try fixture.tag()?.isSynced == true)
            _ = try await browser.edit("delete", target)
            let restored = try await browser.edit("restore", target)
            #expect(try fixture.count(Tag.self) == 1)
            try await browser.undo(restored)
            #expect(try fixture.count(Tag.self) == 0)
        }
    }

    @Test func `the undo of a delete restores the file of an object that was never sent`() async throws {
        try await browse { browser, fixture in
            let file = try fixture.store.attachments.add(Data("photo".utf8), name: "a.png", contentType: "image/png")
            try await fixture.store.write { tx in
                _ = try tx.update("Ticket", localID: "t1", values: ["file": .attachment(file)])
            }
            let edit = try await browser.edit("delete", ["model": "Ticket", "id": "t1"])
            try await browser.undo(edit)
            let restored = try #require(try ticket("t1", in: fixture)?.file)
            #expect(restored.name == "a.png" && restored.contentType == "image/png")
            #expect(try fixture.store.attachments.data(of: restored) == Data("photo".utf8))
        }
    }

    @Test func `a delete with more dependents than can be kept offers no undo`() async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try await fixture.store.write { tx in
            for number in 0..<20 { try tx.insert(Stub(number: number, ticket: Reference(localID: "t1"))) }
        }
        var limits = BrowserLimits()
        limits.undoneObjects = 10
        try await fixture.browse(isWritable: true, limits: limits) { browser in
            try await browser.open()
            let edit = try await browser.edit("delete", ["model": "Ticket", "id": "t1"])
            #expect(edit["undo"].isNull && edit["id"].text == "t1")
            #expect(try fixture.count(Stub.self) == 0)
        }
    }

    @Test func `only the last edits can be undone`() async throws {
        try await browse { browser, _ in
            var edits: [JSONResponse] = []
            for number in 0...UndoList.limit {
                let was = number == 0 ? "1" : "\(number)"
                edits.append(try await browser.edit("update", Self.update("t1", "seats", "\(number + 1)", was: was)))
            }
            try await browser.undo(edits[0], expecting: .gone)
        }
    }

    /// Returns the stored values of all live objects.
    private static func contents(of store: Store) throws -> [String: [StorageValue]] {
        var contents: [String: [StorageValue]] = [:]
        for model in store.models {
            for object in try store.objects(named: model.name).all() {
                contents["\(model.name) \(object.localID)"] = object.storedValues
            }
        }
        return contents
    }
}
