import Foundation
import PageServer
import Tandem

/// The objects that a delete removes, and the references that it removes from others.
///
/// An object that the server has stored is only marked until the server has confirmed the delete. An object that was
/// never sent is removed with its files. So its values and its files are kept here.
struct DeletedObjects: Sendable {
    /// A reference that the delete removes.
    private struct Link: Sendable {
        let model: String
        let holder: LocalID
        let property: String
        let value: DynamicValue
        /// The model of the deleted objects to which the reference leads.
        let target: String
    }

    /// The identity of an object in all models.
    private struct Key: Hashable {
        let model: String
        let id: LocalID
    }

    /// The deleted object, then those that are deleted with it.
    private let objects: [DynamicObject]
    private let links: [Link]
    private let files: [FileID: Data]

    /// The deleted object.
    var root: DynamicObject { objects[0] }

    /// Reads the objects that the delete of an object will affect. Returns nil if there are too many.
    ///
    /// - Parameters:
    ///   - root: The object.
    ///   - store: The store, in a write block.
    ///   - limits: The numbers of objects and of bytes.
    init?(_ root: DynamicObject, in store: Store, limits: BrowserLimits) throws {
        var objects = [root]
        var links: [Link] = []
        var known: Set<Key> = [Key(model: root.model.name, id: root.localID)]
        var position = 0
        while position < objects.count {
            let object = objects[position]
            position += 1
            for link in try store.inverseLinks(ofModel: object.model.name) {
                let limit = limits.undoneObjects + 1
                for holder in try store.objects(linkedBy: link, to: object).limit(limit).all() {
                    guard objects.count + links.count <= limits.undoneObjects else { return nil }
                    if link.property.deleteRule == .cascade {
                        let key = Key(model: link.source.name, id: holder.localID)
                        if known.insert(key).inserted { objects.append(holder) }
                    } else {
                        links.append(
                            Link(
                                model: link.source.name, holder: holder.localID, property: link.property.name,
                                value: holder[link.property.name] ?? .null, target: object.model.name))
                    }
                }
            }
        }
        self.objects = objects
        self.links = links
        files = try Self.files(of: objects, in: store, limit: limits.undoneFiles)
    }

    /// Reads the files of objects that the server does not know, up to a number of bytes.
    private static func files(of objects: [DynamicObject], in store: Store, limit: Int) throws -> [FileID: Data] {
        var files: [FileID: Data] = [:]
        var rest = limit
        for object in objects where object.serverID == nil {
            for (_, file) in object.attachments {
                guard let size = file.size, size <= rest, try store.attachments.status(of: file).isOnDevice else {
                    continue
                }
                files[file.id] = try store.attachments.data(of: file)
                rest -= Int(size)
            }
        }
        return files
    }

    /// Restores the objects and the references.
    ///
    /// - Returns: The deleted object.
    /// - Throws: ``WebFailure`` if a file of a removed object was not kept; an error of the store, for example because
    ///   another object has a unique value now.
    func restore(in store: Store, transaction: WriteTransaction) throws -> DynamicObject {
        for object in objects { try restore(object, in: store, transaction: transaction) }
        let deleted = Set(objects.map { Key(model: $0.model.name, id: $0.localID) })
        for link in links {
            guard let holder = try store.object(named: link.model, localID: link.holder),
                let current = holder[link.property], Self.isLeft(current, of: link, without: deleted)
            else { continue }
            try transaction.update(link.model, localID: link.holder, values: [link.property: link.value])
        }
        guard let root = try store.object(named: root.model.name, localID: root.localID) else { throw Undo.changed }
        return root
    }

    private func restore(_ object: DynamicObject, in store: Store, transaction: WriteTransaction) throws {
        let model = object.model.name
        do {
            try transaction.undelete(model, localID: object.localID)
        } catch TandemError.Code.objectNotDeleted {
            return
        } catch TandemError.Code.notFound {
            var values: [String: DynamicValue] = [:]
            for (property, value) in object.values { values[property.name] = try withFiles(value, in: store) }
            try transaction.insert(model, values: values, localID: object.localID)
        }
    }

    /// Returns whether only the delete has changed the value of a reference or a list.
    private static func isLeft(_ current: DynamicValue, of link: Link, without deleted: Set<Key>) -> Bool {
        switch (current, link.value) {
        case (.null, .reference): return true
        case (.references(let current), .references(let before)):
            return before.filter { !deleted.contains(Key(model: link.target, id: $0)) } == current
        default: return false
        }
    }

    /// Returns a value with files that are in the store again.
    private func withFiles(_ value: DynamicValue, in store: Store) throws -> DynamicValue {
        switch value {
        case .attachment(let file): .attachment(try added(file, to: store))
        case .attachments(let files): .attachments(try files.map { try added($0, to: store) })
        default: value
        }
    }

    private func added(_ file: Attachment, to store: Store) throws -> Attachment {
        guard let bytes = files[file.id] else {
            throw WebFailure(
                .conflict, message: "This can't be undone: the file \(file.name) was removed with its object.")
        }
        return try store.attachments.add(bytes, name: file.name, contentType: file.contentType)
    }
}
