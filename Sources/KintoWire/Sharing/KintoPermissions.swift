import Tandem

/// A permission for a record.
public enum KintoPermission: String, CaseIterable, Hashable, Sendable {
    /// The user sees the record.
    case read
    /// The user sees, changes, deletes and shares the record.
    case write
}

/// The users with permissions of a record. Users with a permission for the whole collection or bucket are not listed.
public struct KintoPermissions: Hashable, Sendable {
    /// The users who may read the record. Users who may write it are not repeated here.
    public var readers: Set<KintoPrincipal>
    /// The users who may write the record.
    public var writers: Set<KintoPrincipal>

    /// Creates permissions.
    ///
    /// - Parameters:
    ///   - readers: The users who may read the record.
    ///   - writers: The users who may write the record.
    public init(readers: Set<KintoPrincipal> = [], writers: Set<KintoPrincipal> = []) {
        self.readers = readers
        self.writers = writers
    }
}

extension KintoPermissions {
    /// Decodes the member `permissions` of a response. `nil` if it is not valid.
    init?(_ node: JSONNode?) {
        guard case .object(let members)? = node else { return nil }
        func principals(_ permission: KintoPermission) -> Set<KintoPrincipal>? {
            switch members.first(where: { $0.key == permission.rawValue })?.value {
            case nil: return []
            case .array(let nodes):
                var principals: Set<KintoPrincipal> = []
                for node in nodes {
                    guard case .text(let name) = node else { return nil }
                    principals.insert(KintoPrincipal(rawValue: name))
                }
                return principals
            default: return nil
            }
        }
        guard let readers = principals(.read), let writers = principals(.write) else { return nil }
        self.init(readers: readers, writers: writers)
    }
}
