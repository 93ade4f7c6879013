import Foundation

/// The files of a store's attachments: adds, reads and checks them. See ``Store/attachments``.
///
/// For example:
///
/// ```swift
/// let photo = try store.attachments.add(contentsOf: "photo.jpg")
/// try store.write { try $0.update(Card.self, card.localID) { $0.photo = photo } }
/// for try await piece in try store.attachments.stream(of: photo) { send(piece) }
/// ```
///
/// ## Topics
/// ### Adding
/// - ``add(contentsOf:name:contentType:)-(String,_,_)``
/// - ``add(_:name:contentType:)``
/// - ``add(from:name:contentType:isolation:)``
/// ### Reading
/// - ``data(of:)``
/// - ``stream(of:)``
/// - ``reader(of:)``
/// - ``export(_:to:)``
/// - ``diskURL(of:)``
/// ### The state of a file
/// - ``status(of:)``
/// - ``verify(_:)``
public struct AttachmentStore: Sendable {
    let store: Store
}

extension Store {
    /// The files of the store's attachments.
    public var attachments: AttachmentStore { AttachmentStore(store: self) }
}
