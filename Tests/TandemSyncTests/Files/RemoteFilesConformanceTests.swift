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
    enum Mistake: CaseIterable {
        case changesBytes, forgetsResponses, ignoresOffsets, keepsWrongHashes, ignoresETags, hidesDeletes,
            failsWhenTaken
        case fallingProgress, misplaces, sendsUnwanted
    }

    @Test(arguments: Mistake.allCases) func `a server that violates a requirement is detected`(
        mistake: Mistake
    ) async throws {
        let broken = MistakenFiles(mistake)
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

    private struct MistakenFiles: RemoteFiles {
        let mistake: Mistake
        let files = ScriptedFiles()

        init(_ mistake: Mistake) { self.mistake = mistake }

        func upload(
            _ file: OutgoingFile, progress: @escaping @Sendable (Int64) -> Void
        ) async throws(RemoteFailure) -> UploadedFile {
            var file = file
            if mistake == .keepsWrongHashes, (try? file.check()) != nil,
                let bytes = try? await file.bytes.read(at: 0, count: Int(file.size)), bytes.count == Int(file.size)
            {
                file.sha256 = OutgoingFile(id: file.id, name: "", contentType: "", bytes: bytes).sha256
            }
            if mistake == .fallingProgress { progress(file.size) }
            if let announce = file.onPlace {
                if mistake == .misplaces { file.onPlace = { try await announce($0 + "-elsewhere") } }
                if mistake == .sendsUnwanted { file.onPlace = { try? await announce($0) } }
            }
            var uploaded = try await files.upload(file, progress: progress)
            if mistake == .forgetsResponses { uploaded.etag = "\(UUID())" }
            return uploaded
        }

        func download(
            _ file: RemoteFile, from offset: Int64, to take: @escaping @Sendable (FilePiece) async throws -> Void
        ) async throws(RemoteFailure) -> ServedFile {
            var file = file
            if mistake == .ignoresETags { file.etag = nil }
            if mistake == .changesBytes { files.next(.wrongHash, on: .download) }
            do {
                return try await files.download(file, from: mistake == .ignoresOffsets ? 0 : offset, to: take)
            } catch {
                if mistake == .failsWhenTaken, case .file(.receiverFailed(let cause)) = error { throw .lost(cause) }
                throw error
            }
        }

        func delete(_ file: RemoteFile) async throws(RemoteFailure) {
            if mistake != .hidesDeletes { try await files.delete(file) }
        }
    }
}
