import Tandem

extension ItemForms {
    /// What an undelete has brought back, of which a server has kept no more than ID and version: what stands in the place
    /// of a value, and is none, is not looked at.
    ///
    /// - Parameter source: What was kept of it, if that is where it is from.
    func undeleted(_ item: RemoteItem, keptAs source: [UInt8]? = nil) throws(UnreadableValue) -> ServerItem {
        var item = item
        item.members.removeAll { member in
            guard let property = sent.first(where: { ScalarText.isEqual($0.wireName, member.key) }) else {
                return false
            }
            return !isValue(member.value, of: property)
        }
        var stored = try stored(item, keptAs: source)
        stored.wasUndeleted = true
        return stored
    }

    /// Whether an item that was undeleted is what is left where a server keeps no values of what it deletes: it has none at
    /// all, or none where the model needs one. What such a server has kept instead is no change of anybody's; what any
    /// other has is what it had before.
    func isBlank(_ item: RemoteItem) -> Bool {
        var hasValue = false
        for property in sent {
            let node = item[member: property.wireName]
            if let node, isValue(node, of: property) {
                hasValue = hasValue || node != .null
            } else if node == .null, property.appendDefault != nil {
                // The column may be younger than the row: it says nothing.
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
