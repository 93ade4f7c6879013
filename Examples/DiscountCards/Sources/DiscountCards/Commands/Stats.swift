import ArgumentParser
import Foundation
import Tandem

struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count the store's objects, and sum the points by owner, exactly.")

    @OptionGroup var options: StoreOptions

    func run() throws {
        try options.openWallet().printStats(on: .output)
    }
}

extension Wallet {
    func printStats(on screen: Screen) throws {
        let counts = try store.read { tx in
            [
                ("Cards", try tx.objects(Card.self).count()), ("Brands", try tx.objects(Brand.self).count()),
                ("People", try tx.objects(Person.self).count()), ("Stars", try tx.objects(Star.self).count()),
                ("Waiting to be sent", try tx.operations.count()),
            ]
        }
        for (name, count) in counts {
            screen.print("  \(name.padded(toColumns: 20)) \(count.grouped.padded(toColumns: 8, onLeft: true))")
        }
        let size = try FileManager.default.attributesOfItem(atPath: store.path)[.size] as? Int ?? 0
        let megabytes = String(format: "%.1f MB", Double(size) / 1e6)
        screen.print("  \("Size".padded(toColumns: 20)) \(megabytes.padded(toColumns: 8, onLeft: true))\n")

        var table = Table(
            .init(title: "Owner", isFlexible: true), .init(title: "Cards", isNumber: true),
            .init(title: "Points", isNumber: true), .init(title: "Most on one card", isNumber: true))
        let groups = try store.objects(Card.self).grouped(by: \.owner.name).values(
            .count, .sum(\.points), .max(\.points))
        for (owner, (count, points, most)) in groups {
            table.append(
                .init(owner ?? "–"), .init(count.grouped), .init(points.grouped), .init(most?.grouped ?? "–"))
        }
        table.print(on: screen)
    }
}
