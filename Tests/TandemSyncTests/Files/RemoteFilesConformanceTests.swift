import DatasyncWire
import Foundation
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The requirements of `RemoteFiles`, tested on all implementations without a socket. A server that violates one is
/// detected.
@Suite(.ownThreads) struct RemoteFilesConformanceTests {
    enum Kind: CaseIterable {
        case scripted, tandem, signed, closures

        func make() throws -> any RemoteFiles {
            switch self {
            case .scripted: ScriptedFiles()
            case .tandem: TandemFiles(ServerAddress("http://shop.example")!, over: try InProcessFileTransport())
            case .signed: FakeStorage().files
            case .closures: Self.closures(over: ScriptedFiles())
            }
        }

        static func closures(over files: any RemoteFiles) -> ClosureFiles {
            ClosureFiles { file, progress in
                try await files.upload(file, progress: progress)
            } download: { file, offset, take in
                try await files.download(file, from: offset, to: take)
            } delete: { file in
                try await files.delete(file)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: Kind.allCases, RemoteFilesConformance.requirements)
    func `a requirement is met`(kind: Kind, requirement: RemoteFilesConformance.Requirement) async throws {
        try await requirement.check(on: try kind.make())
    }

    /// Violations that a requirement must detect.
    enum Slip: CaseIterable {
        case changesBytes, forgetsAnswers, ignoresOffsets, keepsWrongHashes, ignoresETags, hidesDeletes, failsWhenTaken
        case fallingProgress, misplaces, sendsUnwanted
    }

    @Test(arguments: Slip.allCases) func `a server that violates a requirement is detected`(slip: Slip) async throws {
        let broken = SlippingFiles(slip)
        var violations = 0
        for requirement in RemoteFilesConformance.requirements {
            do {
                try await requirement.check(on: broken)
            } catch let violation as ConformanceViolation {
                violations += 1
                #expect(violation.description.contains(requirement.name))
            }
        }
        #expect(violations > 0)
    }

    private struct SlippingFiles: RemoteFiles {
        let slip: Slip
        let files = ScriptedFiles()

        init(_ slip: Slip) { self.slip = slip }

        func upload(
            _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
        ) async throws(RemoteFailure) -> UploadedFile {
            var file = file
            if slip == .keepsWrongHashes, (try? file.check()) != nil,
                let bytes = try? await file.bytes.read(at: 0, count: Int(file.size)), bytes.count == Int(file.size)
            {
                file.sha256 = OutgoingFile(id: file.id, name: "", contentType: "", bytes: bytes).sha256
            }
            if slip == .fallingProgress { progress(file.size) }
            if let tell = file.onPlace {
                if slip == .misplaces { file.onPlace = { try await tell($0 + "-elsewhere") } }
                if slip == .sendsUnwanted { file.onPlace = { try? await tell($0) } }
            }
            var uploaded = try await files.upload(file, progress: progress)
            if slip == .forgetsAnswers { uploaded.etag = "\(UUID())" }
            return uploaded
        }

        func download(
            _ file: RemoteFile, from offset: Int64, to take: @escaping @Sendable (FilePiece) async throws -> Void
        ) async throws(RemoteFailure) -> ServedFile {
            var file = file
            if slip == .ignoresETags { file.etag = nil }
            if slip == .changesBytes { files.next(.wrongHash, on: .download) }
            do {
                return try await files.download(file, from: slip == .ignoresOffsets ? 0 : offset, to: take)
            } catch {
                if slip == .failsWhenTaken, case .file(.notTaken(let cause)) = error { throw .lost(cause) }
                throw error
            }
        }

        func delete(_ file: RemoteFile) async throws(RemoteFailure) {
            if slip != .hidesDeletes { try await files.delete(file) }
        }
    }
}
