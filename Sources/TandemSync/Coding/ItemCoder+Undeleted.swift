import Tandem

extension ItemCoder {
    /// Decodes an undeleted item of which the server kept only ID and version. Ignores values that are not valid.
    ///
    /// - Parameter source: The stored form of the deferred item, if the item comes from there.
    func decodeUndeleted(_ item: RemoteItem, deferredAs source: [UInt8]? = nil) throws(UnreadableValue) -> ServerItem {
        var item = item
        item.members.removeAll { member in
            guard let property = sent.first(where: { ScalarText.isEqual($0.wireName, member.key) }) else {
                return false
            }
            return !isValue(member.value, of: property)
        }
        var stored = try decode(item, deferredAs: source)
        stored.wasUndeleted = true
        return stored
    }

    /// Returns whether an undeleted item is blank, because the server does not keep the values of deleted items. A
    /// blank item has no values, or lacks a required value. Its remaining values are not another client's change. Any
    /// other server restores the earlier values.
    func isBlank(_ item: RemoteItem) -> Bool {
        var hasValue = false
        for property in sent {
            let node = item[member: property.wireName]
            if let node, isValue(node, of: property) {
                hasValue = hasValue || node != .null
            } else if node == .null, property.appendDefault != nil {
                // The column may be newer than the row, so it is not evidence.
                continue
            } else if node != nil || property.appendDefault == nil && !property.isOptional {
                return true
            }
        }
        return !hasValue
    }

    private func isValue(_ node: JSONNode, of property: PropertyDefinition) -> Bool {
        (try? format.storageValue(of: node, for: property)) != nil
    }
}
