import Synchronization
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite(.ownThreads) struct StorePartTests {
    /// A part that records its calls.
    private final class Recorder: StorePart {
        private struct Participant: CommitParticipant {
            let recorder: Recorder

            func begin(_ transaction: WriteTransaction) { recorder.record("begin") }
            func didCommit(_ transaction: WriteTransaction) { recorder.record("did commit") }
        }

        private let calls = Mutex<[String]>([])

        var recorded: [String] { calls.withLock { $0 } }

        private func record(_ call: String) { calls.withLock { $0.append(call) } }

        func commitParticipant(on connection: Connection) -> any CommitParticipant { Participant(recorder: self) }

        func storeWillClose() { record("store will close") }

        func writerWillClose(of store: Store) {
            let found = try? store.writer.connection.value("SELECT count(*) FROM \"PeerPerson\"")
            record("writer will close with \(found.map { "\($0)" } ?? "an error")")
        }

        func storeDidClose() { record("store did close") }
    }

    private func open(_ part: Recorder) throws -> Store {
        let configuration = Store.Configuration()
        let schema = try Schema([PeerPerson.self])
        let opener = StoreOpener(location: .memory, configuration: configuration)
        let (writer, pending) = try opener.openWriter(schema: schema)
        #expect(pending == nil)
        return Store(
            at: .memory, schema: schema, configuration: configuration, writer: writer, readers: nil,
            logCheckpointer: nil, rowWriteDelegate: RowWriteRecorder(), parts: [part])
    }

    @Test func `part takes part in each write, and is notified once of each step of closing`() throws {
        let part = Recorder()
        let store = try open(part)
        #expect(store.part(Recorder.self) === part)
        try store.write { tx in try tx.insert(PeerPerson(name: "Ада")) }
        #expect(part.recorded == ["begin", "did commit"])
        store.close()
        store.close()
        #expect(
            part.recorded.dropFirst(2)
                == ["store will close", "writer will close with \(StorageValue.integer(1))", "store did close"])
    }

    @Test func `released store closes its parts`() throws {
        let part = Recorder()
        _ = try open(part)
        #expect(part.recorded.last == "store did close")
    }

    @Test func `opened store has its files, its live queries and its object cache as parts`() throws {
        let store = try Store.inMemory(models: PeerPerson.self)
        try #require(store.parts.count == 3)
        #expect(store.parts[0] === store.files)
        #expect(store.parts[1] === store.live)
        #expect(store.parts[2] === store.objectCache)
    }
}
