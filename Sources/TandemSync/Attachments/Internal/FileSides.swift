import Tandem

extension ModelDefinition {
    /// Whether all that this side has to say is where files are that it has uploaded, and nobody has changed these
    /// properties: that is no conflict, whatever else the other side has changed, and whatever the policy.
    func isAboutFilesAlone(_ sides: ConflictSides) -> Bool {
        guard sides.kind == .update, let server = sides.server, !sides.changedHere.isEmpty,
            sides.changedHere.isDisjoint(with: sides.changedThere)
        else { return false }
        return sides.changedHere.allSatisfy { name in
            guard let property = properties.first(where: { $0.name == name }), property.holdsAttachments,
                let here = sides.local[name], let there = server[name]
            else { return false }
            return property.addsFiles(here, to: there)
        }
    }
}

extension PropertyDefinition {
    /// Whether a value is another one with attachments added that a server has.
    fileprivate func addsFiles(_ value: StorageValue, to base: StorageValue) -> Bool {
        guard let all = attachments(in: value), let before = attachments(in: base) else { return false }
        let known = Set(before.map(\.id))
        let kept = all.filter { known.contains($0.id) }
        // What waits to be uploaded is not said yet.
        return kept.map(\.id) == before.map(\.id)
    }

    private func attachments(in value: StorageValue) -> [Attachment]? {
        guard let node = try? node(of: value) else { return nil }
        let nodes: [JSONNode]
        switch node {
        case .null: nodes = []
        case .array(let several): nodes = several
        default: nodes = [node]
        }
        let attachments = nodes.compactMap { Attachment(__json: $0) }
        return attachments.count == nodes.count ? attachments : nil
    }
}
