import Foundation
import Synchronization
import TandemDatasync
import TandemSync

/// Does one thing with files by signed addresses, for `Scripts/interop-s3.py`: prints what came of it on a line.
///
///     put URL PATH CHECKSUM     with CHECKSUM one of `signed` and `none`; prints the ETag
///     get URL PATH OFFSET ETAG  writes what follows the offset to PATH; prints the size; an ETag of `-` is none
///     delete URL
///     sync SIGNER FOLDER        synchronizes two stores in FOLDER; SIGNER is a host and a port where
///                               `GET /METHOD/KEY` answers with a signed address
@main struct SignedFilesPeerMain {
    static func main() async {
        do {
            print(try await run(Array(CommandLine.arguments.dropFirst())))
        } catch let failure as RemoteFailure {
            print("failed: \(failure)")
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    private static func run(_ words: [String]) async throws -> String {
        guard words.count >= 2 else { throw CocoaError(.coderInvalidValue) }
        if words[0] == "sync" { return try await SyncedPhotos(signer: words[1]).run(in: words[2]) }
        let transport = try AsyncHTTPTransport()
        let url = words[1]
        let checksum = words.count > 3 ? words[3] : "none"
        let files = SignedURLFiles(over: transport) { file in
            var request = SignedRequest(url: url)
            if checksum != "none" { request.fields[.init("x-amz-checksum-sha256")!] = file.sha256Base64 }
            return SignedUpload(request)
        } download: { _ in
            SignedRequest(url: url)
        } delete: { _ in
            SignedRequest(url: url)
        }
        switch words[0] {
        case "put":
            let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: words[2])))
            let file = OutgoingFile(
                id: "00112233445566778899aabbccddeeff", name: "чек.jpg", contentType: "image/jpeg", bytes: bytes)
            return try await files.upload(file).etag ?? "-"
        case "get":
            let received = Mutex(Data())
            let etag = words[4] == "-" ? nil : words[4]
            let served = try await files.download(RemoteFile(url: url, etag: etag), from: Int64(words[3]) ?? 0) {
                piece in
                received.withLock { $0.append(contentsOf: piece.bytes) }
            }
            try received.withLock { try $0.write(to: URL(fileURLWithPath: words[2])) }
            return String(served.size)
        default:
            try await files.delete(RemoteFile(url: url))
            return "deleted"
        }
    }
}
