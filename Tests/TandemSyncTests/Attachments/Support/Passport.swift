import Tandem

/// What is nothing without its file.
@Model struct Passport {
    @Folded var holder: String
    var scan: Attachment
}
