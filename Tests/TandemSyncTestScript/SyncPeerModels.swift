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
