import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// Encodes requests. Throws ``RequestEncodingError`` for values that can't be encoded, before anything is sent.
struct KintoRequestEncoder: Sendable {
    let paths: KintoPaths
    let limits: ResponseLimits

    private var coding: KintoItemCoding { KintoItemCoding(limits: limits) }
}

// MARK: - Writes

extension KintoRequestEncoder {
    /// Encodes a write. An insert is a `PUT` if the item has an ID, else a `POST`.
    func write(_ request: RemoteRequest) throws(RequestEncodingError) -> KintoRequest {
        let (kind, item) = (request.kind, request.item)
        var write = KintoRequest(
            method: .put, path: paths.records(item.table), fields: [.ifNoneMatch: "*"], table: item.table,
            purpose: .write(kind, id: item.id))
        if kind == .insert {
            write.body = try coding.whole(item)
            if item.id == nil {
                try check(item.table)
                (write.method, write.fields) = (.post, [:])
                return write
            }
        }
        write.path = paths.record(try id(of: item), in: item.table)
        switch kind {
        case .insert: break
        case .update:
            write.method = .patch
            write.fields = try precondition(of: item)
            write.body = try coding.patch(item)
        case .delete:
            write.method = .delete
            write.fields = try precondition(of: item)
        case .undelete:
            // Kinto does not compare a precondition with a tombstone. The version is only checked, and
            // `If-None-Match: *` only ensures that the record is still deleted.
            _ = try precondition(of: item)
            write.body = try coding.whole(item)
        }
        return write
    }
}

// MARK: - Reads

extension KintoRequestEncoder {
    /// Encodes the request for a list of records.
    func list(_ table: RemoteTableName, query: KintoQuery, limit: Int, sort: String?) -> KintoRequest {
        var options = query.options
        if let sort { options.append("_sort=\(sort)") }
        options.append("_limit=\(limit)")
        return KintoRequest(
            method: .get, path: paths.records(table), query: options, table: table, purpose: .list)
    }

    /// Encodes the request for the number of records.
    func count(_ table: RemoteTableName, query: KintoQuery) -> KintoRequest {
        KintoRequest(
            method: .head, path: paths.records(table), query: query.options, table: table, purpose: .resource)
    }

    /// Encodes the look-up of one record, deleted or not. Only a list has tombstones.
    func find(_ table: RemoteTableName, key: RemoteKey) throws(RequestEncodingError) -> KintoRequest {
        try check(table)
        var query = KintoQuery()
        switch key {
        case .id(let id):
            try check(id, in: table)
            try query.add(.comparison(.id, by: .equal, to: .text(id.rawValue)))
        case .property(let name, let value):
            try query.add(.comparison(RemoteFilter.Member(name), by: .equal, to: .text(value)))
        }
        query.since = 0
        // Two, to detect a property that matches several records.
        return list(table, query: query, limit: 2, sort: nil)
    }

    /// Encodes the request for the tag of a list.
    func tag(_ table: RemoteTableName, known: String?) -> KintoRequest {
        var request = KintoRequest(
            method: .get, path: paths.records(table), query: ["_limit=1", "_fields=id"], table: table,
            purpose: .list)
        if let known { request.fields[.ifNoneMatch] = "\"\(known)\"" }
        return request
    }
}

// MARK: - Parts

extension KintoRequestEncoder {
    /// Checks that a table's name can name a collection.
    func check(_ table: RemoteTableName) throws(RequestEncodingError) {
        guard KintoPaths.isName(paths.bucket), KintoPaths.isName(table.rawValue) else {
            throw RequestEncodingError(
                .memberName,
                message: "The names of a bucket and a collection have ASCII letters, digits, '-' and '_' only.",
                table: table)
        }
    }

    private func check(_ id: ServerID, in table: RemoteTableName) throws(RequestEncodingError) {
        guard KintoPaths.isName(id.rawValue, limit: limits.id) else {
            throw RequestEncodingError(
                .invalidID,
                message: "An ID in Kinto has 1 to \(limits.id) ASCII letters, digits, '-' and '_', and begins with a "
                    + "letter or digit.",
                table: table)
        }
    }

    private func id(of item: OutgoingItem) throws(RequestEncodingError) -> ServerID {
        try check(item.table)
        guard let id = item.id else {
            throw RequestEncodingError(.missingID, message: "The item has no ID on the server.", table: item.table)
        }
        try check(id, in: item.table)
        return id
    }

    /// Returns the path of a record.
    func path(of id: ServerID, in table: RemoteTableName) throws(RequestEncodingError) -> String {
        try check(table)
        try check(id, in: table)
        return paths.record(id, in: table)
    }

    private func precondition(of item: OutgoingItem) throws(RequestEncodingError) -> HTTPFields {
        guard let version = item.version, !version.isEmpty else { return [:] }
        guard let milliseconds = KintoTime.milliseconds(inTag: version), version == String(milliseconds) else {
            throw RequestEncodingError(
                .invalidVersion, message: "A version in Kinto is a number of milliseconds.", table: item.table)
        }
        return [.ifMatch: "\"\(version)\""]
    }
}
