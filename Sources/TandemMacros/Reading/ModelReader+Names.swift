import SwiftDiagnostics
import SwiftSyntax

extension ModelReader {
    // MARK: Arguments of @Model

    mutating func checkArguments() {
        for option in arguments.unknownOptions { diagnose(.unknownOption, at: option) }
        for index in arguments.unknownIndexes { diagnose(.unknownIndex, at: index) }
        for name in arguments.names { checkLiteral(name) }
        if let table = arguments.table, let problem = table.literalText.flatMap(ReservedName.tableProblem) {
            diagnose(problem, at: table)
        }
        for index in arguments.indexes { check(index) }
    }

    private mutating func check(_ index: ModelArguments.Index) {
        if index.properties.isEmpty { diagnose(.emptyIndex, at: index.call) }
        let candidates = properties.filter { !$0.isTransient }
        var seen: Set<String> = []
        for literal in index.properties {
            guard let text = literal.literalText, !text.isEmpty, !unreadProperties.contains(text) else { continue }
            guard let property = candidates.first(where: { $0.name == text }) else {
                let near = NearName.find(text, among: candidates.map(\.name))
                diagnose(
                    .unknownProperty(text, model: name, near: near), at: literal,
                    fixIt: near.map { ("replace with '\($0)'", [.replacing(literal, with: "\"\($0)\"")]) })
                continue
            }
            if property.type.shape.hasManyValues { diagnose(.manyValues("an index", name: text), at: literal) }
            if !seen.insert(text).inserted { diagnose(.repeatedInIndex(text), at: literal) }
        }
    }

    // MARK: Name conflicts

    /// Checks that no two properties share a column or a wire name.
    mutating func checkNames() {
        var columns: [String: String] = [:]
        var wireNames: Set<String> = []
        for property in properties where !property.isTransient {
            let column = property.columnName
            if let other = columns[column.foldedForSQLite] {
                diagnose(.sameColumn(column, other: other), at: position(property.columnNode, property: property))
            } else {
                columns[column.foldedForSQLite] = column
            }
            // Conflicts between columns are already reported.
            if property.markers.wireLiteral != nil || property.markers.columnLiteral != nil,
                wireNames.contains(property.wireName)
            {
                diagnose(.sameWireName(property.wireName), at: position(property.wireNode, property: property))
            }
            wireNames.insert(property.wireName)
        }
    }

    /// Returns the node in the source: the description contains a copy of the identifier.
    private func position(_ node: Syntax, property: PropertyDescription) -> Syntax {
        node.is(TokenSyntax.self) ? Syntax(property.binding.pattern) : node
    }

    // MARK: Coding keys

    /// Checks that properties missing from the struct's own `CodingKeys` have a value without decoding.
    mutating func checkCodingKeys(_ declared: DeclaredMembers) {
        guard let keys = declared.codingKeys, !declared.hasDecoderInitializer else { return }
        for property in properties where !property.isTransient && !keys.contains(property.name) {
            let hasValue = property.defaultValue != nil || property.startsWithNil
            if !hasValue { diagnose(.notDecodable(property.name), at: property.binding.pattern) }
        }
    }
}

extension String {
    /// The text with ASCII letters in lower case, as SQLite compares column names.
    fileprivate var foldedForSQLite: String {
        String(
            decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
