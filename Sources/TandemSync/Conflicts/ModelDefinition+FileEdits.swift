import Tandem

extension ModelDefinition {
    /// Whether one side has only attached files, or replaced files, and the other side has not changed these
    /// properties. No policy treats that as a conflict, even if the other side has changed other properties.
    func isAboutFilesAlone(_ sides: ConflictSides) -> Bool {
        guard sides.kind == .update, let server = sides.server, sides.changedHere.isDisjoint(with: sides.changedThere)
        else { return false }
        return addsFilesAlone(sides.changedHere, values: sides.local, to: server)
            || addsFilesAlone(sides.changedThere, values: server, to: sides.local)
    }

    private func addsFilesAlone(
        _ changed: Set<String>, values: [String: StorageValue], to others: [String: StorageValue]
    ) -> Bool {
        guard !changed.isEmpty else { return false }
        return changed.allSatisfy { name in
            guard let property = properties.first(where: { $0.name == name }), property.holdsAttachments,
                let value = values[name], let other = others[name]
            else { return false }
            return property.addsFiles(value, to: other)
        }
    }
}

extension PropertyDefinition {
    /// Returns whether a value is the base with attachments added or replaced.
    fileprivate func addsFiles(_ value: StorageValue, to base: StorageValue) -> Bool {
        guard let all = attachments(in: value), let before = attachments(in: base) else { return false }
        let known = Set(before.map(\.id))
        let kept = all.filter { known.contains($0.id) }
        let replaced = Set(all.replaced(from: before).values.map(\.id))
        return kept.map(\.id) == before.map(\.id).filter { !replaced.contains($0) }
    }

    private func attachments(in value: StorageValue) -> [Attachment]? {
        guard let nodes = try? node(of: value).elements else { return nil }
        let attachments = nodes.compactMap { Attachment(__json: $0) }
        return attachments.count == nodes.count ? attachments : nil
    }
}
