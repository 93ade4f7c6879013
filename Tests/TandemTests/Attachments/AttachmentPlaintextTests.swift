import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// A store with a key never writes a file's bytes or name in plain text, not even temporarily or elsewhere.
@Suite(.startsProcesses, .ownThreads) struct AttachmentPlaintextTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let strace = "/usr/bin/strace"

    /// Whether processes can be traced here.
    private static let canTrace: Bool = {
        guard FileManager.default.isExecutableFile(atPath: strace) else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: strace)
        process.arguments = ["-f", "-o", "/dev/null", "/bin/true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(.enabled(if: canTrace, "strace is needed"), arguments: StoreKind.files)
    func `no write of a process contains a file's bytes or name`(kind: StoreKind) throws {
        let content = "S3CR3T-CONTENT"
        let secret = folder.file("S3CR3T-NAME.jpg")
        try Data(String(repeating: content + " ", count: 20_000).utf8).write(to: URL(fileURLWithPath: secret))
        let trace = folder.file("trace")
        // Read calls are left out, because opening the source needs its name. Only the log's index is mapped.
        let calls = "write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,splice,rename,renameat,renameat2"
        let peer = try PeerProcess(
            under: [Self.strace, "-f", "-qq", "-s", "2000000", "-o", trace, "-e", "trace=\(calls)"],
            ["exposeFiles", folder.file(kind), secret], in: folder)
        #expect(peer.wait() == 0)
        #expect(peer.lines == ["done"])
        let written = try Data(contentsOf: URL(fileURLWithPath: trace))
        for text in [content, "S3CR3T-NAME"] {
            // The control: the text is found in a plain store.
            #expect(written.shows(text) == (kind == .file), "\(text)")
        }
    }
}
