/// Tests of a collection in its stored form.
enum JSONElements {
    /// Returns the number of an array's elements, as `json_array_length` does: 0 for other JSON, `nil` for an empty
    /// text.
    static func count(_ json: UnsafeBufferPointer<UInt8>) -> Int? {
        var (index, depth, commas) = (0, 0, 0)
        var isEmpty = true
        var isArray = false
        while index < json.count {
            let byte = json[index]
            index += 1
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth == 1, !isArray, isEmpty, byte == UInt8(ascii: "[") {
                    isArray = true
                    continue
                }
            case UInt8(ascii: ","):
                if depth == 1 { commas += 1 }
            case UInt8(ascii: "\""):
                while index < json.count, json[index] != UInt8(ascii: "\"") {
                    index += json[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                index += 1
            default: break
            }
            isEmpty = false
        }
        if isArray { return isEmpty ? 0 : commas + 1 }
        return isEmpty ? nil : 0
    }

    /// Returns whether an array has an element, as ``SQLFunctions/elementsContain`` does.
    static func contain(_ wanted: JSONNode, in json: UnsafeBufferPointer<UInt8>) -> Bool {
        guard case .array(let nodes)? = try? ExactJSON.parse(json) else { return false }
        return nodes.contains { node in
            if case .real(let left) = node, case .real(let right) = wanted { left == right } else { node == wanted }
        }
    }
}
