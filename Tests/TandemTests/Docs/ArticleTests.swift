import TestSupport
import Testing

/// Compiles the Swift in the README and in all articles against the libraries that were built with these tests.
@Suite(.startsProcesses, .ownThreads) struct ArticleTests {
    @Test func `every block of Swift in every article compiles`() throws {
        let articles = try Article.all()
        let libraries = Set(articles.compactMap { $0.path.split(separator: "/").dropLast().last })
        let expected = [
            "SQLiteCipher", "Tandem", "TandemDatasync", "TandemHTTP", "TandemKinto", "TandemServer", "TandemSync",
            "TandemTesting",
        ]
        #expect(libraries == Set(expected.map { "\($0).docc" }))
        for error in try SwiftCompiler().errors(in: articles.filter { !$0.blocks.isEmpty }) {
            Issue.record("\(error)")
        }
    }

    @Test func `a block that does not compile is reported with its article and line`() throws {
        let text = """
            ```swift
            import Tandem

            @Model struct Card {
                var shop: String
            }
            ```

            ```swift
            let store = try Store.inMemory(models: Card.self)
            let cards = store.objects(Card.self)
            ```

            ```swift
            print(try cards.count(), try cards.cuont())
            ```
            """
        let errors = try SwiftCompiler().errors(in: [Article(path: "Cards.md", text: text)])
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("Cards.md, block 3:15:") == true)
        #expect(errors.first?.contains("'cuont'") == true)
    }

    @Test func `a block that reads an uninitialized variable is reported`() throws {
        let text = "```swift\nlet shop: String\nprint(shop)\n```"
        let errors = try SwiftCompiler().errors(in: [Article(path: "Cards.md", text: text)])
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("Cards.md, block 1:3:") == true)
    }

    @Test func `every prelude belongs to an article`() throws {
        let needed = try Set(Article.all().filter { !$0.blocks.isEmpty }.map { Article.preludePath(of: $0.path) })
        for prelude in try Article.paths(in: Article.preludes, ending: ".prelude") {
            #expect(needed.contains(prelude), "\(prelude)")
        }
    }
}
