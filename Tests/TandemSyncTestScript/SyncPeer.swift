import Foundation
import Tandem
import TandemDatasync
import TandemSync
import TandemTesting

/// The settings by which both sides open and synchronize their shared store.
package enum SyncPeer {
    package static let models: [any Model.Type] = [Keeper.self, ToDo.self]
    package static let modelsWithFiles: [any Model.Type] = [Album.self]

    /// The cache size for uploaded files, in bytes. It is smaller than some files, so that most are evicted again.
    package static let cacheSize: Int64 = 1 << 20

    /// The property in which a server that makes the IDs stores the local IDs.
    package static let lookUp = "localKey"

    /// Returns the file name of a store, which contains its kind.
    package static func name(_ kind: StoreKind) -> String { "\(kind).tandem" }

    /// Opens a store as the kind in its file name.
    package static func open(_ path: String, hasFiles: Bool = false) throws -> Store {
        let name = (path as NSString).lastPathComponent
        let kind = StoreKind.allCases.first { $0 != .memory && name == Self.name($0) } ?? .file
        var configuration = Store.Configuration()
        configuration.busyTimeout = 60
        configuration.attachmentCacheSize = cacheSize
        return try kind.open(at: path, hasFiles ? modelsWithFiles : models, configuration: configuration)
    }

    /// The server and options of a sync, encoded in one argument.
    package struct Line: Codable, Sendable {
        package var url: URL
        package var isDatasync = true
        package var hasServerIDs = false
        package var reportsConflicts = false
        package var hasFiles = false
        /// The maximum number of writes in a batch.
        package var batchLimit = 1
        package var user: String?

        package init(url: URL) { self.url = url }

        package init(argument: String) throws {
            self = try JSONDecoder().decode(Line.self, from: Data(argument.utf8))
        }

        package func argument() throws -> String {
            String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        }

        package func remote() throws -> DatasyncRemote {
            try DatasyncRemote(url: url, dialect: isDatasync ? .datasync : .azureMobileApps)
        }

        /// - Parameters:
        ///   - onPushStep: A closure that receives each step of a push.
        ///   - onFileStep: A closure that receives each step of an upload.
        package func context(
            _ store: Store, onPushStep: (@Sendable (PushStep) -> Void)? = nil,
            onFileStep: (@Sendable (FileStep) -> Void)? = nil
        ) throws -> SyncContext {
            var options = SyncContext.Options()
            options.serverName = "ИмяСервера"
            // No client commits late here, and a client's own writes need not be fetched repeatedly.
            options.overlap = .seconds(1)
            options.retry.first = .milliseconds(5)
            if let onPushStep { options.onPushStep = { onPushStep($0) } }
            if let onFileStep { options.onFileStep = { onFileStep($0) } }
            options.deletesFiles = hasFiles
            let files = try hasFiles ? TandemFiles(url: url) : nil
            let single = try remote()
            let remote: any Remote =
                batchLimit > 1 ? BatchingRemote(base: single, limit: batchLimit) : single
            let context = SyncContext(
                store: store, remote: remote, files: files, user: user, options: options)
            if hasFiles {
                try configure(context.table(Album.self))
                return context
            }
            try configure(context.table(Keeper.self))
            try configure(context.table(ToDo.self))
            return context
        }

        private func configure<M: Model>(_ table: SyncTable<M>) {
            if hasServerIDs { table.setIdentity(.server(lookUp: SyncPeer.lookUp)) }
            if reportsConflicts { table.setConflicts(.report) }
        }
    }
}
