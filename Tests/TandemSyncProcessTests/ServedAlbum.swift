import Foundation
import Tandem
import TandemServerCore
import TandemSyncTestScript

/// The expected form of an album on its server.
struct ServedAlbum: Hashable {
    private struct File: Codable, Hashable {
        let id: String
        let name: String
        let size: Int64
        let sha256: String
        let url: String
    }

    private let serverID: String
    private let tag: String
    private let title: String
    private let cover: File?
    private let pages: [File]

    init(_ album: Album) {
        (serverID, tag, title) = (album.serverID?.rawValue ?? "none", album.tag, album.title)
        (cover, pages) = (album.cover.map(Self.file), album.pages.map(Self.file))
    }

    private static func file(_ attachment: Attachment) -> File {
        File(
            id: attachment.id.rawValue, name: attachment.name, size: attachment.size ?? -1,
            sha256: attachment.sha256?.hex ?? "", url: attachment.serverURL ?? "none")
    }

    init(_ row: ServerRow) throws {
        func text(_ name: String) -> String? { if case .text(let text)? = row.members[name] { text } else { nil } }
        (serverID, tag, title) = (row.id, text("tag") ?? "", text("title") ?? "")
        cover = try text("cover").map { try JSONDecoder().decode(File.self, from: Data($0.utf8)) }
        pages = try text("pages").map { try JSONDecoder().decode([File].self, from: Data($0.utf8)) } ?? []
    }
}
