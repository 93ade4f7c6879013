import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

/// The code of the article on moving from Azure Mobile Apps, compiled and run. The lines between the markers equal the
/// article's.
@Suite(.ownThreads) struct MovingArticleTests {
    @Model struct ToDo {
        var text: String
        var isDone = false
    }

    /// A device, and another one that writes to the server.
    private func device() throws -> (SyncWorld, Store, SyncContext) {
        let world = try SyncWorld(.azureMobileApps)
        let store = try Store.inMemory(models: ToDo.self)
        return (world, store, world.context(store))
    }

    private func milk(_ world: SyncWorld, done: Bool) async throws {
        try await world.others.put("ToDo", "milk", [("text", .text("Buy milk")), ("isDone", .bool(done))])
        world.clock.advance(by: 60)
    }

    @Test func `a pull with a filter keeps objects that no longer match until a full pull`() async throws {
        let (world, store, sync) = try device()
        try await milk(world, done: false)
        var printed: [String] = []
        func print(_ value: Any) { printed.append("\(value)") }
        // MovingFromAzureMobileApps begins
        try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        print(try await store.objects(ToDo.self).all().map(\.text))  // ["Buy milk"]
        // MovingFromAzureMobileApps ends
        try await milk(world, done: true)
        // MovingFromAzureMobileApps begins
        try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        print(try await store.objects(ToDo.self).all().map(\.isDone))  // [false]
        // MovingFromAzureMobileApps ends
        // MovingFromAzureMobileApps begins
        let full = try await sync.pull(ToDo.self) { !$0.isDone }
        print(full.deleted)  // 1
        // MovingFromAzureMobileApps ends
        #expect(printed == [#"["Buy milk"]"#, "[false]", "1"])
    }

    @Test func `a purge and a pull find them too`() async throws {
        let (world, store, sync) = try device()
        try await milk(world, done: false)
        try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        try await milk(world, done: true)
        // MovingFromAzureMobileApps begins
        try await sync.purge(ToDo.self, queryID: "unfinished") { !$0.isDone }
        try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        // MovingFromAzureMobileApps ends
        #expect(try await store.objects(ToDo.self).count() == 0)
    }

    @Test func `the doc comment of purge has the article's code`() throws {
        let comment = try Snippets.text(of: "Sources/TandemSync/SyncContext+Purging.swift")
        let code = try Snippets.blocks(of: "Sources/TandemSync/TandemSync.docc/MovingFromAzureMobileApps.md")
            .flatMap { $0 }.filter { $0.contains("sync.purge(") }
        #expect(code.count == 1 && code.allSatisfy { comment.contains("    /// \($0)\n") })
    }

    @Test func `conflicts can be reported as errors`() async throws {
        let (world, store, sync) = try device()
        // MovingFromAzureMobileApps begins
        try sync.table(ToDo.self).setConflicts(.report)
        // MovingFromAzureMobileApps ends
        try await milk(world, done: false)
        try await sync.pull(ToDo.self, queryID: "all")
        try await store.write { _ = try $0.update(ToDo.self, localID: "milk") { $0.text = "Buy oat milk" } }
        try await milk(world, done: true)
        #expect(try await sync.push().failedOperations.count == 1)
    }

    @Test func `the server may make the IDs`() async throws {
        let (world, store, sync) = try device()
        // MovingFromAzureMobileApps begins
        try sync.table(ToDo.self).setIdentity(.server(lookUp: "localKey"))
        // MovingFromAzureMobileApps ends
        let localID = try await store.write { try $0.insert(ToDo(text: "Buy bread")) }.localID
        world.next(.post, .lostResponse)
        try await sync.attemptPush()
        #expect(try await sync.push().isComplete)
        let rows = try world.server.rows(in: "ToDo")
        #expect(rows.count == 1 && rows[0].id != localID.rawValue && rows[0].members["localKey"] != nil)
    }

    @Test func `the article's code equals the tested code`() throws {
        try Snippets.expectTested("MovingFromAzureMobileApps", of: "TandemSync", in: #filePath)
    }
}
