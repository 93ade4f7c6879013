import ArgumentParser
import Tandem

struct Pending: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending", abstract: "Show the operation queue: the pending changes.")

    @Option(help: "The maximum number of operations.")
    var limit = 10

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
    }

    func run() throws {
        let screen = Screen.output
        let wallet = try options.openWallet()
        let operations = try wallet.store.operations.all()
        guard !operations.isEmpty else { return screen.print("No change is pending.") }
        operations.printCounts(on: screen)
        guard limit > 0 else { return }
        screen.print()
        try operations.prefix(limit).printTable(of: wallet, on: screen)
        let waiting = operations.count { $0.state == .failed || $0.state == .held }
        if waiting > 0 {
            screen.print(
                "\n  \(waiting.of("operation")) of these need a decision: `cards conflicts` shows the reasons.")
        }
    }
}

extension Collection<PendingOperation> {
    /// Prints the number of operations of each kind, by model.
    func printCounts(on screen: Screen) {
        var table = Table(
            .init(title: "Model"), .init(title: "Inserts", isNumber: true), .init(title: "Updates", isNumber: true),
            .init(title: "Deletes", isNumber: true))
        func row(_ title: String, of operations: some Collection<PendingOperation>, colour: Colour?) {
            let counts = Dictionary(grouping: operations, by: \.kind).mapValues(\.count)
            func cell(_ kind: PendingOperation.Kind) -> Table.Cell {
                .init(counts[kind, default: 0].grouped, colour: colour)
            }
            table.append(.init(title, colour: colour), cell(.insert), cell(.update), cell(.delete))
        }
        for (model, operations) in Dictionary(grouping: self, by: \.model).sorted(by: { $0.key < $1.key }) {
            row(model, of: operations, colour: nil)
        }
        row("all", of: self, colour: .strong)
        table.print(on: screen)
    }

    /// Prints operations, in the order in which they will be sent.
    func printTable(of wallet: Wallet, on screen: Screen) throws {
        var table = Table(
            .init(title: "No.", isNumber: true), .init(title: "Operation"), .init(title: "Object", isFlexible: true),
            .init(title: "State"), .init(title: "Changed", isFlexible: true), .init(title: "At"))
        for operation in self {
            let changed = operation.kind == .update ? operation.changedProperties.joined(separator: ", ") : "–"
            table.append(
                .init(operation.id.grouped), .init("\(operation.kind)", colour: .waiting),
                .init(try wallet.title(of: operation.model, id: operation.localID)),
                .init(operation.stateInWords.0, colour: operation.stateInWords.1), .init(changed),
                .init(operation.changedAt.timeOfDay))
        }
        table.print(on: screen)
    }
}
