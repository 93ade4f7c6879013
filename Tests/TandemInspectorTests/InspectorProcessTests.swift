import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// The executable `tandem`.
@Suite(.startsProcesses, .ownThreads) struct InspectorProcessTests {
    @Test(arguments: ReadingCommandTests.kinds)
    func `watch follows another process that imports`(kind: StoreKind) throws {
        let fixture = try InspectorFixture(kind)
        fixture.store.close()
        let key = try fixture.key
        let folder = fixture.folder.path
        let watch = try InspectorProcess(["watch", fixture.path, "Badge", "--commits", "1"] + key, in: folder)
        #expect(watch.waitForError("Watching 0 objects of Badge."))
        let input = try fixture.file("in.json", #"{"localID":"b","name":"gold"}"#)
        let arguments = ["import", fixture.path, "-", "Badge", "--write"] + key
        let writer = try InspectorProcess(arguments, in: folder, input: input)
        #expect(writer.end() == 0 && writer.text == "Badge: 1 objects imported\n")
        #expect(watch.end() == 0)
        #expect(watch.text == "+ b  name: gold\n")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends watch without an error`(signal: Int32) throws {
        let fixture = try InspectorFixture()
        let watch = try InspectorProcess(["watch", fixture.path, "Badge"], in: fixture.folder.path)
        #expect(watch.waitForError("Watching"))
        watch.send(signal)
        #expect(watch.end() == 0)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `browse prints its address, and a signal ends it without an error`(signal: Int32) throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let browse = try InspectorProcess(["browse", fixture.path, "--port", "0"], in: fixture.folder.path)
        #expect(browse.waitForError("The store is at http://127.0.0.1:"))
        browse.send(signal)
        #expect(browse.end() == 0)
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `a closed pipe ends watch and query without an error`() throws {
        let fixture = try InspectorFixture()
        try fixture.fill()
        let folder = fixture.folder.path
        // Nothing is written, so that only the pipe ends it.
        let watch = try InspectorProcess(["watch", fixture.path, "Badge"], in: folder, closesOutput: true)
        #expect(watch.end() == 0)
        let query = try InspectorProcess(["query", fixture.path, "Card"], in: folder, closesOutput: true)
        #expect(query.end() == 0 && query.errors.isEmpty)
    }

    @Test func `the exit status and the error stream report an error`() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let process = try InspectorProcess(["info", folder.path(of: "none")], in: folder.path)
        #expect(process.end() == CommandStatus.noInput.rawValue)
        #expect(process.text.isEmpty && process.errors.hasPrefix("tandem: The store does not exist."))
    }
}
