import Foundation
import Tandem
import TandemTestScript
import TandemTesting
import Testing

/// The folder of stores that is removed when the process ends.
private let storesFolder: TemporaryFolder? = {
    let folder = try? TemporaryFolder()
    atexit { storesFolder?.remove() }
    return folder
}()

extension StoreKind {
    /// The kinds with a file, which other processes can open.
    static let files: [StoreKind] = [.file, .encrypted, .sqlCipher]
    /// The kinds with a key.
    static let withKey: [StoreKind] = [.encrypted, .sqlCipher]
    /// The kinds for suites about the content of a store. Their tests open one store each.
    static let memoryAndEncrypted: [StoreKind] = [.memory, .encrypted]
    /// The kinds for suites that need a file and don't depend on the cipher's profile.
    static let fileAndEncrypted: [StoreKind] = [.file, .encrypted]

    /// Makes a store whose file, if it has one, is removed when the process ends.
    func make(_ models: [any Model.Type]) throws -> Store {
        let folder = try #require(storesFolder)
        return try open(at: folder.path(of: "\(UUID().uuidString).tandem"), models)
    }
}

extension TestFolder {
    /// Returns the path of a store's file. Its name contains the kind, for the peers.
    func file(_ kind: StoreKind) -> String { file(Peer.name(kind)) }

    /// Returns the bytes of a closed store's files. Reading them drops this process's locks on them (see `LockTests`),
    /// so no other process may have the store open.
    func storeBytes(_ kind: StoreKind) throws -> [String: [UInt8]] {
        try contents().filter { $0.key.hasPrefix(Peer.name(kind)) }.mapValues { [UInt8]($0) }
    }
}
