import SwiftSyntax

extension ModelDescription {
    /// The properties for `Codable`: all stored ones or, if the struct has its own `CodingKeys`, the ones with a case
    /// there.
    private var coded: [PropertyDescription] {
        guard let keys = declared.codingKeys else { return persisted }
        return persisted.filter { keys.contains($0.name) }
    }

    var codingKeys: String? {
        if declared.hasCodingKeys { return nil }
        // An enum without cases can't have a raw type.
        if persisted.isEmpty { return "enum CodingKeys: Swift.CodingKey {}" }
        let cases = persisted.map { "    case \($0.spelledName)" }
        return """
            enum CodingKeys: Swift.String, Swift.CodingKey {
            \(cases.joined(separator: "\n"))
            }
            """
    }

    var decoderInitializer: String? {
        if declared.hasDecoderInitializer { return nil }
        var lines = ["self.__state = try Tandem.ObjectState(from: decoder)"] + coded.map(\.decoding)
        if !coded.isEmpty { lines.insert("let container = try decoder.container(keyedBy: CodingKeys.self)", at: 0) }
        return """
            \(access.prefix)init(from decoder: any Swift.Decoder) throws {
            \(lines.map { "    \($0)" }.joined(separator: "\n"))
            }
            """
    }

    var encode: String? {
        if declared.hasEncode { return nil }
        var lines = ["try self.__state.encode(to: encoder)"]
        if !coded.isEmpty { lines.append("var container = encoder.container(keyedBy: CodingKeys.self)") }
        lines += coded.map(\.encoding)
        return """
            \(access.prefix)func encode(to encoder: any Swift.Encoder) throws {
            \(lines.map { "    \($0)" }.joined(separator: "\n"))
            }
            """
    }
}

extension PropertyDescription {
    fileprivate var decoding: String {
        let ifPresent = "try container.decodeIfPresent(\(type.wrappedMetatype), forKey: .\(spelledName))"
        let value =
            switch (defaultValue, type.isOptional) {
            case (nil, false): "try container.decode(\(type.metatype), forKey: .\(spelledName))"
            case (nil, true): ifPresent
            case (let value?, false): "\(ifPresent) ?? \(value)"
            // A nil value differs from an absent one.
            case (let value?, true): "container.contains(.\(spelledName)) ? \(ifPresent) : \(value)"
            }
        return "self.\(spelledName) = \(value)"
    }

    fileprivate var encoding: String {
        // An optional with a default is also encoded if it is nil. Otherwise it would be decoded as the default.
        let method = type.isOptional && defaultValue == nil ? "encodeIfPresent" : "encode"
        return "try container.\(method)(self.\(spelledName), forKey: .\(spelledName))"
    }
}
