import Foundation
import Tandem
import TandemTestScript
import TandemTesting
import Testing

/// The folder of stores that are removed when the process ends.
private let storesFolder: TemporaryFolder? = {
    let folder = try? TemporaryFolder()
    atexit { storesFolder?.remove() }
    return folder
}()

extension StoreKind {
    /// The kinds that are files, which other processes can open.
    static let files: [StoreKind] = [.file, .encrypted, .sqlCipher]
    /// The kinds that have a key.
    static let withKey: [StoreKind] = [.encrypted, .sqlCipher]
    /// The kinds for suites about what a store holds, whose tests open one store each.
    static let memoryAndEncrypted: [StoreKind] = [.memory, .encrypted]
    /// The kinds for suites that need a file, and whose result does not depend on the cipher's profile.
    static let fileAndEncrypted: [StoreKind] = [.file, .encrypted]

    /// Makes a store whose file, if it has one, is removed when the process ends.
    func make(_ models: [any Model.Type]) throws -> Store {
        let folder = try #require(storesFolder)
        return try open(at: folder.path(of: "\(UUID().uuidString).tandem"), models)
    }
}

extension TestFolder {
    /// A store's file, whose name tells the peers its kind.
    func file(_ kind: StoreKind) -> String { file(Peer.name(kind)) }

    /// The bytes of a store's files. Its locks go with reading them (`LockTests` tells why): for stores that are closed,
    /// or that no other process opens.
    func storeBytes(_ kind: StoreKind) throws -> [String: [UInt8]] {
        try contents().filter { $0.key.hasPrefix(Peer.name(kind)) }.mapValues { [UInt8]($0) }
    }
}
