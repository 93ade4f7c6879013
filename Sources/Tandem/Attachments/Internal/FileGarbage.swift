/// The SQL that removes unused files from the store.
enum FileGarbage {
    /// Keeps the files that an object uses again.
    static let keepUsed = """
        DELETE FROM "__file_garbage" \
        WHERE EXISTS (SELECT 1 FROM "__file_uses" u WHERE u."file" = "__file_garbage"."file")
        """
    /// A trigger records their blobs in the folder as left over.
    static let forgetFiles = #"DELETE FROM "__files" WHERE "id" IN (SELECT "file" FROM "__file_garbage")"#
    static let empty = #"DELETE FROM "__file_garbage""#

    static let hasAny = #"SELECT 1 FROM "__file_garbage" LIMIT 1"#
    static let hasLeftovers = #"SELECT 1 FROM "__file_leftovers" LIMIT 1"#
    /// The blobs in the folder that no row names. A name returns with a row only if the removal is rolled back.
    static let leftovers = """
        SELECT l."blob" FROM "__file_leftovers" l \
        WHERE NOT EXISTS (SELECT 1 FROM "__files" f WHERE f."blob" = l."blob")
        """
    static let addLeftover = #"INSERT OR IGNORE INTO "__file_leftovers" VALUES (?)"#
    static let strikeLeftover = #"DELETE FROM "__file_leftovers" WHERE "blob" = ?"#
    static let isNamed = #"SELECT 1 FROM "__files" WHERE "blob" = ?"#
}
