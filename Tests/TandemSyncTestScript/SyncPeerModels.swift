import Foundation
import Tandem

/// The owner of some to-dos. Its tag, by which tests find it, never changes.
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

/// A model with files: one attachment, and a list. Only the stores of peers that sync files have it.
@Model package struct Album {
    package var tag: String
    package var title: String
    package var cover: Attachment?
    package var pages: [Attachment] = []
}

extension Album {
    /// All files, in their order.
    package var files: [Attachment] { [cover].compactMap { $0 } + pages }

    /// The values as a ``PeerAct`` contains them.
    package var words: [String: String] {
        [
            "title": title, "cover": PeerPicture.text(of: [cover].compactMap { $0 }),
            "pages": PeerPicture.text(of: pages),
        ]
    }
}
