import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemInspector

/// The examples in the article on the command, which are run.
@Suite(.ownThreads) struct InspectorArticleTests {
    /// A command of the article, and the output below it.
    private struct Example {
        let arguments: [String]
        var output = ""

        /// Returns the arguments of a command line with quotes.
        static func arguments(_ line: Substring) -> [String] {
            var arguments = [""]
            var quote: Character?
            for character in line {
                if character == quote {
                    quote = nil
                } else if quote == nil, character == "\"" || character == "'" {
                    quote = character
                } else if quote == nil, character == " " {
                    arguments.append("")
                } else {
                    arguments[arguments.count - 1].append(character)
                }
            }
            return arguments
        }
    }

    private func text() throws -> String {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        for _ in 0..<2 { folder.deleteLastPathComponent() }
        let path = folder.appendingPathComponent("Sources/Tandem/Tandem.docc/InspectingStores.md")
        return try String(contentsOf: path, encoding: .utf8)
    }

    private func examples() throws -> [Example] {
        var examples: [Example] = []
        var isOpen = false
        for line in try text().split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isOpen = line == "```console"
            } else if isOpen, line.hasPrefix("$ tandem ") {
                examples.append(Example(arguments: Example.arguments(line.dropFirst("$ tandem ".count))))
            } else if isOpen, !examples.isEmpty {
                examples[examples.count - 1].output += line + "\n"
            }
        }
        return examples
    }

    @Test func `each example has the output that the article shows`() throws {
        let fixture = try InspectorFixture()
        try fixture.store.write { tx in
            let ada = try tx.insert(Person(name: "Ада"))
            try tx.insert(Badge(name: "gold"))
            var first = Card(shop: "Лента", barcode: "1", points: 20, owner: ada.reference)
            first.note = "a, b"
            var second = Card(shop: "Магнит", barcode: "2", points: 300, owner: ada.reference)
            second.note = ""
            for card in [first, second, Card(shop: "東京ストア", barcode: "3", points: 5)] { try tx.insert(card) }
        }
        let examples = try examples()
        #expect(examples.count == 5)
        for example in examples {
            let console = TestConsole()
            _ = console.run(example.arguments.map { $0 == "cards.tandem" ? fixture.path : $0 })
            #expect(console.output + console.errors == example.output)
        }
    }

    @Test func `the article lists each command and each exit status`() throws {
        let text = try text()
        for command in RootCommand.configuration.subcommands {
            #expect(text.contains("| `\(command.configuration.commandName ?? "") STORE"))
        }
        for status in CommandStatus.allCases { #expect(text.contains("\n| \(status.rawValue) | ")) }
    }
}
