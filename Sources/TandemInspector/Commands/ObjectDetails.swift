import Tandem

/// An object with everything that a store knows of it.
package struct ObjectDetails {
    struct File {
        let property: String
        let file: Attachment
        /// The state in words.
        let state: String
    }

    /// The objects that refer to the object by a reference.
    struct Links {
        /// The maximum number of shown IDs.
        static let maximum = 10

        let name: String
        let count: Int
        /// The first IDs.
        let ids: [LocalID]
    }

    let object: DynamicObject
    let files: [File]
    let links: [Links]
    let changes: DynamicChanges?

    /// Reads an object by its local ID, or else by its server ID. Returns nil if there is none.
    init?(model: String, id: String, in store: Store) throws {
        let found =
            try store.object(named: model, localID: LocalID(id), includingDeleted: true)
            ?? store.objects(named: model).includingDeleted().where(.compare("serverID", by: .equal, to: .string(id)))
            .first()
        guard let object = found else { return nil }
        self.object = object
        files = object.attachments.map { property, file in
            File(property: property.name, file: file, state: Self.state(of: file, in: store))
        }
        links = try store.inverseLinks(ofModel: model).map { link in
            let objects = store.objects(linkedBy: link, to: object)
            return Links(
                name: link.description, count: try objects.count(), ids: try objects.limit(Links.maximum).localIDs())
        }
        changes = try store.changes(of: object)
    }

    /// Returns the state of a file in words.
    package static func state(of file: Attachment, in store: Store) -> String {
        do {
            let status = try store.attachments.status(of: file)
            let place = status.isOnDevice ? "on this device" : "not on this device"
            let upload =
                switch status.state {
                case .pending: "not uploaded"
                case .uploading(let sent): "uploading, \(sent) bytes sent"
                case .uploaded: "uploaded"
                case .failed(let reason): "upload failed: \(reason)"
                }
            return "\(place), \(upload)"
        } catch {
            return CommandFailure.message(of: error)
        }
    }
}

extension ObjectDetails {
    func print(on console: Console) throws {
        var table = TextTable(object.model.name, "Value")
        for state in ObjectColumn.State.allCases {
            table.append([state.rawValue, state.value(of: object).cell])
        }
        for (property, value) in object.values { table.append([property.name, value.cell]) }
        try table.print(on: console)
        if !files.isEmpty {
            try console.print()
            var table = TextTable("File of", "Name", "#Bytes", "State")
            for file in files {
                table.append([file.property, file.file.name, file.file.size.map { "\($0)" } ?? "", file.state])
            }
            try table.print(on: console)
        }
        if !links.isEmpty {
            try console.print()
            var table = TextTable("Referred to by", "#Objects", "IDs")
            for link in links {
                let rest = link.count > link.ids.count ? ", …" : ""
                table.append([link.name, "\(link.count)", link.ids.map(\.rawValue).joined(separator: ", ") + rest])
            }
            try table.print(on: console)
        }
        if let changes {
            try console.print()
            try OperationDetails(changes.operation, changes: changes).print(on: console)
        }
    }

    var json: JSONOutput {
        let operation = changes.map { OperationDetails($0.operation, changes: $0).json }
        let members: [(String, JSONOutput)] = [
            ("model", .text(object.model.name)), ("isSynced", .bool(object.isSynced)),
            ("isDeleted", .bool(object.isDeleted)), ("object", .raw(object.json)),
            ("files", .array(files.map(\.json))), ("linkedBy", .array(links.map(\.json))),
            ("operation", operation ?? .null),
        ]
        return .object(members)
    }
}

extension ObjectDetails.File {
    fileprivate var json: JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("property", .text(property)), ("file", JSONOutput(DynamicValue.attachment(file))),
            ("state", .text(state)),
        ]
        return .object(members)
    }
}

extension ObjectDetails.Links {
    fileprivate var json: JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("reference", .text(name)), ("count", .integer(count)),
            ("localIDs", .array(ids.map { JSONOutput.text($0.rawValue) })),
        ]
        return .object(members)
    }
}
