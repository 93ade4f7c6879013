import Foundation
import Tandem
import TandemTesting
import Testing

@testable import TandemSync

/// The conditions that hold after a complete sync.
enum FileInvariants {
    /// Returns the violations of a store and its servers.
    ///
    /// - Parameters:
    ///   - attached: The bytes of each file, as they were attached.
    ///   - sendsTwice: Whether a file may have been sent, deleted, and sent again.
    static func problems(
        of store: Store, _ remote: ScriptedRemote, _ fileServer: PhotoServer, attached: [FileID: [UInt8]],
        sendsTwice: Bool = false
    ) async throws -> [String] {
        var problems = try store.checkIntegrity().map { "\($0)" }
        if try store.operations.count() > 0 { problems.append("operations: \(try store.operations.all())") }
        let (pending, unwanted) = try await store.read {
            (try $0.countOfPendingFiles(), try $0.unwantedFiles())
        }
        if pending > 0 { problems.append("\(pending) files wait") }
        if !unwanted.isEmpty { problems.append("to be deleted: \(unwanted)") }
        for receipt in try await store.objects(Receipt.self).all() {
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
                problems += try self.problems(of: file, store, fileServer, attached)
            }
        }
        // Each byte is sent once, whatever was lost.
        let all = attached.values.reduce(0) { $0 + $1.count }
        if !sendsTwice, fileServer.received > all {
            problems.append("\(fileServer.received) bytes were sent, of \(all)")
        }
        guard store.models.contains(where: { $0.name == "Passport" }) else { return problems }
        for passport in try await store.objects(Passport.self).all() {
            if !passport.isSynced { problems.append("\(passport.holder) is not synced") }
            let item = remote.items(in: "Passport").first { $0.id == passport.serverID }
            if document(item?[member: "scan"]) != passport.scan.__json {
                problems.append("\(passport.holder): \(String(describing: item)) for \(passport.scan)")
            }
            problems += try self.problems(of: passport.scan, store, fileServer, attached)
        }
        return problems
    }

    private static func problems(
        of file: Attachment, _ store: Store, _ fileServer: PhotoServer, _ attached: [FileID: [UInt8]]
    ) throws -> [String] {
        guard let url = file.serverURL else { return ["\(file) has no URL"] }
        var problems: [String] = []
        if fileServer.files[url]?.bytes != attached[file.id] { problems.append("\(file) is another file there") }
        if try store.attachments.status(of: file).isOnDevice,
            try Array(store.attachments.data(of: file)) != attached[file.id]
        {
            problems.append("\(file) is another file here")
        }
        return problems
    }

    /// Returns a server's value, from JSON itself or from its text.
    static func document(_ node: JSONNode?) -> JSONNode? {
        guard case .text(var text)? = node else { return node }
        return text.withUTF8 { try? ExactJSON.parseWire($0) }
    }
}
