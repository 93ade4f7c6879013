import Foundation
import TandemKinto
import TandemSync

extension SyncedStore {
    /// Opens a new store, for a bucket of Kinto.
    func open(_ url: URL, bucket: String) throws {
        let account = KintoAccount(name: KintoServerProcess.user, password: KintoServerProcess.password)
        let remote = try KintoRemote(url: url, bucket: bucket, authentication: account.authentication)
        var options = SyncContext.Options()
        // The server's maximum, which kinto-http uses too.
        options.pageSize = 1000
        try open(remote, options: options)
    }
}
