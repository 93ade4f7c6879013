import Foundation
import Tandem
import TestSupport
import Testing

@testable import TandemSync

/// The encoder of the values of a request and of the record of its attempt.
@Suite(.ownThreads) struct ValueEncoderTests {
    @Model struct Reading {
        var place: String
        var at: Date
        var level: Double?
    }

    private let forms = ItemCoder(model: Reading.__definition, format: WireFormat())

    private func property(_ name: String) throws -> PropertyDefinition {
        try #require(forms.sent.first { $0.name == name })
    }

    @Test func `values of a request are recorded with the wire's rounding`() throws {
        let encoder = ValueEncoder(forms)
        let values: [String: StorageValue] = ["place": .text("Лента"), "at": .real(5.0004), "level": .null]
        let members = try forms.members(of: values, encoder: encoder)
        #expect(members.map(\.key) == ["place", "at", "level"])
        for (name, value) in values {
            let property = try property(name)
            #expect(try encoder.rounded(value, of: property) == forms.rounding(property, value))
        }
        #expect(try encoder.rounded(.real(5.0004), of: property("at")) == .real(5))
    }

    @Test func `another value of the same property is encoded again`() throws {
        let encoder = ValueEncoder(forms)
        let place = try property("place")
        for text in ["a", "b", "\u{e9}", "e\u{301}"] {
            guard case .text(let sent) = try encoder.node(of: .text(text), for: place) else {
                Issue.record("\(text) is not encoded as a string")
                continue
            }
            #expect(Array(sent.utf8) == Array(text.utf8))
        }
    }

    @Test func `a value that can't be encoded is refused in each call`() throws {
        let encoder = ValueEncoder(forms)
        let level = try property("level")
        for _ in 1...2 {
            #expect(throws: RequestEncodingError.self) { _ = try encoder.node(of: .real(.nan), for: level) }
        }
    }
}
