import TandemDatasync
import TandemTesting
import Testing

/// The requirements of `RemoteFiles`, checked over sockets.
extension SocketTests {
    @Suite struct FileRequirementsTests {
        @Test(arguments: RemoteFilesConformance.requirements)
        func `files over sockets meet a requirement`(requirement: RemoteFilesConformance.Requirement) async throws {
            try await FileSockets.run { files, _ async throws in
                let outcome = try await requirement.check(on: files)
                #expect(outcome == .met)
            }
        }
    }
}
