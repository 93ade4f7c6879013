/// The expected state after the lives of some peers, derived from their output.
///
/// A peer that was killed between the lines before and after an act may have executed the act or not.
package struct PeerTruth {
    package struct Object {
        package let model: String
        /// The possible values of each property.
        package var values: [String: Set<String>]
        /// Whether the object exists: both values if that is unknown.
        package var isThere: Set<Bool>
    }

    package private(set) var objects: [String: Object] = [:]
    /// The number of acknowledged acts.
    package private(set) var acknowledged = 0

    package init() {}

    /// Reads the output of one life.
    ///
    /// - Parameter lines: The lines, which contain pairs of `try …` and `ack`.
    package mutating func live(_ lines: [String]) throws {
        var tried: PeerAct?
        for line in lines {
            if line.hasPrefix("try ") {
                tried = try PeerAct(line: line.dropFirst(4))
            } else if line == "ack", let act = tried {
                acknowledge(act)
                tried = nil
            }
        }
        if let tried { suppose(tried) }
    }

    private mutating func acknowledge(_ act: PeerAct) {
        acknowledged += 1
        switch act.kind {
        case .insert:
            objects[act.tag] = Object(model: act.model, values: act.values.mapValues { [$0] }, isThere: [true])
        case .edit:
            // The object existed: an insert with an unknown outcome was executed.
            objects[act.tag]?.isThere = [true]
            for (name, value) in act.values { objects[act.tag]?.values[name] = [value] }
        case .delete: objects[act.tag]?.isThere = [false]
        }
    }

    /// Records an act that may have been executed.
    private mutating func suppose(_ act: PeerAct) {
        switch act.kind {
        case .insert:
            objects[act.tag] = Object(
                model: act.model, values: act.values.mapValues { [$0] }, isThere: [true, false])
        case .edit: for (name, value) in act.values { objects[act.tag]?.values[name, default: []].insert(value) }
        case .delete: objects[act.tag]?.isThere.insert(false)
        }
    }

    /// Returns the differences between objects and the expected state.
    ///
    /// - Parameter found: The values of the existing objects, by their tags. A duplicate tag occurs twice.
    package func problems(of found: [(tag: String, values: [String: String])]) -> [String] {
        var problems: [String] = []
        let byTag = Dictionary(grouping: found, by: \.tag)
        for (tag, copies) in byTag {
            if copies.count > 1 { problems.append("\(tag) is there \(copies.count) times") }
            guard let object = objects[tag] else {
                problems.append("no peer has made \(tag)")
                continue
            }
            if !object.isThere.contains(true) { problems.append("\(tag) was deleted, and is there") }
            for (name, allowed) in object.values {
                // The object's reference target may have been deleted since.
                let allowed = allowed.map { name == "keeper" || name == "todos" ? Self.without(byTag, $0) : $0 }
                let value = copies[0].values[name] ?? "?"
                if !allowed.contains(value) {
                    problems.append("\(tag).\(name) is \(value), and was left as \(allowed)")
                }
            }
        }
        for (tag, object) in objects where !object.isThere.contains(false) && byTag[tag] == nil {
            problems.append("\(tag) is lost")
        }
        return problems.sorted()
    }

    /// Returns tags without those of missing objects.
    private static func without(_ byTag: [String: some Any], _ tags: String) -> String {
        tags.split(separator: ",").filter { byTag[String($0)] != nil }.joined(separator: ",")
    }
}
