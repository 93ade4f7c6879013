import Tandem
import TandemSyncTestScript

/// The state from which a random act on albums is chosen, in one transaction.
struct AlbumSnapshot {
    let albums: [Album]
    let deleted: [Album]
    /// The files that are in no album yet.
    let fresh: [Attachment]

    func act(_ tag: String, _ tx: WriteTransaction) throws {
        let choice = Int.random(in: 0..<100)
        guard let album = albums.randomElement(), choice >= 20 || albums.count > 12 else {
            return try insert(Album(tag: tag, title: tag, cover: fresh.first, pages: Array(fresh.dropFirst())), tx)
        }
        switch choice {
        case ..<40: try edit(album, tx) { $0.cover = fresh.first }
        case ..<52: try edit(album, tx) { $0.pages += fresh }
        case ..<56: try edit(album, tx) { $0.pages += [$0.cover].compactMap { $0 } }
        case ..<64:
            try edit(album, tx) { album in
                guard let index = album.pages.indices.randomElement() else { return }
                album.pages.replaceSubrange(index...index, with: fresh)
            }
        case ..<72:
            // The albums share the files.
            try insert(Album(tag: tag, title: tag, cover: album.cover, pages: album.pages.shuffled()), tx)
        case ..<78: try edit(album, tx) { $0.title = tag }
        case ..<82:
            guard let album = deleted.randomElement() else { return }
            try say(.insert, album)
            try tx.undelete(album)
        default:
            SyncPeerMain.say("try " + (try PeerAct(.delete, "Album", album.tag).line()))
            try tx.delete(album)
        }
    }

    private func insert(_ album: Album, _ tx: WriteTransaction) throws {
        try say(.insert, album)
        try tx.insert(album)
    }

    private func edit(_ album: Album, _ tx: WriteTransaction, _ body: (inout Album) -> Void) throws {
        var changed = album
        body(&changed)
        // An acknowledged file that is removed from a live album is not deleted on the server.
        for file in Set(album.files).subtracting(changed.files) where file.serverURL != nil {
            SyncPeerMain.say("leaving \(file.name)")
        }
        try say(.edit, changed)
        try tx.update(Album.self, localID: album.localID) {
            ($0.title, $0.cover, $0.pages) = (changed.title, changed.cover, changed.pages)
        }
    }

    private func say(_ kind: PeerAct.Kind, _ album: Album) throws {
        let act = PeerAct(kind, "Album", album.tag, album.words)
        SyncPeerMain.say("try " + (try act.line()))
    }
}
