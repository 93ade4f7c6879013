import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Stored values of synchronization are read as a model's values.
@Suite(.ownThreads) struct StoredValueTests {
    @Test func `each type is read from its stored form`() throws {
        var dice = Dice(seed: 11)
        for _ in 0..<50 {
            let object = EveryType.random(&dice)
            let values = ModelValues.values(of: object)
            #expect(try EveryType.value(of: { $0.big }, in: values) == object.big)
            // A date can be NaN too.
            let bits = try EveryType.value(of: { $0.date }, in: values)?.timeIntervalSinceReferenceDate.bitPattern
            #expect(bits == object.date.timeIntervalSinceReferenceDate.bitPattern)
            #expect(try EveryType.value(of: { $0.text }, in: values) == object.text)
            #expect(try EveryType.value(of: { $0.decimal }, in: values) == object.decimal)
            #expect(try EveryType.value(of: { $0.maybeInt64 }, in: values) == .some(object.maybeInt64))
        }
    }

    @Test func `a missing value is nil`() throws {
        #expect(try EveryType.value(of: { $0.big }, in: ["text": "only this"]) == nil)
    }

    @Test func `a value of another type is an error`() throws {
        let error = #expect(throws: TandemError.self) {
            try EveryType.value(of: { $0.big }, in: ["big": "no number"])
        }
        #expect(error?.code == .corrupt && error?.property == "big" && error?.model == "EveryType")
    }
}
