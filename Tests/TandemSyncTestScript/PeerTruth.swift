/// What must be so after the lives of some peers: it follows from what they have said.
///
/// Who was killed between saying what they would do and saying that it is done may have done it or not.
package struct PeerTruth {
    package struct Object {
        package let model: String
        /// What each property may be.
        package var values: [String: Set<String>]
        /// Whether it is there: both, if nobody knows.
        package var isThere: Set<Bool>
    }

    package private(set) var objects: [String: Object] = [:]
    /// How many acts were acknowledged.
    package private(set) var acknowledged = 0

    package init() {}

    /// Takes in what a peer said in one life.
    ///
    /// - Parameter lines: In pairs, `try …` and `ack`, among others.
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
            // It was there: if nobody knew whether it had been inserted, it had.
            objects[act.tag]?.isThere = [true]
            for (name, value) in act.values { objects[act.tag]?.values[name] = [value] }
        case .delete: objects[act.tag]?.isThere = [false]
        }
    }

    /// Takes in what may have been done.
    private mutating func suppose(_ act: PeerAct) {
        switch act.kind {
        case .insert:
            objects[act.tag] = Object(
                model: act.model, values: act.values.mapValues { [$0] }, isThere: [true, false])
        case .edit: for (name, value) in act.values { objects[act.tag]?.values[name, default: []].insert(value) }
        case .delete: objects[act.tag]?.isThere.insert(false)
        }
    }

    /// What of some objects is not as it must be.
    ///
    /// - Parameter found: The values of the objects that are there, by their tags; a tag that is there twice twice.
    package func problems(of found: [(tag: String, values: [String: String])]) -> [String] {
        var problems: [String] = []
        let byTag = Dictionary(grouping: found, by: \.tag)
        for (tag, copies) in byTag {
            if copies.count > 1 { problems.append("\(tag) is there \(copies.count) times") }
            guard let object = objects[tag] else {
                problems.append("nobody has made \(tag)")
                continue
            }
            if !object.isThere.contains(true) { problems.append("\(tag) was deleted, and is there") }
            for (name, allowed) in object.values {
                // What it refers to may have gone since.
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

    /// Tags without those of objects that are not there.
    private static func without(_ byTag: [String: some Any], _ tags: String) -> String {
        tags.split(separator: ",").filter { byTag[String($0)] != nil }.joined(separator: ",")
    }
}
