extension StoreAttachments {
    /// Takes uploaded files off the device, those that were not read for longest first, until they fit the cache. The one
    /// that was downloaded last stays, whatever its size: who has fetched it is about to read it.
    ///
    /// - Complexity: O(files on the device that are uploaded) where they do not fit, one look-up where they do.
    package func trimCache() throws {
        let limit = max(0, store.configuration.attachmentCacheSize)
        let cached = try store.reading { try $0.cached() }
        guard cached.bytes > limit || limit == 0 && cached.count > 0 else { return }
        try store.write { tx in try tx.trimCache(to: limit, sparing: store.files.lastFetched) }
    }
}

extension Connection {
    /// How many files are on this device that a server has too, and their bytes.
    func cached() throws -> (count: Int64, bytes: Int64) {
        let statement = try statement(
            #"SELECT count(*), ifnull(sum("size"), 0) FROM "__files" WHERE "state" = 2 AND "blob" IS NOT NULL"#)
        defer { statement.reset() }
        return try statement.step() ? (statement.integer(0), statement.integer(1)) : (0, 0)
    }
}

extension WriteTransaction {
    /// Takes files off the device until those that a server has fit a size. In none empty ones have no room either.
    func trimCache(to limit: Int64, sparing: FileID? = nil) throws {
        var rest = try connection.cached().bytes
        if let sparing, let file = try connection.file(sparing), file.state == .uploaded, file.blob != nil,
            let size = file.attachment.size, size > limit
        {
            // To let all the others go would not make room for it.
            rest -= size
        }
        guard rest > limit || limit == 0 else { return }
        try connection.note(uses: store.files.takeUses())
        let statement = try connection.uncachedStatement(
            """
            SELECT "id", ifnull("size", 0) FROM "__files" WHERE "state" = 2 AND "blob" IS NOT NULL \
            ORDER BY "usedAt", "id"
            """)
        var evicted: [FileID] = []
        while rest > limit || limit == 0, try statement.step() {
            guard let id = FileID(try statement.text(0)), id != sparing else { continue }
            evicted.append(id)
            rest -= statement.integer(1)
        }
        statement.reset()
        for id in evicted { try evict(id) }
    }

    /// Takes a file off the device, which a server has. Others are left alone.
    ///
    /// - Parameter name: What lies there under this name alone; whatever does if `nil`.
    /// - Returns: Whether it was there.
    @discardableResult
    package func evict(_ id: FileID, only name: String? = nil) throws -> Bool {
        try checkUsable()
        guard let row = try connection.file(id), row.state == .uploaded, let blob = row.blob else { return false }
        guard name == nil || name == blob else { return false }
        try connection.execute(
            #"UPDATE "__files" SET "blob" = NULL, "sealed" = 0 WHERE "id" = ?"#, [.text(id.rawValue)])
        touched.noteFiles()
        return true
    }
}
