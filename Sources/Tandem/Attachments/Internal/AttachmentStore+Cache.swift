extension AttachmentStore {
    /// Evicts uploaded files from the device, least recently read first, until they fit the cache. The last downloaded
    /// file stays, whatever its size, because it is about to be read.
    ///
    /// - Complexity: O(files on the device that are uploaded) if they do not fit, otherwise one look-up.
    package func trimCache() throws {
        let limit = max(0, store.configuration.attachmentCacheSize)
        let cached = try store.reading { try $0.cached() }
        guard cached.bytes > limit || limit == 0 && cached.count > 0 else { return }
        try store.write { tx in try tx.trimCache(to: limit, sparing: store.files.lastFetched) }
    }
}

extension Connection {
    /// Returns the number and the size of the files on this device that a server also has.
    func cached() throws -> (count: Int64, bytes: Int64) {
        try rows(
            #"SELECT count(*), ifnull(sum("size"), 0) FROM "__files" WHERE "state" = 2 AND "blob" IS NOT NULL"#
        ) { ($0.integer(0), $0.integer(1)) }.first ?? (0, 0)
    }
}

extension WriteTransaction {
    /// Evicts uploaded files until they fit a size. If the size is 0, empty files are evicted too.
    func trimCache(to limit: Int64, sparing: FileID? = nil) throws {
        var rest = try connection.cached().bytes
        if let sparing, let file = try connection.file(sparing), file.state == .uploaded, file.blob != nil,
            let size = file.attachment.size, size > limit
        {
            // Evicting all other files would not make room for it.
            rest -= size
        }
        guard rest > limit || limit == 0 else { return }
        try connection.record(uses: store.files.drainUses())
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

    /// Evicts a file from the device that a server has. Other files stay.
    ///
    /// - Parameter name: The only blob name to evict, or `nil` for any.
    /// - Returns: Whether the file was on the device.
    @discardableResult
    package func evict(_ id: FileID, only name: String? = nil) throws -> Bool {
        try checkUsable()
        guard let row = try connection.file(id), row.state == .uploaded, let blob = row.blob else { return false }
        guard name == nil || name == blob else { return false }
        try connection.execute(
            #"UPDATE "__files" SET "blob" = NULL, "sealed" = 0 WHERE "id" = ?"#, binding: [.text(id.rawValue)])
        touched.recordFiles()
        return true
    }
}
