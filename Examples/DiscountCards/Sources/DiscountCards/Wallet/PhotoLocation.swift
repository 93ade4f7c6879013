import Foundation
import Tandem

/// The locations of a card's photograph: this device, the server, or both.
struct PhotoLocation {
    private let status: AttachmentStatus
    private let disk: URL?
    private let serverURL: String?
    private let isEncrypted: Bool

    init(of photo: Attachment, in store: Store) throws {
        status = try store.attachments.status(of: photo)
        disk = try store.attachments.diskURL(of: photo)
        serverURL = photo.serverURL
        isEncrypted = store.isEncrypted
    }

    /// Whether no server has the photograph yet.
    var isWaiting: Bool { status.state != .uploaded }

    /// The file's path relative to the store's folder, abbreviated.
    var words: String {
        guard let disk else { return serverURL ?? "nowhere" }
        let folder = disk.deletingLastPathComponent()
        let name = disk.lastPathComponent
        return "\(folder.lastPathComponent)/\(name.prefix(8))…\(name.suffix(4))"
    }

    /// A line for each location.
    var lines: [String] {
        let here = disk.map { "on this device: \($0.path)\(isEncrypted ? " (encrypted)" : "")" } ?? "not on this device"
        let there =
            switch status.state {
            case .pending: "not on the server yet: it waits to be uploaded"
            case .uploading(let sent): "on its way to the server: \(sent.grouped) bytes are there"
            case .uploaded: "on the server: \(serverURL ?? "–")"
            case .failed(let reason): "not on the server: \(reason)"
            }
        return [here, there]
    }
}
