/// The encoding of a file name in `Content-Disposition`, by RFC 8187.
package enum FileName {
    /// Returns the field's value: ASCII without line breaks, for any name.
    package static func disposition(_ name: String) -> String {
        "attachment; filename*=UTF-8''" + PathText.segment(name)
    }
}
