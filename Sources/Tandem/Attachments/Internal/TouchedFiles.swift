import Foundation

/// The effects of a write transaction on files, until its commit.
final class TouchedFiles: TransactionSlot {
    /// The drafts that it has written.
    var drafts: [FileID: AttachmentDraft] = [:]
    /// The files that it has registered.
    var admitted: Set<FileID> = []

    /// The drafts whose files rows own after the commit.
    var adopted: [AttachmentDraft] = []
    /// The removed left-over files whose records the commit deletes.
    var removed: Set<String> = []
    /// Whether left-over files are to be removed after the commit.
    var hasLeftovers = false
}

extension WriteTransaction {
    /// The transaction's effects on files.
    var files: TouchedFiles { slot(TouchedFiles.self) }
}

extension Connection {
    /// Stores the times of the last reads of files.
    func record(uses: [FileID: Date]) throws {
        for (id, date) in uses {
            try execute(
                #"UPDATE "__files" SET "usedAt" = ? WHERE "id" = ?"#,
                binding: [.real(date.timeIntervalSinceReferenceDate), .text(id.rawValue)])
        }
    }
}
