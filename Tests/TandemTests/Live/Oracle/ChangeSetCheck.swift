@testable import Tandem

/// Checks that a change set describes a list's change correctly by index, by local ID and by value.
struct ChangeSetCheck {
    /// The last delivered rows with keys and numbers. Rows can differ in these and look the same.
    var lastShown: [LiveRow] = []
    /// Whether the change set may contain unchanged objects as modified. A reloaded list of references can't avoid
    /// that.
    var mayReportUnchanged = false

    /// - Parameters:
    ///   - base: The rows that the subscriber shows; `nil` if they are unknown.
    ///   - isOrdered: Whether the base's order is known.
    mutating func problems<Element>(
        _ change: ChangeSet<Element>, base: [Picture]?, isOrdered: Bool, _ picture: (Element) -> Picture
    ) -> [String] {
        var found: [String] = []
        func expect(_ holds: Bool, _ text: @autoclosure () -> String) {
            if !holds { found.append(text()) }
        }
        let old = change.previous.map(picture)
        let new = change.results.map(picture)
        let oldRows = change.previous.rows.map { $0 }
        let newRows = change.results.rows.map { $0 }
        defer { lastShown = newRows }
        expect(Array(change.results.localIDs) == new.map(\.id), "local IDs are not those of the results")
        if let base, !change.isInitial {
            if isOrdered {
                expect(old == base, "previous is \(Shown.rows(old)), delivered was \(Shown.rows(base))")
            } else {
                func sorted(_ rows: [Picture]) -> [Picture] { rows.sorted { $0.id < $1.id } }
                expect(
                    sorted(old) == sorted(base), "previous has \(Shown.rows(old)), delivered was \(Shown.rows(base))")
            }
        }
        if change.isInitial {
            expect(base?.isEmpty ?? true, "only the first change set is initial")
            expect(old.isEmpty && change.insertions == Array(new.indices), "the first change set inserts all")
            expect(change.deletions.isEmpty && change.modifications.isEmpty && change.moves.isEmpty, "more than that")
            return found
        }
        expect(!change.isEmpty, "an empty change set")
        guard isAscending(change.deletions, below: old.count), isAscending(change.insertions, below: new.count),
            isAscending(change.modifications.map(\.old), below: old.count),
            isAscending(change.modifications.map(\.new), below: new.count),
            Set(change.moves.map(\.from)).isSubset(of: change.deletions), change.moves.count <= change.deletions.count,
            Set(change.moves.map(\.to)).isSubset(of: change.insertions)
        else { return found + ["indices are wrong: \(change)"] }
        guard old.count - change.deletions.count + change.insertions.count == new.count else {
            return found + ["counts do not add up: \(change)"]
        }
        var array = Array(change.previous)
        change.apply(to: &array)
        let applied = array.map(picture)
        if applied != new {
            let difference = zip(applied, new).first { $0 != $1 }.map { "\($0.id) \($0.differences($1))" } ?? ""
            found.append("applied it gives \(Shown.rows(applied)) in place of \(Shown.rows(new)) \(difference)")
        }
        let oldIDs = Set(old.map(\.id))
        let newIDs = Set(new.map(\.id))
        expect(oldIDs.count == old.count && newIDs.count == new.count, "an object is in it twice")
        expect(Set(change.deletedIDs) == oldIDs.subtracting(newIDs), "deleted IDs are \(change.deletedIDs)")
        expect(Set(change.insertedIDs) == newIDs.subtracting(oldIDs), "inserted IDs are \(change.insertedIDs)")
        expect(change.deleted.map { picture($0).id } == change.deletedIDs, "deleted objects are not the deleted IDs")
        for (from, to, isMove) in change.modifications.map({ ($0.old, $0.new, false) })
            + change.moves.map({ ($0.from, $0.to, true) })
        {
            let (before, after) = (oldRows[from], newRows[to])
            expect(old[from].id == new[to].id, "\(old[from].id) is reported to have become \(new[to].id)")
            let hasChanged = old[from] != new[to] || before.key != after.key || before.rowID != after.rowID
            expect(
                hasChanged || mayReportUnchanged,
                "\(new[to].id) is reported to have \(isMove ? "moved" : "changed") and has not: \(change)")
        }
        if old.count == new.count, change.modifications.isEmpty, change.moves.count == 1,
            change.moves[0].from == change.moves[0].to, change.deletions.count == 1
        {
            found.append("an object that stayed is reported to have moved: \(change)")
        }
        let modified = change.modifications.map { new[$0.new].id } + change.moves.map { new[$0.to].id }
        expect(change.modifiedIDs == modified, "modified IDs are \(change.modifiedIDs)")
        return found
    }

    private func isAscending(_ indices: [Int], below count: Int) -> Bool {
        zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 } && indices.allSatisfy { $0 >= 0 && $0 < count }
    }

    /// Checks that a sectioned change set, applied as documented, gives the new sections.
    static func problems<Key, Element>(
        _ change: SectionedChangeSet<Key, Element>, _ picture: (Element) -> Picture, _ key: (Key) -> String
    ) -> [String] {
        func shown(_ sections: LiveSections<Key, Element>) -> [Shown.Section] {
            sections.map { Shown.Section(key: key($0.key), rows: $0.map(picture)) }
        }
        let new = shown(change.sections)
        if change.isInitial { return change.previous.isEmpty ? [] : ["there were sections before the first"] }
        var sections = shown(change.previous)
        for place in change.deletions.reversed() {
            guard sections.indices.contains(place.section), sections[place.section].rows.indices.contains(place.item)
            else { return ["no object to be deleted at \(place)"] }
            sections[place.section].rows.remove(at: place.item)
        }
        for index in change.deletedSections.reversed() {
            guard sections.indices.contains(index), sections[index].rows.isEmpty else {
                return ["section \(index) goes and is not empty"]
            }
            sections.remove(at: index)
        }
        for index in change.insertedSections {
            guard index <= sections.count else { return ["no place for section \(index)"] }
            sections.insert(Shown.Section(key: new[index].key, rows: []), at: index)
        }
        for place in change.insertions {
            guard sections.indices.contains(place.section), place.item <= sections[place.section].rows.count else {
                return ["no place for \(place)"]
            }
            sections[place.section].rows.insert(new[place.section].rows[place.item], at: place.item)
        }
        for modification in change.modifications {
            let place = modification.new
            sections[place.section].rows[place.item] = new[place.section].rows[place.item]
        }
        // The key is that of the section's first object. Equal keys can look different (0 and -0), so either is right.
        return sections.map(\.rows) == new.map(\.rows) ? [] : ["applied to the sections it gives others: \(sections)"]
    }
}
