import Foundation
import TandemTesting
import Testing

@testable import Tandem

// Swift Testing has a type of this name too.
typealias Attachment = Tandem.Attachment

@Model struct Album {
    @Folded var title: String
    var cover: Attachment?
    var pages: [Attachment] = []
    @LocalOnly var sketch: Attachment?
}

@Model struct ScanSlip {
    var note: String = ""
    var scan: Attachment?
}

@Model struct BoundScan {
    var scan: Attachment
}

@Model(.localOnly) struct Scribble {
    var picture: Attachment?
}

extension Store {
    /// Returns the names of the files in the store's folder.
    func blobs() throws -> Set<String> {
        var blobs: Set<String> = []
        try fileFolder().eachBlob { blobs.insert($0.rawValue) }
        return blobs
    }

    /// Returns the IDs of all files in the store's tables.
    func knownFiles() throws -> [String] {
        try sql("SELECT id FROM __files ORDER BY id").compactMap { $0[0].string }
    }

    /// Returns the uses of files by rows.
    func fileUses() throws -> Set<String> {
        try Set(
            sql("SELECT file, \"table\", object, sent FROM __file_uses").map {
                "\($0[1].string ?? "") \($0[2].int ?? 0) \($0[0].string ?? "")\($0[3] == .integer(1) ? "" : " here")"
            })
    }

    /// Checks that each row has its file and each file its row, and that the store has no other damage.
    func expectFilesInOrder(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try checkIntegrity() == [], sourceLocation: sourceLocation)
        let named = try Set(sql("SELECT blob FROM __files WHERE blob IS NOT NULL").compactMap { $0[0].string })
        #expect(try blobs() == named, sourceLocation: sourceLocation)
        #expect(try sql("SELECT file FROM __file_garbage").isEmpty, sourceLocation: sourceLocation)
    }

    /// Attaches a text's bytes.
    func attach(_ text: String, name: String = "фото.jpg") throws -> Attachment {
        try attachments.add(Data(text.utf8), name: name)
    }

    /// Returns a file's bytes as text.
    func text(of attachment: Attachment?) throws -> String? {
        try attachment.map { String(decoding: try attachments.data(of: $0), as: UTF8.self) }
    }
}

/// Returns a value as a row or a server has it, without the object that keeps its file.
func stored(_ attachment: Attachment, at url: String? = nil) -> Attachment {
    Attachment(
        id: attachment.id, name: attachment.name, contentType: attachment.contentType, size: attachment.size,
        sha256: attachment.sha256, serverURL: url ?? attachment.serverURL)
}

func someFileID() -> FileID {
    var generator = SystemRandomNumberGenerator()
    return FileID.random(using: &generator)
}
