import Foundation

/// The state is coded together with its object: `localID` and the server's data, under names that no property can have.
extension ObjectState: Codable {
    private enum CodingKeys: String, CodingKey {
        case localID, serverID, version, createdAt, updatedAt, synced, deleted
    }

    /// Decodes a state. Without a local ID, the object is new and gets its own.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let localID = try container.decodeIfPresent(LocalID.self, forKey: .localID) {
            self.init(localID: localID)
        } else {
            self.init()
        }
        serverID = try container.decodeIfPresent(ServerID.self, forKey: .serverID)
        version = try container.decodeIfPresent(String.self, forKey: .version)
        createdAt = try container.decodeIfPresent(Date.self, forKey: .createdAt)
        updatedAt = try container.decodeIfPresent(Date.self, forKey: .updatedAt)
        isSynced = try container.decodeIfPresent(Bool.self, forKey: .synced) ?? false
        isDeleted = try container.decodeIfPresent(Bool.self, forKey: .deleted) ?? false
    }

    /// Encodes the state. Server data that is missing is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(localID, forKey: .localID)
        try container.encodeIfPresent(serverID, forKey: .serverID)
        try container.encodeIfPresent(version, forKey: .version)
        try container.encodeIfPresent(createdAt, forKey: .createdAt)
        try container.encodeIfPresent(updatedAt, forKey: .updatedAt)
        if isSynced { try container.encode(true, forKey: .synced) }
        if isDeleted { try container.encode(true, forKey: .deleted) }
    }
}
