import Foundation
import HummingbirdTesting
import Synchronization
import Tandem
import TestSupport
import Testing

@testable import TandemBrowser

@Suite(.ownThreads, .timeLimit(.minutes(2))) struct BrowserEventTests {
    /// A response that is being received.
    private final class Running: Sendable {
        let isOver = Atomic(false)
    }

    /// Opens a stream, runs a body, ends the stream, and returns its text.
    private func stream(
        _ browser: TestBrowser, while body: @Sendable (Running) async throws -> Void
    ) async throws -> String {
        let running = Running()
        let before = browser.site.revisions.count
        let response = Task {
            defer { running.isOver.store(true, ordering: .relaxed) }
            return String(buffer: try await browser.send(.get, "/events").body)
        }
        try await wait(running) { browser.site.revisions.count > before }
        do {
            try await body(running)
        } catch {
            browser.site.stop()
            throw error
        }
        browser.site.stop()
        return try await response.value
    }

    /// Waits for a condition, or for the end of the response.
    private func wait(_ running: Running, for condition: @Sendable () -> Bool) async throws {
        while !condition(), !running.isOver.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(2)) }
        #expect(condition())
    }

    private func revisions(in text: String) throws -> [Int] {
        struct Change: Decodable { let revision: Int }
        return try text.components(separatedBy: "\n\n").filter { $0.hasPrefix("event: change\n") }.map { event in
            let data = try #require(event.components(separatedBy: "\ndata: ").last)
            return try JSONDecoder().decode(Change.self, from: Data(data.utf8)).revision
        }
    }

    @Test func `a commit of another store is an event, and the next window shows it`() async throws {
        let fixture = try BrowserFixture()
        try fixture.fill()
        try await fixture.browse { browser in
            try await browser.open()
            #expect(try await browser.data("rows", ["model": "Draft", "to": "9"])["count"].number == 0)
            let text = try await stream(browser) { running in
                let before = browser.site.revisions.current
                // A local-only model: its changes are not in the queue.
                try await fixture.store.write { tx in _ = try tx.insert(Draft(text: "new")) }
                try await wait(running) { browser.site.revisions.current > before }
                #expect(try await browser.data("rows", ["model": "Draft", "to": "9"])["count"].number == 1)
            }
            let revisions = try revisions(in: text)
            #expect(revisions == revisions.sorted() && revisions.last ?? 0 >= 1)
        }
    }

    @Test func `an edit of this page is an event too`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.browse(isWritable: true) { browser in
            try await browser.open()
            let text = try await stream(browser) { running in
                let before = browser.site.revisions.current
                let values: [String: [String: Any]] = ["text": ["text": "new", "was": NSNull()]]
                _ = try await browser.edit("insert", ["model": "Draft", "values": values])
                try await wait(running) { browser.site.revisions.current > before }
            }
            #expect(try revisions(in: text).last ?? 0 >= 1)
        }
    }

    @Test func `streams are limited: the oldest of a session ends, and others are refused`() async throws {
        let fixture = try BrowserFixture()
        var limits = BrowserLimits()
        limits.streamsOfSession = 2
        limits.streams = 3
        try await fixture.browse(limits: limits) { browser in
            try await browser.open()
            let session = browser.site.sessions.begin(passed: browser.site.openGates)
            let other = browser.site.sessions.begin(passed: browser.site.openGates)
            let revisions = browser.site.revisions
            let first = try #require(revisions.listen(session))
            let second = try #require(revisions.listen(session))
            let third = try #require(revisions.listen(session))
            #expect(revisions.count == 2)
            // A stream that has ended has no further number.
            var ended = first.revisions.makeAsyncIterator()
            #expect(await ended.next() == 0)
            #expect(await ended.next() == nil)
            let fourth = try #require(revisions.listen(other))
            #expect(revisions.listen(other) == nil)
            #expect(try await browser.send(.get, "/events").status == .serviceUnavailable)
            for stream in [second, third] { revisions.end(stream.id) }
            #expect(revisions.count == 1)
            withExtendedLifetime((second.revisions, third.revisions, fourth.revisions)) {}
        }
    }

    @Test func `a stream that is dropped before its first read occupies no place`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.browse { browser in
            let revisions = browser.site.revisions
            let session = browser.site.sessions.begin(passed: [])
            for _ in 0..<10 { _ = revisions.listen(session)?.id }
            #expect(revisions.count == 0)
        }
    }

    @Test func `a stream that is not read keeps only the newest number`() async throws {
        let fixture = try BrowserFixture()
        try await fixture.browse { browser in
            let revisions = browser.site.revisions
            let stream = try #require(revisions.listen(browser.site.sessions.begin(passed: [])))
            for _ in 0..<1000 { revisions.advance() }
            revisions.end(stream.id)
            var numbers: [Int] = []
            for await number in stream.revisions { numbers.append(number) }
            #expect(numbers == [1000])
        }
    }
}
