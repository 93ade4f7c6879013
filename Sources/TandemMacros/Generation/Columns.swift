import SwiftSyntax

extension ModelDescription {
    /// The properties as queries name them. A column has its property's access level.
    var columns: String {
        let root = typeName
        let columns = persisted.enumerated().map { index, property in property.column(index, of: root) }
        let inverses = inverses.map { inverse in
            let link = inverse.link
            let type = "Tandem.InverseProperty<\(root), \(link.source)>"
            return """
                \(inverse.access.prefix)var \(inverse.identifier.text): \(type) {
                    Tandem.InverseProperty(through: \(link.columnPath))
                }
                """
        }
        let members = (["\(access.prefix)typealias Root = \(root)", "\(access.prefix)init() {}"] + columns + inverses)
            .map { "    " + $0.replacing("\n", with: "\n    ") }
        return """
            \(access.prefix)struct Columns: Tandem.ModelColumns {
            \(members.joined(separator: "\n"))
            }
            """
    }
}

extension PropertyDescription {
    fileprivate func column(_ index: Int, of root: String) -> String {
        let columnType: String
        let arguments: String
        switch type.shape {
        case .reference(let target):
            columnType = "Tandem.ReferenceProperty<\(root), \(target)>"
            arguments = "\(root).__definition, index: \(index)"
        case .references(let target):
            columnType = "Tandem.ReferencesProperty<\(root), \(target)>"
            arguments = "\(root).__definition, index: \(index)"
        default:
            let name =
                switch markers.folded {
                case .searched: "FoldedProperty"
                case .sorted: "SortedTextProperty"
                default: "Property"
                }
            columnType = "Tandem.\(name)<\(root), \(type.text)>"
            arguments = "\(root).__definition, index: \(index), codec: \(codec)"
        }
        return """
            \(access.prefix)var \(spelledName): \(columnType) {
                \(columnType.prefix { $0 != "<" })(\(arguments))
            }
            """
    }
}
