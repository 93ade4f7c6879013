import Tandem

/// A model with a required attachment.
@Model struct Passport {
    @Folded var holder: String
    var scan: Attachment
}
