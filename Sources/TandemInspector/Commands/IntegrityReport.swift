import Tandem

/// The problems of a store. If its file is damaged, also the number of readable objects of each model.
package struct IntegrityReport {
    struct Readable {
        let model: String
        let count: Int
        /// The error that ended the reading, or nil.
        let error: String?
    }

    private(set) var problems: [String]
    /// Whether the file is damaged, so that the data could not be checked.
    private(set) var isDamaged = false
    /// The readable objects of each model, if the file is damaged.
    private(set) var readable: [Readable] = []

    package init(_ store: Store, readsFiles: Bool) throws {
        do {
            problems = try store.checkIntegrity()
        } catch let error as TandemError where [.corrupt, .ioFailure].contains(error.code) {
            problems = ["The file is damaged, and its data can't be checked: \(error.message)"]
            isDamaged = true
        }
        if problems.contains(where: { $0.hasPrefix("The file:") }) { isDamaged = true }
        if isDamaged {
            readable = store.models.sorted { $0.name < $1.name }.map { Self.readableObjects(of: $0, in: store) }
        }
        if readsFiles && !isDamaged { problems += try Self.fileProblems(in: store) }
    }

    private static func readableObjects(of model: ModelDefinition, in store: Store) -> Readable {
        var count = 0
        do {
            try store.objects(named: model.name).includingDeleted().forEach { _ in count += 1 }
            return Readable(model: model.name, count: count, error: nil)
        } catch {
            return Readable(model: model.name, count: count, error: CommandFailure.message(of: error))
        }
    }

    private static func fileProblems(in store: Store) throws -> [String] {
        var problems: [String] = []
        for model in store.models where model.properties.contains(where: \.holdsFiles) {
            try store.objects(named: model.name).forEach { object in
                for (property, file) in object.attachments {
                    guard try store.attachments.status(of: file).isOnDevice else { continue }
                    do {
                        try store.attachments.verify(file)
                    } catch {
                        let reason = CommandFailure.message(of: error)
                        problems.append("\(model.name).\(property.name) of \(object.localID): \(reason)")
                    }
                }
            }
        }
        return problems
    }
}

extension IntegrityReport {
    func print(on console: Console) throws {
        for problem in problems { try console.print(problem.printable) }
        if isDamaged {
            try console.print()
            var table = TextTable("Model", "#Readable objects", "Then")
            for model in readable { table.append([model.model, "\(model.count)", model.error ?? "all were read"]) }
            try table.print(on: console)
            console.report(
                """
                Restore a backup, or copy what is readable: `tandem salvage` if the store is encrypted, else \
                `tandem export` for each model.
                """)
        }
        if problems.isEmpty { try console.print("No problems.") }
    }

    package var json: JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("problems", .array(problems.map { JSONOutput.text($0) })), ("isDamaged", .bool(isDamaged)),
            ("readable", .array(readable.map(\.json))),
        ]
        return .object(members)
    }
}

extension IntegrityReport.Readable {
    fileprivate var json: JSONOutput {
        let members: [(String, JSONOutput)] = [
            ("model", .text(model)), ("objects", .integer(count)), ("error", JSONOutput(error)),
        ]
        return .object(members)
    }
}

extension PropertyDefinition {
    /// Whether values can be files: an attachment, or a collection of them.
    fileprivate var holdsFiles: Bool {
        switch kind {
        case .attachment, .collection: true
        default: false
        }
    }
}
