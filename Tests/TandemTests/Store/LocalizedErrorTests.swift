import Foundation
import SQLiteCipher
import TestSupport
import Testing

@testable import Tandem

@Suite("Localized errors", .ownThreads)
struct LocalizedErrorTests {
    @Test func `every code has advice and every error its message and subject`() {
        #expect(TandemError.Code.all.count > 30 && CipherError.Code.all.count > 15)
        for code in TandemError.Code.all {
            let error = TandemError(code, message: "The name is taken.", model: "Card", property: "name")
            #expect(error.localizedDescription == "Card.name: The name is taken.")
            #expect(error.recoverySuggestion?.hasSuffix(".") == true, "\(code)")
        }
        for code in CipherError.Code.all { #expect(code.advice.hasSuffix("."), "\(code)") }
    }

    /// Finds the types in the sources of all products except test support, so that a new type can't be forgotten.
    @Test func `every public error type has texts for an alert`() throws {
        var (types, localized): (Set<String>, Set<String>) = ([], [])
        for path in try Article.paths(in: "Sources", ending: ".swift") where !path.hasPrefix("Sources/TandemTesting/") {
            let text = try String(contentsOf: Snippets.root.appendingPathComponent(path), encoding: .utf8)
            for match in text.matches(of: /public (?:struct|enum) (\w+): (?:[\w, ]+, )?Error\b/) {
                types.insert(String(match.1))
            }
            for match in text.matches(of: /extension (?:\w+\.)?(\w+): LocalizedError\b/) {
                localized.insert(String(match.1))
            }
        }
        #expect(types.count > 15)
        #expect(types.subtracting(localized) == [])
    }

    @Test func `an error's own advice comes before its code's`() {
        let error = TandemError(.busy, message: "Another process writes.", advice: "Wait for it.")
        #expect(error.recoverySuggestion == "Wait for it.")
        #expect(TandemError(.busy, message: "").recoverySuggestion == TandemError.Code.busy.advice)
    }

    @Test func `errors of real calls name their subject`() throws {
        let store = try Store.inMemory(models: Badge.self)
        try store.write { _ = try $0.insert(Badge(name: "Пятёрочка")) }
        let taken = #expect(throws: TandemError.self) {
            try store.write { _ = try $0.insert(Badge(name: "Пятёрочка")) }
        }
        #expect(taken?.localizedDescription.hasPrefix("Badge.name: ") == true && taken?.recoverySuggestion != nil)
        let unknown = #expect(throws: TandemError.self) { try store.objects(Person.self).count() }
        #expect(unknown?.localizedDescription.contains("Person") == true && unknown?.recoverySuggestion != nil)
        let path = try TestFolder().file("missing/cards.tandem")
        let opening = #expect(throws: TandemError.self) { try Store(at: path, models: Badge.self) }
        #expect(opening?.recoverySuggestion != nil && "\(opening as Any)".contains(path))
        let key = #expect(throws: CipherError.self) {
            try EncryptedDatabase(path: path, key: .raw([1, 2, 3]))
        }
        #expect(key?.recoverySuggestion != nil && key?.localizedDescription != nil)
    }
}
