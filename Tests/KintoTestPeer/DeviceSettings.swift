import Foundation
import Tandem
import TandemSync
import TandemTesting

/// The settings of a device, encoded in one argument.
struct DeviceSettings: Codable {
    /// The number of the device, which selects the counter that it writes: 0 to 7.
    var number: Int
    var encrypted: Bool
    /// The overlap of pulls, in seconds; the default one if it is missing.
    var overlap: Int?

    func openStore(at path: String) throws -> Store {
        var configuration = Store.Configuration()
        configuration.busyTimeout = 60
        let kind: StoreKind = encrypted ? .encrypted : .file
        return try kind.open(at: path, [KintoNote.self, KintoTopic.self], configuration: configuration)
    }

    func context(_ store: Store, _ bucket: PeerBucket) throws -> SyncContext {
        var options = SyncContext.Options()
        options.retry.first = .milliseconds(50)
        options.pageSize = 500
        if let overlap { options.overlap = .seconds(overlap) }
        let context = SyncContext(store: store, remote: bucket.remote, options: options)
        // The title is changed by all devices, each counter by one.
        try context.table(KintoNote.self).setConflicts(.merge(edits: .client, deletes: .server))
        return context
    }
}
