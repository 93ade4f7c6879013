/// The SQL by which files that nobody uses any more leave the store.
enum FileGarbage {
    /// What was given to an object again is none.
    static let keepUsed = #"DELETE FROM "__file_garbage" WHERE "file" IN (SELECT "file" FROM "__file_uses")"#
    /// The blobs that are to go.
    static let blobs = """
        SELECT f."blob" FROM "__file_garbage" g JOIN "__files" f ON f."id" = g."file" WHERE f."blob" IS NOT NULL
        """
    static let forgetFiles = #"DELETE FROM "__files" WHERE "id" IN (SELECT "file" FROM "__file_garbage")"#
    static let empty = #"DELETE FROM "__file_garbage""#
}
