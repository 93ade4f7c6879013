import TandemDatasync
import TandemTesting
import Testing

/// The laws of `RemoteFiles`, over sockets.
extension SocketTests {
    @Suite struct FileLawsTests {
        @Test(arguments: RemoteFilesConformance.laws)
        func aLawIsKept(law: RemoteFilesConformance.Law) async throws {
            try await FileSockets.run { files, _ async throws in
                try await law.check(on: files)
            }
        }
    }
}
