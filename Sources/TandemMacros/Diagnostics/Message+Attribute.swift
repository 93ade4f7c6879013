import SwiftDiagnostics

/// Messages about attributes.
extension Message {
    static func outsideModel(_ marker: Marker) -> Message {
        Message("outsideModel", message: "\(marker.attribute) is only valid in a struct marked @Model")
    }

    static func notAProperty(_ marker: Marker) -> Message {
        Message("notAProperty", message: "\(marker.attribute) belongs to a stored property")
    }

    static func notStored(_ marker: Marker, name: String, reason: String) -> Message {
        Message("notStored", message: "\(marker.attribute) belongs to a stored property: '\(name)' \(reason)")
    }

    static func repeated(_ marker: Marker) -> Message {
        Message("repeated", message: "\(marker.attribute) is repeated")
    }

    static func foldedNeedsText(_ name: String, type: String) -> Message {
        Message("foldedNeedsText", message: "only a String can be folded: '\(name)' is '\(type)'")
    }

    static let foldedUse = Message(
        "foldedUse", message: "write '.searched' or '.sorted' literally: a macro sees only the text")

    static func notAReference(_ name: String, type: String) -> Message {
        Message("notAReference", message: "@OnDelete belongs to a reference: '\(name)' is '\(type)'")
    }

    static func needsDefault(_ name: String) -> Message {
        Message(
            "needsDefault", message: "'\(name)' is not stored, so it needs a default value for objects that are read")
    }

    static let uniqueUse = Message(
        "uniqueUse", message: "write '.exact' or '.folded' literally: a macro sees only the text")

    static func uniqueNeedsFolded(_ name: String) -> Message {
        Message("uniqueNeedsFolded", message: "@Unique(.folded) compares folded texts: add @Folded to '\(name)'")
    }

    static let redundantIndex = Message(
        "redundantIndex", message: "@Unique creates an index itself: @Indexed is redundant", severity: .warning)

    static func manyValues(_ subject: String, name: String) -> Message {
        Message("manyValues", message: "\(subject) needs one value for each object: '\(name)' has many")
    }

    static func renamedToItself(_ name: String) -> Message {
        Message("renamedToItself", message: "'\(name)' is the current name: @Renamed needs a former name")
    }

    static let renamedFromNothing = Message("renamedFromNothing", message: "@Renamed needs a former name")
}
