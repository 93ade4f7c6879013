import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads) struct WireTimestampTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0, 0), ("2001-01-01T00:00:00.000Z", 978_307_200, 0),
            ("2026-11-21T03:14:34.003Z", 1_795_230_874, 3_000_000), ("2026-11-21T03:14:34", 1_795_230_874, 0),
            ("2026-11-21T03:14:34.1234567Z", 1_795_230_874, 123_456_700),
            ("2026-11-21T03:14:34.123456789+05:30", 1_795_211_074, 123_456_789),
            ("2026-11-20T21:14:34-06:00", 1_795_230_874, 0), ("2024-02-29T23:59:59.9Z", 1_709_251_199, 900_000_000),
            ("2000-02-29T00:00:00Z", 951_782_400, 0), ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
            ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999),
            ("1600-02-29T12:00:00Z", -11_670_955_200, 0),
        ] as [(String, Int64, Int64)])
    func `a valid time is parsed`(text: String, seconds: Int64, nanoseconds: Int64) throws {
        let time = try #require(WireTimestamp(text))
        #expect(time.seconds == seconds)
        #expect(time.nanoseconds == nanoseconds)
        #expect(time.text == text)
    }

    @Test(
        arguments: [
            ("2026-11-21T03:14:34.003Z", "2026-11-21T03:14:34.004Z"),
            ("2026-11-21T03:14:34.1234567Z", "2026-11-21T03:14:34.1234568Z"),
            ("2026-11-21T03:14:34.123456789Z", "2026-11-21T03:14:34.123456790Z"),
            ("2026-11-21T03:14:34Z", "2026-11-21T03:14:35Z"), ("2026-11-21T03:14:34", "2026-11-21T03:14:35Z"),
            ("2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"),
            ("2026-11-21T08:44:34.5+05:30", "2026-11-21T03:14:34.6Z"), ("9999-12-31T23:59:59.9Z", nil),
            ("1969-12-31T23:59:59.9Z", "1970-01-01T00:00:00.0Z"),
        ] as [(String, String?)])
    func `the next time is larger by one last digit`(text: String, next: String?) throws {
        let time = try #require(WireTimestamp(text))
        #expect(time.next?.text == next)
        if let next = time.next { #expect(time < next) }
    }

    @Test(
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21 03:14:34Z", "2026-11-21t03:14:34Z", "2026-11-21T03:14Z",
            "2026-11-21T03:14:34.Z", "2026-11-21T03:14:34.1234567890Z", "2026-11-21T03:14:34z",
            "2026-11-21T03:14:34+0200", "2026-11-21T03:14:34+02", "2026-11-21T03:14:34+24:00",
            "2026-11-21T03:14:34+02:60",
            "2026-11-21T24:00:00Z", "2026-11-21T03:60:00Z", "2026-12-31T23:59:60Z", "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z", "2026-11-00T00:00:00Z", "0000-12-31T23:59:59Z", "-001-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2026-11-21T03:14:34Z ",
            " 2026-11-21T03:14:34Z", "2026-11-21T03:14:34ZZ", "٢٠٢٦-11-21T03:14:34Z", "2026-1١-21T03:14:34Z",
            "2026-11-21T03:14:3é", "2026-11-21T03:14:34.5,Z", "+026-11-21T03:14:34Z", "2026-11-21T03:14:34'",
        ])
    func `an invalid time is refused`(text: String) {
        #expect(WireTimestamp(text) == nil)
    }

    /// Covers each day at each precision.
    @Test func `each day is written as it was read`() throws {
        var random = SeededGenerator(seed: 6)
        let days = -719_162...2_932_896 as ClosedRange<Int64>
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for round in 0..<4000 {
            let day = round == 0 ? days.lowerBound : round == 1 ? days.upperBound : .random(in: days, using: &random)
            let second = day * 86_400 + .random(in: 0..<86_400, using: &random)
            let date = Date(timeIntervalSince1970: Double(second))
            let time = try #require(WireTimestamp(date, fractionDigits: 0))
            #expect(time.seconds == second)
            #expect(WireTimestamp(time.text) == time)
            #expect(WireTimestamp(time.text)?.date == date)
            // Foundation's calendar is Gregorian only from 1582 on.
            guard day > -140_000, round % 10 == 0 else { continue }
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let text = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second].map { $0 ?? 0 }
            let numbers = time.text.split { !$0.isNumber }.compactMap { Int($0) }
            #expect(numbers == text)
        }
    }

    @Test(arguments: 0...9) func `a time is written as it was read`(digits: Int) throws {
        var random = SeededGenerator(seed: UInt64(digits))
        for _ in 0..<2000 {
            // A `Date` of this century resolves a tenth of a microsecond, and one of the year 9999 resolves thirty.
            let isNear = Bool.random(using: &random)
            let kept = isNear ? min(digits, 6) : min(digits, 4)
            let seconds = Int64.random(
                in: isNear ? 0...4_000_000_000 : WireTime.range, using: &random)
            let whole = WireTime.text(seconds: seconds, nanoseconds: 0, fractionDigits: 0).dropLast()
            let fraction = (0..<kept).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
            let zeros = String(repeating: "0", count: digits - kept)
            let text = whole + (digits == 0 ? "" : "." + fraction + zeros) + "Z"
            let time = try #require(WireTimestamp(String(text)))
            #expect(
                WireTimestamp(time.date, fractionDigits: kept)?.text == whole + (kept == 0 ? "" : "." + fraction) + "Z")
        }
    }

    @Test func `time below the precision is rounded towards the past`() throws {
        func text(_ interval: Double, _ digits: Int) -> String? {
            WireTimestamp(Date(timeIntervalSinceReferenceDate: interval), fractionDigits: digits)?.text
        }
        #expect(text(0.9999, 3) == "2001-01-01T00:00:00.999Z")
        #expect(text(0.9999, 0) == "2001-01-01T00:00:00Z")
        #expect(text(-0.0001, 3) == "2000-12-31T23:59:59.999Z")
        #expect(text(-0.0001, 0) == "2000-12-31T23:59:59Z")
        #expect(text(0.5.nextDown, 1) == "2001-01-01T00:00:00.4Z")
        #expect(text(-1e-20, 9) == "2000-12-31T23:59:59.999999999Z")
        #expect(text(0.123456789, 9) == "2001-01-01T00:00:00.123456789Z")
        #expect(text(0, -3) == "2001-01-01T00:00:00Z")
        #expect(text(0, 99) == "2001-01-01T00:00:00.000000000Z")
        #expect(text(.nan, 3) == nil)
        #expect(text(.infinity, 3) == nil)
        #expect(text(252_423_993_600, 3) == nil, "the year 10000")
        #expect(text(-63_113_904_000.001, 3) == nil, "the year 0")
        #expect(text(-63_113_904_000, 3) == "0001-01-01T00:00:00.000Z")
    }

    @Test func `times are compared by their instant`() throws {
        let utc = try #require(WireTimestamp("2026-11-21T03:14:34.1Z"))
        let east = try #require(WireTimestamp("2026-11-21T05:14:34.100+02:00"))
        let later = try #require(WireTimestamp("2026-11-21T03:14:34.100000001Z"))
        #expect(utc == east)
        #expect(utc.hashValue == east.hashValue)
        #expect(utc < later)
        #expect(!(later < east))
    }
}
