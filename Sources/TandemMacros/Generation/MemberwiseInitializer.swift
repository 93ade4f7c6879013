import SwiftSyntax

extension ModelDescription {
    /// The memberwise initializer, which the compiler can't synthesize because of the state. `nil` if the struct has it
    /// already.
    ///
    /// Its access level is the lowest of its parameters, so `public` properties make it public. A private property with
    /// a default value is not a parameter.
    var memberwiseInitializer: String? {
        let parameters = properties.filter { $0.isParameter(in: self) }
        if declared.initializers.contains(parameters.map(\.name)) { return nil }
        let access = parameters.map(\.access).min() ?? access
        let list = parameters.map { property in
            "\(property.spelledName): \(property.parameterType)\(property.parameterDefault)"
        }
        var assignments = parameters.map { "    self.\($0.spelledName) = \($0.spelledName)" }
        if !stateHasDefault { assignments.append("    self.__state = Tandem.ObjectState()") }
        if assignments.isEmpty { return "\(access.prefix)init() {}" }
        let line = list.joined(separator: ", ")
        let signature = line.count <= 80 ? line : "\n\(list.map { "    \($0)" }.joined(separator: ",\n"))\n"
        return """
            \(access.prefix)init(\(signature)) {
            \(assignments.joined(separator: "\n"))
            }
            """
    }
}

extension PropertyDescription {
    fileprivate func isParameter(in model: ModelDescription) -> Bool {
        let hasValue = binding.initializer != nil || startsWithNil
        return !(hasValue && access == .fileprivate && model.access > .fileprivate)
    }

    fileprivate var parameterType: String {
        type.shape == .function && !type.isOptional ? "@escaping \(type.text)" : type.text
    }

    fileprivate var parameterDefault: String {
        if let defaultValue { return " = \(defaultValue)" }
        return startsWithNil || binding.initializer != nil ? " = nil" : ""
    }
}
