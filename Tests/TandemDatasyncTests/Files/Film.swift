import Tandem

/// An object with a file that may be large.
@Model struct Film {
    var title: String
    var file: Attachment?
}
