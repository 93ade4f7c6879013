import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A required attachment from end to end, over our own protocol for files.
@Suite(.ownThreads) struct RequiredAttachmentTests {
    private let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
    private let remote: ScriptedRemote
    private let line: InProcessFileTransport

    init() throws {
        remote = ScriptedRemote(format: WireFormat(nestedJSON: true), clock: ManualClock(clock.now()))
        line = try InProcessFileTransport()
    }

    private func device() throws -> (Store, SyncContext) {
        var configuration = Store.Configuration()
        configuration.now = clock.now
        let store = try Store(inMemoryModels: [Passport.self], configuration: configuration)
        var options = SyncContext.Options()
        options.clock = JumpingClock(clock)
        options.deletesFiles = true
        let files = TandemFiles(ServerAddress("http://shop.example")!, over: line, authentication: nil)
        return (store, SyncContext(store: store, remote: remote, files: files, options: options))
    }

    private func only(_ store: Store) throws -> Passport {
        try #require(try store.objects(Passport.self).all().first)
    }

    /// The sent values of the scan, request by request: its ID, and whether it had a URL.
    private var sent: [String] {
        remote.requests.filter { $0.kind != .page && $0.kind != .find }.map { request in
            guard case .object(let members)? = request.members.first(where: { $0.key == "scan" })?.value else {
                return "\(request.kind)"
            }
            let id = members.first { $0.key == "id" }.map { "\($0.value)" } ?? "?"
            return "\(request.kind) \(id)\(members.contains { $0.key == "url" } ? " at its URL" : "")"
        }
    }

    @Test
    func `a required attachment is sent without its URL first and then behaves like an optional one`() async throws {
        let (store, sync) = try device()
        let (other, far) = try device()
        let bytes = [Sample.bytes(300_000, seed: 1), Sample.bytes(1_500_000, seed: 2)]
        let first = try store.attachments.add(bytes[0], name: "паспорт.pdf")
        try await store.write { _ = try $0.insert(Passport(holder: "Ада", scan: first)) }
        #expect(try await sync.push().isComplete)
        let node = JSONNode.text(first.id.rawValue)
        #expect(sent == ["insert \(node)", "update \(node) at its URL"])
        var here = try only(store)
        #expect(here.isSynced && here.scan.id == first.id)
        #expect(here.scan.serverURL == "http://shop.example/files/\(first.id)")

        try await far.synchronize()
        var there = try only(other)
        #expect(there.scan == here.scan && there.isSynced)
        try await far.download(there.scan)
        #expect(try Array(other.attachments.data(of: there.scan)) == bytes[0])

        // A replacement.
        remote.forgetRequests()
        let second = try store.attachments.add(bytes[1], name: "новый паспорт.pdf")
        try await store.write { [id = here.localID] in
            _ = try $0.update(Passport.self, localID: id) { $0.scan = second }
        }
        #expect(try await sync.push().isComplete)
        let next = JSONNode.text(second.id.rawValue)
        #expect(sent == ["update \(next) at its URL"])
        here = try only(store)
        #expect(here.isSynced && here.scan.id == second.id)
        try await far.synchronize()
        there = try only(other)
        #expect(there.scan == here.scan && there.isSynced)
        try await far.download(there.scan)
        #expect(try Array(other.attachments.data(of: there.scan)) == bytes[1])
        for store in [store, other] { #expect(try store.checkIntegrity() == []) }

        try await store.write { [id = here.localID] in _ = try $0.delete(Passport.self, localID: id) }
        #expect(try await sync.push().isComplete)
        try await far.synchronize()
        #expect(try await other.objects(Passport.self).all().isEmpty)
        #expect(try line.fileServer.files().isEmpty)
        for store in [store, other] { #expect(try store.checkIntegrity() == []) }
    }

    @Test func `another device gets a required attachment without its file until the URL arrives`() async throws {
        let (store, sync) = try device()
        let (other, far) = try device()
        let bytes = Sample.bytes(1000)
        let scan = try store.attachments.add(bytes, name: "паспорт.pdf")
        try await store.write { _ = try $0.insert(Passport(holder: "Ада", scan: scan)) }
        try await SyncContext(store: store, remote: remote).push()
        try await far.synchronize()
        var there = try only(other)
        #expect(there.scan.id == scan.id && there.scan.serverURL == nil && there.isSynced)
        let waiting = there.scan
        await #expect { try await far.download(waiting) } throws: {
            ($0 as? TandemError)?.code == .attachmentNotHere
        }
        #expect(try await sync.push().isComplete)
        try await far.synchronize()
        there = try only(other)
        #expect(there.scan.serverURL != nil)
        // The older value works as well.
        try await far.download(waiting)
        #expect(try Array(other.attachments.data(of: there.scan)) == bytes)
        #expect(try other.checkIntegrity() == [])
    }
}
