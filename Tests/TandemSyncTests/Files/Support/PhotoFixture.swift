import Foundation
import Tandem
import TandemTesting

@testable import TandemSync

// Swift Testing has a type of this name too.
typealias Attachment = Tandem.Attachment

/// A model with photographs.
@Model struct Receipt {
    @Folded var shop: String
    var points: Int = 0
    var photo: Attachment?
    var scans: [Attachment] = []
    @LocalOnly var draft: Attachment?
}

/// Two devices, a scripted server and a file server.
struct PhotoFixture: Sendable {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
    let remote: ScriptedRemote
    let fileServer = PhotoServer()
    let store: Store
    let sync: SyncContext
    private let cacheSize: Int64?

    init(
        nestedJSON: Bool = true, softDelete: Bool = true, cacheSize: Int64? = nil,
        _ options: (inout SyncContext.Options) -> Void = { _ in }
    ) throws {
        remote = ScriptedRemote(
            format: WireFormat(nestedJSON: nestedJSON), clock: ManualClock(clock.now()), softDelete: softDelete)
        self.cacheSize = cacheSize
        let (clock, remote, fileServer) = (clock, remote, fileServer)
        (store, sync) = try Self.device(clock, remote, fileServer, cacheSize, options)
    }

    private static func device(
        _ clock: ManualClock, _ remote: ScriptedRemote, _ files: (any RemoteFiles)?, _ cacheSize: Int64?,
        _ options: (inout SyncContext.Options) -> Void
    ) throws -> (Store, SyncContext) {
        var configuration = Store.Configuration()
        if let cacheSize { configuration.attachmentCacheSize = cacheSize }
        configuration.now = clock.now
        let store = try Store(inMemoryModels: [Receipt.self, Passport.self], configuration: configuration)
        return (store, context(store, clock, remote, files, options))
    }

    private static func context(
        _ store: Store, _ clock: ManualClock, _ remote: ScriptedRemote, _ files: (any RemoteFiles)?,
        _ options: (inout SyncContext.Options) -> Void
    ) -> SyncContext {
        var all = SyncContext.Options()
        all.clock = JumpingClock(clock)
        all.random = { 0 }
        options(&all)
        return SyncContext(store: store, remote: remote, files: files, options: all)
    }

    /// Creates another device.
    func other() throws -> (Store, SyncContext) { try Self.device(clock, remote, fileServer, cacheSize) { _ in } }

    /// Creates a second context on the same store, as after a restart.
    func restarted(
        withFiles: Bool = true, on other: Store? = nil, _ options: (inout SyncContext.Options) -> Void = { _ in }
    ) -> SyncContext {
        Self.context(other ?? store, clock, remote, withFiles ? fileServer : nil, options)
    }

    static func bytes(_ count: Int = 2500, seed: UInt8 = 7) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) }
    }

    /// Inserts a receipt with a photograph, without sending it.
    @discardableResult
    func attached(_ shop: String = "Пятёрочка", _ bytes: [UInt8] = PhotoFixture.bytes()) throws -> Receipt {
        let photo = try store.attachments.add(bytes, name: "чек.jpg")
        return try store.write { try $0.insert(Receipt(shop: shop, photo: photo)) }
    }

    /// Inserts a receipt and sends it to the server.
    func synced(_ shop: String = "Лента") async throws -> Receipt {
        let id = try await store.write { try $0.insert(Receipt(shop: shop)) }.localID
        try await sync.push()
        remote.forgetRequests()
        return try receipt(id)
    }

    struct Missing: Error {}

    func receipt(_ id: LocalID) throws -> Receipt {
        guard let receipt = try store.object(ofType: Receipt.self, forPrimaryKey: id) else { throw Missing() }
        return receipt
    }

    func receipts() throws -> [Receipt] { try store.objects(Receipt.self).all() }

    var asked: [RecordedRequest.Kind] { remote.requests.map(\.kind) }

    /// Returns the server's value of a receipt's photograph.
    func served(_ receipt: Receipt, _ member: String = "photo") -> JSONNode? {
        remote.all(in: "Receipt").first { $0.id.rawValue == receipt.localID.rawValue }?[member: member]
    }

    /// Returns whether the store has removed a file.
    func isGone(_ attachment: Attachment) -> Bool {
        do {
            _ = try store.attachments.status(of: attachment)
            return false
        } catch {
            return (error as? TandemError)?.code == .unknownAttachment
        }
    }
}

extension RemoteItem {
    /// Sets a member.
    mutating func put(_ name: String, _ value: JSONNode) {
        members.removeAll { $0.key == name }
        members.append((name, value))
    }
}
