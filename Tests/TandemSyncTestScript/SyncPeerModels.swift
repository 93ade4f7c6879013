import Foundation
import Tandem

/// Whose to-dos some are. The tag, by which tests know it, never changes.
@Model package struct Keeper {
    package var tag: String
    package var name: String?
    package var todos: [Reference<ToDo>] = []
}

@Model package struct ToDo {
    package var tag: String
    @Folded package var title: String
    package var isDone: Bool = false
    package var points: Int = 0
    package var due: Date?
    package var keeper: Reference<Keeper>?
}

/// What has files: one, and a list of them. In the stores of peers that sync files alone.
@Model package struct Album {
    package var tag: String
    package var title: String
    package var cover: Attachment?
    package var pages: [Attachment] = []
}

extension Album {
    /// All of them, in their order.
    package var files: [Attachment] { [cover].compactMap { $0 } + pages }

    /// What a ``PeerAct`` says of it.
    package var words: [String: String] {
        [
            "title": title, "cover": PeerPicture.text(of: [cover].compactMap { $0 }),
            "pages": PeerPicture.text(of: pages),
        ]
    }
}
