import Testing

@testable import Tandem

extension Store {
    /// Runs SQLite's checks of the file and of each search index, and checks the invariants that SQL can express.
    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let check = try sql("PRAGMA integrity_check").map { $0[0] }
        #expect(check == [.text("ok")], sourceLocation: sourceLocation)
        try writer.queue.unsafeReentrantWrite { _ in
            for table in schema.tables {
                if let search = table.definition.searchTable?.quotedSQL {
                    // Rank 1 also compares the index with the table's texts.
                    try writer.connection.execute(
                        "INSERT INTO \(search) (\(search), rank) VALUES ('integrity-check', 1)")
                }
            }
        }
        for table in schema.tables {
            let wrong = try sql(
                """
                SELECT t."localID" FROM \(table.quotedTable) t LEFT JOIN "__operations" o \
                ON o."table" = ? AND o."object" = t."__rid" \
                WHERE t."synced" <> (o."id" IS NULL AND t."serverID" IS NOT NULL) OR (t."deleted" AND o."id" IS NULL)
                """, binding: [.text(table.table)])
            if !table.isLocalOnly {
                #expect(
                    wrong.isEmpty, "\(table.table): synced or deleted, and its operation",
                    sourceLocation: sourceLocation)
            }
            let orphans = try sql(
                """
                SELECT "localID" FROM "__operations" o WHERE "table" = ? AND NOT EXISTS \
                (SELECT 1 FROM \(table.quotedTable) t WHERE t."__rid" = o."object" AND t."localID" = o."localID")
                """, binding: [.text(table.table)])
            #expect(orphans.isEmpty, "\(table.table): operations without an object", sourceLocation: sourceLocation)
            try expectTwins(of: table, sourceLocation)
            try expectLinks(of: table, sourceLocation)
        }
    }

    private func expectTwins(of table: TableLayout, _ sourceLocation: SourceLocation) throws {
        for fold in table.folds {
            let column = table.definition.properties[fold.property].column.quotedSQL
            let search = fold.searchColumn?.quotedSQL ?? "NULL"
            let unique = fold.uniqueColumn?.quotedSQL ?? "NULL"
            let columns = [column, fold.columns[0].quotedSQL, search, unique].joined(separator: ", ")
            for row in try sql("SELECT \(columns) FROM \(table.quotedTable)") {
                guard case .text(let text) = row[0] else {
                    #expect(
                        row[1] == .null && row[2] == .null && row[3] == .null, sourceLocation: sourceLocation)
                    continue
                }
                #expect(row[1] == .blob(collation.key(for: text)), sourceLocation: sourceLocation)
                if fold.uniqueColumn != nil {
                    #expect(row[3] == .text(Folding.caseKey(text)), sourceLocation: sourceLocation)
                }
                if fold.searchColumn != nil {
                    #expect(row[2] == .text(Folding.searchKey(text)), sourceLocation: sourceLocation)
                }
            }
        }
    }

    private func expectLinks(of table: TableLayout, _ sourceLocation: SourceLocation) throws {
        for (link, target) in zip(table.links, table.linkTargets) {
            let property = table.definition.properties[link.property]
            let column = property.column.quotedSQL
            if link.isToMany {
                let links = table.definition.linkTable(property).quotedSQL
                let kept = try sql("SELECT \"object\", \"position\", \"target\" FROM \(links) ORDER BY 1, 2").map(
                    \.values)
                let listed = try sql(
                    """
                    SELECT t."__rid", e.key, e.value FROM \(table.quotedTable) t, json_each(t.\(column)) e \
                    ORDER BY 1, 2
                    """
                ).map(\.values)
                #expect(kept == listed, "\(table.table).\(property.name): link table", sourceLocation: sourceLocation)
            }
            let values = link.isToMany ? "json_each(t.\(column)) e" : "(SELECT 1)"
            let value = link.isToMany ? "e.value" : "t.\(column)"
            let dead = try sql(
                """
                SELECT t."localID" FROM \(table.quotedTable) t, \(values) WHERE t."deleted" = 0 \
                AND \(value) IS NOT NULL \
                AND NOT EXISTS (SELECT 1 FROM \(target.quotedTable) o WHERE o."localID" = \(value) AND o."deleted" = 0)
                """)
            #expect(dead.isEmpty, "\(table.table).\(property.name): dead references", sourceLocation: sourceLocation)
        }
    }
}

/// Checks that a block throws an error with a code, and returns the error.
@discardableResult
func expectError<T>(
    _ code: TandemError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
) -> TandemError? {
    do {
        _ = try body()
        Issue.record("expected \(code), nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as TandemError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
    }
    return nil
}
