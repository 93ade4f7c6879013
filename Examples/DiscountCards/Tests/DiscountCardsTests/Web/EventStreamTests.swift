import Foundation
import HummingbirdTesting
import NIOCore
import PageServer
import Synchronization
import Tandem
import Testing

@testable import DiscountCards

@Suite(.timeLimit(.minutes(2))) struct EventStreamTests {
    private struct Reset: Decodable {
        let stream: String
        let revision: Int
        let count: Int
        let rows: [Row]
    }
    private struct Row: Decodable { let shop: String }
    private struct Change: Decodable {
        let revision: Int
        let count: Int
        let deletions: [Int]
        let insertions: [Int]
        let modifications: [Int]
        let rows: [String: Row]
    }

    private func add(_ shops: String..., from number: UInt64 = 0, to store: Store) async throws {
        try await store.write { tx in
            for (index, shop) in shops.enumerated() {
                try tx.insert(Card(shop: shop, barcode: EAN13(payload: number + UInt64(index)).digits))
            }
        }
    }

    /// Returns the values of the events of a kind.
    private func events<Value: Decodable>(_ name: String, as type: Value.Type, in text: String) throws -> [Value] {
        try text.components(separatedBy: "\n\n").filter { $0.hasPrefix("event: \(name)\n") }.map { event in
            let data = try #require(event.components(separatedBy: "\ndata: ").last)
            return try JSONDecoder().decode(Value.self, from: Data(data.utf8))
        }
    }

    /// Opens a stream, runs a body once it has sent its list, ends it, and returns its text.
    private func stream(
        _ browser: WebBrowser, at path: String, while body: (PageStream) async throws -> Void
    ) async throws -> String {
        let hasEnded = Atomic(false)
        let known = Set(browser.state.streams.all.map(\.id))
        let response = Task {
            defer { hasEnded.store(true, ordering: .relaxed) }
            return try await browser.send(.get, to: path)
        }
        let streams = browser.state.streams
        func new() -> PageStream? { streams.all.first { !known.contains($0.id) && $0.current != nil } }
        try await waitUntil { new() != nil || hasEnded.load(ordering: .relaxed) }
        let page = try #require(new())
        do {
            try await body(page)
        } catch {
            await streams.closeAll()
            throw error
        }
        await streams.closeAll()
        return String(buffer: try await response.value.body)
    }

    /// Waits until a stream has sent a revision.
    private func wait(for revision: Int, of page: PageStream) async throws {
        try await waitUntil { (page.current?.revision ?? .max) >= revision }
    }

    private func waitUntil(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `a stream begins with the list, and continues with changes by position`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        try await add("Аптека", "Лента", "Магнит", to: store)
        try await withWeb(store: store) { browser in
            try await browser.open()
            let text = try await stream(browser, at: "/events") { page in
                try await add("Ашан", from: 10, to: store)
                try await wait(for: 2, of: page)
                let lenta = try #require(try await store.objects(Card.self).where { $0.shop == "Лента" }.first())
                try await store.write { tx in try tx.delete(lenta) }
                try await wait(for: 3, of: page)
            }
            let list = try #require(try events("list", as: Reset.self, in: text).first)
            #expect(list.revision == 1 && list.rows.map(\.shop) == ["Аптека", "Лента", "Магнит"])
            let changes = try events("change", as: Change.self, in: text)
            #expect(changes.map(\.insertions) == [[1], []] && changes.map(\.deletions) == [[], [2]])
            #expect(changes.first?.rows["1"]?.shop == "Ашан" && changes.map(\.count) == [4, 3])
            #expect(text.contains("event: sync\n"))
        }
    }

    @Test func `a search finds shops and owners in any script`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        try await add("Пятёрочка", "Лента", "L'Orvéa", to: store)
        try await withWeb(store: store) { browser in
            try await browser.open()
            for (words, found) in [("пятероч", 1), ("lorvea", 1), ("%D0%BB%D0%B5%D0%BD", 1), ("нет", 0)] {
                let encoded = words.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? words
                let path = "/events?q=\(words.contains("%") ? words : encoded)"
                let text = try await stream(browser, at: path) { _ in }
                #expect(try events("list", as: Reset.self, in: text).first?.count == found, "\(words)")
            }
        }
    }

    @Test func `many changes at once are a new list, whose size does not depend on them`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        try await add("Аптека", to: store)
        try await withWeb(store: store) { browser in
            try await browser.open()
            let text = try await stream(browser, at: "/events") { page in
                try await store.write { tx in
                    for number in 0..<ListEvent.largestChange + 1 {
                        try tx.insert(Card(shop: "Лента", barcode: EAN13(payload: 100 + UInt64(number)).digits))
                    }
                }
                try await wait(for: 2, of: page)
            }
            let lists = try events("list", as: Reset.self, in: text)
            #expect(lists.count == 2 && lists.last?.count == ListEvent.largestChange + 2)
            #expect(try #require(lists.last).rows.count <= PageStream.largestWindow)
        }
    }

    @Test func `a part that changes while its response is made is sent again`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        var options = WebOptions()
        options.limits.heartbeat = .seconds(3600)
        try await withWeb(options: options, store: store) { browser in
            try await browser.open()
            let text = try await stream(browser, at: "/events") { page in
                // Other news at the beginning would also draw the part again.
                try await Task.sleep(for: .milliseconds(100))
                let number = await page.show(.sync, html: "earlier")
                try await waitUntil { page.shown?.content != .html("earlier") }
                #expect(page.shown?.number == number + 1)
            }
            struct Part: Decodable { let number: Int }
            #expect(try events("part", as: Part.self, in: text).map(\.number) == [2])
        }
    }

    @Test func `rows are sent by range, of the session's own streams only`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        try await store.write { tx in
            for number in 0..<500 {
                let name = String(format: "Shop %03d", number)
                try tx.insert(Card(shop: name, barcode: EAN13(payload: UInt64(number)).digits))
            }
        }
        try await withWeb(store: store) { browser in
            try await browser.open()
            _ = try await stream(browser, at: "/events") { page in
                func shops(_ range: String, in browser: WebBrowser) async throws -> [String] {
                    struct Rows: Decodable {
                        let first: Int
                        let rows: [Row]
                    }
                    let response = try await browser.send(.get, to: "/rows?stream=\(page.id)&\(range)")
                    guard response.status == .ok else { return ["\(response.status.code)"] }
                    return try WebBrowser.value(Rows.self, of: response).rows.map(\.shop)
                }
                #expect(try await shops("from=250&to=252", in: browser) == ["Shop 250", "Shop 251"])
                #expect(try await shops("from=499&to=600", in: browser) == ["Shop 499"])
                #expect(try await shops("from=700&to=800", in: browser) == [])
                #expect(try await shops("from=0&to=500", in: browser).count == PageStream.largestWindow)
                let other = WebBrowser(browser.client, state: browser.state)
                try await other.open()
                #expect(try await shops("from=0&to=2", in: other) == ["410"])
            }
        }
    }

    @Test func `the number of open streams is limited, and a closed one makes room`() async throws {
        var options = WebOptions()
        options.limits.streams = 1
        try await withWeb(options: options) { browser in
            try await browser.open()
            _ = try await stream(browser, at: "/events") { _ in
                let second = try await browser.send(.get, to: "/events")
                #expect(second.status == .serviceUnavailable)
            }
            try await waitUntil { browser.state.streams.count == 0 }
            _ = try await stream(browser, at: "/events") { _ in }
        }
    }

    @Test func `a stream whose response is never written occupies no place`() async throws {
        try await withWeb { browser in
            let session = SessionList().begin(passed: [])
            let page = PageStream(try browser.state.wallet(), session: session, words: "", part: nil)
            let place = try #require(browser.state.streams.add(page))
            withExtendedLifetime(place) { #expect(browser.state.streams.count == 1) }
            for _ in 0..<100 where browser.state.streams.add(page) == nil { Issue.record("too many streams") }
            #expect(browser.state.streams.count == 0)
        }
    }

    @Test func `a session with too many streams loses its oldest`() async throws {
        var options = WebOptions()
        options.limits.streamsOfSession = 1
        try await withWeb(options: options) { browser in
            try await browser.open()
            let first = Task { try await browser.send(.get, to: "/events") }
            try await waitUntil { browser.state.streams.count == 1 }
            _ = try await stream(browser, at: "/events?q=x") { _ in }
            #expect(try await first.value.status == .ok)
        }
    }

    @Test func `a shown card that changes is sent again, and a deleted one too`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        try await add("Лента", to: store)
        let card = try #require(try await store.objects(Card.self).first())
        try await withWeb(store: store) { browser in
            try await browser.open()
            // The search does not find the card, so that the list does not change.
            let text = try await stream(browser, at: "/events?q=zzz") { page in
                try await browser.send(.get, to: "/parts/cards/\(card.localID)?stream=\(page.id)")
                try await store.write { tx in
                    _ = try tx.update(Card.self, localID: card.localID) { $0.points = 4711 }
                }
                try await waitUntil {
                    if case .html(let html) = page.shown?.content { html.contains("4,711") } else { false }
                }
                try await store.write { try $0.delete(card) }
                try await waitUntil { page.shown?.content == .missing }
            }
            struct Part: Decodable {
                let card: String?
                let html: String?
            }
            let parts = try events("part", as: Part.self, in: text)
            #expect(parts.map(\.card) == [card.localID.rawValue, card.localID.rawValue])
            #expect(parts.first?.html?.contains("4,711") == true && parts.last?.html == nil)
        }
    }
}
