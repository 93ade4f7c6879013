import BigInt
import Foundation
import HTTPTypes
import HummingbirdTesting
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemBrowser

@Suite(.ownThreads, .timeLimit(.minutes(2))) struct BrowserDataTests {
    private func browse(_ body: @Sendable (TestBrowser, BrowserFixture) async throws -> Void) async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try await fixture.browse { browser in
            try await browser.open()
            try await body(browser, fixture)
        }
    }

    /// Returns the IDs of the rows of a query.
    private func ids(_ browser: TestBrowser, _ parameters: [String: String]) async throws -> [String] {
        let query = ["model": "Ticket", "to": "100"].merging(parameters) { $1 }
        return try await browser.data("rows", query)["rows"].list.compactMap { $0["id"].text }
    }

    @Test func `the summary has the models with their numbers, and the queue`() async throws {
        try await browse { browser, _ in
            let response = try await browser.data("summary")
            #expect(response["isDamaged"].flag == false)
            let models = response["summary"]["models"]
            #expect(models.list.compactMap { $0["name"].text } == ["Draft", "Guest", "Stub", "Tag", "Ticket"])
            #expect(models.first("name", "Ticket")["objects"].number == 3)
            #expect(models.first("name", "Ticket")["notSynced"].number == 3)
            #expect(response["summary"]["operations"]["pending"].number == 6)
        }
    }

    @Test func `a row has the state and all properties, in the order of the model's columns`() async throws {
        try await browse { browser, _ in
            let columns = try await browser.data("model", ["model": "Ticket"])["columns"].list
            let names = columns.compactMap { $0["name"].text }
            #expect(Array(names.prefix(7)) == BrowserDataTests.stateNames)
            let response = try await browser.data("rows", ["model": "Ticket", "to": "1", "where": "code == 'A1'"])
            #expect(response["count"].number == 1)
            let cells = response["rows"][0]["cells"].list
            #expect(cells.count == names.count)
            let row = Dictionary(zip(names, cells), uniquingKeysWith: { $1 })
            #expect(row["localID"]?.text == "t1" && row["serverID"]?.isNull == true)
            #expect(row["isSynced"]?.text == "false" && row["title"]?.text == "Opera" && row["points"]?.text == "20")
            #expect(row["price"]?.text == "12.5" && row["guest"]?.text == "ada" && row["tags"]?.text == "red")
        }
    }

    static let stateNames = ["localID", "serverID", "isSynced", "isDeleted", "version", "createdAt", "updatedAt"]

    @Test func `rows are sorted by each sortable column`() async throws {
        try await browse { browser, _ in
            #expect(try await ids(browser, ["sort": "`points` desc"]) == ["t3", "t1", "t2"])
            #expect(try await ids(browser, ["sort": "`title`"]) == ["t2", "t1", "t3"])
            #expect(try await ids(browser, ["sort": "localID desc"]) == ["t3", "t2", "t1"])
            for column in try await browser.data("model", ["model": "Ticket"])["columns"].list
            where column["isSortable"].flag == true {
                let name = try #require(column["name"].text)
                #expect(Set(try await ids(browser, ["sort": "`\(name)` desc"])) == ["t1", "t2", "t3"], "\(name)")
            }
        }
    }

    @Test func `conditions and searches select rows`() async throws {
        try await browse { browser, fixture in
            #expect(try await ids(browser, ["where": "points > 10 and guest.name == 'Ада'"]) == ["t1", "t3"])
            for (search, found) in [
                ("лекц", ["t3"]), ("B2", ["t2"]), ("20", ["t1"]), ("bob", ["t2"]), ("red", ["t1"]),
                ("window", ["t2"]), ("t3", ["t3"]), ("nothing", []), ("12.50", ["t1"]), ("0.75", ["t2"]),
                ("12.5x", []), ("9007199254740993", []), ("1" + String(repeating: "0", count: 400), []),
                ("1" + String(repeating: "0", count: 30), ["t3"]),
            ] {
                #expect(try await ids(browser, ["search": search]) == found, "\(search)")
            }
            #expect(try await ids(browser, ["search": "ball", "where": "points < 10"]) == ["t2"])
            let large = BigInt(2).power(127)
            try await fixture.store.write { tx in
                _ = try tx.update(Ticket.self, localID: "t1") { $0.points = large }
            }
            #expect(try await ids(browser, ["search": "\(large)"]) == ["t1"])
            try await fixture.store.write { tx in _ = try tx.delete("Ticket", localID: "t2") }
            #expect(try await ids(browser, [:]) == ["t1", "t3"])
        }
    }

    @Test func `an error of a condition is shown at its field, with its position or the known names`() async throws {
        try await browse { browser, _ in
            for (field, text, part) in [
                ("where", "points >", "position 9"), ("where", "pints > 1", "points"),
                ("where", "points > 'x'", "points"), ("sort", "nothing", "title"), ("sort", "points up", "position 8"),
            ] {
                let response = try await browser.data(
                    "rows", ["model": "Ticket", field: text], expecting: .badRequest)
                #expect(response["fields"][field].text?.contains(part) == true, "\(text)")
            }
            let long = String(repeating: "x", count: 9000)
            let response = try await browser.data("rows", ["model": "Ticket", "search": long], expecting: .badRequest)
            #expect(response["fields"]["search"].text == "The text is too long.")
            _ = try await browser.data("rows", ["model": "Nothing"], expecting: .notFound)
            _ = try await browser.data("rows", ["model": "Ticket", "from": "-1"], expecting: .badRequest)
        }
    }

    @Test func `windows at any offset are read by position, and their size is limited`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.store.write { tx in
            for number in 0..<1000 { try tx.insert(Stub(number: number)) }
        }
        try await fixture.browse { browser in
            try await browser.open()
            let query = ["model": "Stub", "sort": "number desc"]
            let response = try await browser.data("rows", query.merging(["from": "700", "to": "720"]) { $1 })
            #expect(response["count"].number == 1000 && response["first"].number == 700)
            let columns = try await browser.data("model", ["model": "Stub"])["columns"].list
            let index = try #require(columns.firstIndex { $0["name"].text == "number" })
            #expect(response["rows"].list.map { $0["cells"][index].text } == (280..<300).reversed().map { "\($0)" })
            let large = try await browser.data("rows", query.merging(["from": "0", "to": "1000"]) { $1 })
            #expect(large["rows"].list.count == BrowserLimits().rows)
            let late = try await browser.data("rows", query.merging(["from": "5000", "to": "5010"]) { $1 })
            #expect(late["rows"].list.isEmpty && late["count"].number == 1000)
        }
    }

    @Test func `an object has its targets, the objects that refer to it, and its operation`() async throws {
        try await browse { browser, _ in
            let ticket = try await browser.data("object", ["model": "Ticket", "id": "t1"])
            let guest = ticket["properties"].first("name", "guest")
            #expect(guest["targets"][0]["id"].text == "ada" && guest["targets"][0]["title"].text == "Ада")
            #expect(ticket["properties"].first("name", "tags")["targets"][0]["title"].text == "red")
            #expect(ticket["operation"]["kind"].text == "insert" && ticket["title"].text == "Opera")
            let ada = try await browser.data("object", ["model": "Guest", "id": "ada"])
            let links = ada["links"].first("property", "guest")
            #expect(links["count"].number == 2 && links["model"].text == "Ticket")
            #expect(links["objects"].list.compactMap { $0["id"].text } == ["t1", "t3"])
            _ = try await browser.data("object", ["model": "Ticket", "id": "none"], expecting: .notFound)
        }
    }

    @Test func `an operation shows the values before, here and on the server`() async throws {
        let fixture = try BrowserFixture()
        let tag = try fixture.store.applyServerObject(Tag(name: "red").identified(by: "s"))
        let error = OperationError(
            status: 409, message: "The tag has changed.", at: Date(timeIntervalSinceReferenceDate: 0),
            serverItem: Data(#"{"id": "s", "name": "green"}"#.utf8))
        try await fixture.store.write { tx in
            try tx.update(tag) { $0.name = "blue" }
            guard let operation = try tx.operations.all().last else { return }
            _ = try tx.beginAttempt(operation.id)
            try tx.fail(operation.id, with: error, retry: false)
        }
        try await fixture.browse { browser in
            try await browser.open()
            let errors = try await browser.data("errors")
            #expect(errors["operations"].list.count == 1 && errors["isComplete"].flag == true)
            let operation = errors["operations"][0]
            #expect(operation["error"]["status"].number == 409 && operation["state"].text == "failed")
            let value = operation["values"].first("property", "name")
            #expect(value["base"].text == "red" && value["current"].text == "blue" && value["server"].text == "green")
            #expect(value["isDisputed"].flag == true)
            let object = try await browser.data(
                "object", ["model": "Tag", "id": try #require(operation["localID"].text)])
            #expect(object["operation"]["values"].first("property", "name")["server"].text == "green")
            let queue = try await browser.data("queue")
            #expect(queue["total"].number == 1 && queue["failed"].number == 1)
        }
    }

    @Test func `a file is saved and never shown, whatever its name and content type`() async throws {
        let fixture = try BrowserFixture()
        let page = "<script>alert(1)</script>"
        let file = try fixture.store.attachments.add(
            Data(page.utf8), name: "a\"\r\nb/Ω.html", contentType: "text/html")
        try await fixture.store.write { tx in
            var ticket = Ticket(title: "x", code: "x")
            ticket.file = file
            try tx.insert(ticket.identified(by: "t"))
        }
        try await fixture.browse { browser in
            try await browser.open()
            let object = try await browser.data("object", ["model": "Ticket", "id": "t"])
            #expect(object["files"][0]["isHere"].flag == true && object["files"][0]["size"].number == page.utf8.count)
            let response = try await browser.send(.get, "/data/file?model=Ticket&id=t&index=0")
            #expect(response.status == .ok && String(buffer: response.body) == page)
            #expect(response.headers[.contentType] == "application/octet-stream")
            #expect(response.headers[.contentDisposition] == "attachment; filename*=UTF-8''%ce%a9.html")
            #expect(response.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
            #expect(try await browser.send(.get, "/data/file?model=Ticket&id=t&index=1").status == .notFound)
        }
    }

    @Test func `a damaged store shows its readable models, and reports the others`() async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try fixture.damageStubs()
        try await fixture.browse { browser in
            try await browser.open()
            let rows = try await browser.data("rows", ["model": "Ticket", "to": "10"])
            #expect(rows["rows"].list.count == 3 && rows["problem"].isNull)
            let end = try await browser.data("rows", ["model": "Stub", "from": "0", "to": "400", "sort": "number"])
            #expect(end["problem"].text?.isEmpty == false)
            let report = try JSONResponse(try await browser.send(.post, "/data/check"))
            #expect(report["isDamaged"].flag == true && !report["problems"].list.isEmpty)
            let stubs = report["readable"].first("model", "Stub")
            #expect(stubs["error"].text?.isEmpty == false && stubs["objects"].number.map { $0 < 2000 } == true)
            #expect(report["readable"].first("model", "Ticket")["objects"].number == 3)
        }
    }
}

extension BrowserFixture {
    /// Inserts two thousand stubs, closes the store, and overwrites some pages that hold them.
    fileprivate func damageStubs() throws {
        let pageSize = 4096
        // The log is written into the file when the store closes.
        func pages() throws -> Int {
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
            return (size?.intValue ?? 0) / pageSize
        }
        store.close()
        let before = try pages()
        let second = try Store(at: path, models: Self.models)
        try second.write { tx in
            for number in 0..<2000 { try tx.insert(Stub(number: number)) }
        }
        second.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let count = bytes.count / pageSize
        for page in stride(from: before + (count - before) / 4, to: before + (count - before) / 2, by: 3) {
            let range = page * pageSize..<(page + 1) * pageSize
            bytes.replaceSubrange(range, with: repeatElement(0xA5, count: range.count))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
