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
            let error = TandemError(code, "The name is taken.", model: "Card", property: "name")
            #expect(error.localizedDescription == "Card.name: The name is taken.")
            #expect(error.recoverySuggestion?.hasSuffix(".") == true, "\(code)")
        }
        for code in CipherError.Code.all { #expect(code.advice.hasSuffix("."), "\(code)") }
    }

    @Test func `an error's own advice comes before its code's`() {
        let error = TandemError(.busy, "Another process writes.", advice: "Wait for it.")
        #expect(error.recoverySuggestion == "Wait for it.")
        #expect(TandemError(.busy, "").recoverySuggestion == TandemError.Code.busy.advice)
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
