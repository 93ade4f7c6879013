import TandemDatasync
import TandemTesting
import Testing

/// The requirements of `RemoteFiles`, checked over sockets.
extension SocketTests {
    @Suite struct FileLawsTests {
        @Test(arguments: RemoteFilesConformance.laws)
        func `files over sockets meet a requirement`(law: RemoteFilesConformance.Law) async throws {
            try await FileSockets.run { files, _ async throws in
                try await law.check(on: files)
            }
        }
    }
}
