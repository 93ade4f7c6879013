import TandemTestScript
import TandemTesting

extension StoreKind {
    /// The kinds that are files, which other processes can open.
    static let files: [StoreKind] = [.file, .encrypted, .sqlCipher]
    /// The kinds that have a key.
    static let withKey: [StoreKind] = [.encrypted, .sqlCipher]
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
