import Foundation
import Tandem
import TandemTesting
import Testing

@testable import TandemSync

/// What is so when everything was sent.
enum FileLaws {
    /// What of a store and its servers is not as it must be.
    ///
    /// - Parameter attached: The bytes of each file, as they were attached.
    static func problems(
        of store: Store, _ remote: ScriptedRemote, _ shelf: PhotoShelf, attached: [FileID: [UInt8]]
    ) async throws -> [String] {
        var problems = try store.checkIntegrity().map { "\($0)" }
        if try store.operations.count() > 0 { problems.append("operations: \(try store.operations.all())") }
        let (pending, unwanted) = try await store.read {
            (try $0.countOfPendingFiles(), try $0.unwantedFiles(at: .distantFuture))
        }
        if pending > 0 { problems.append("\(pending) files wait") }
        if !unwanted.isEmpty { problems.append("to be deleted: \(unwanted)") }
        for receipt in try store.objects(Receipt.self).all() {
            if !receipt.isSynced { problems.append("\(receipt.shop) is not synced") }
            let item = remote.items(in: "Receipt").first { $0.id == receipt.serverID }
            let (photo, scans) = (document(item?[member: "photo"]), document(item?[member: "scans"]))
            if photo != receipt.photo?.__json ?? .null {
                problems.append(
                    "\(receipt.shop): \(String(describing: photo)) for \(String(describing: receipt.photo))")
            }
            if scans != .array(receipt.scans.map(\.__json)) {
                problems.append("\(receipt.shop): \(String(describing: scans)) for \(receipt.scans)")
            }
            for file in [receipt.photo].compactMap({ $0 }) + receipt.scans {
                guard let url = file.serverURL else {
                    problems.append("\(file) has no URL")
                    continue
                }
                if shelf.files[url]?.bytes != attached[file.id] { problems.append("\(file) is another file there") }
                if try store.attachments.status(of: file).isOnDevice,
                    try Array(store.attachments.data(of: file)) != attached[file.id]
                {
                    problems.append("\(file) is another file here")
                }
            }
        }
        // Each byte goes over the line once, whatever was lost.
        let all = attached.values.reduce(0) { $0 + $1.count }
        if shelf.received > all { problems.append("\(shelf.received) bytes were sent, of \(all)") }
        return problems
    }

    /// What a server has, as JSON itself or as its text.
    private static func document(_ node: JSONNode?) -> JSONNode? {
        guard case .text(var text)? = node else { return node }
        return text.withUTF8 { try? ExactJSON.parseWire($0) }
    }
}
