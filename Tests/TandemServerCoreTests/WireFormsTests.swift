import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import TandemServerCore

@Suite(.ownThreads) struct WireFormsTests {
    /// Times in ticks of 100 ns.
    @Test(arguments: [
        ("2026-11-21T03:14:33.887Z", 17_952_308_738_870_000), ("2026-11-21T03:14:33.887+00:00", 17_952_308_738_870_000),
        ("2026-11-21t03:14:33.8870000z", 17_952_308_738_870_000),
        ("2026-11-21T04:44:33.887+01:30", 17_952_308_738_870_000),
        ("2026-11-20T23:14:33.887-0400", 17_952_308_738_870_000), ("1970-01-01", 0), ("1970-01-01T00:00", 0),
        ("1969-12-31T23:59:59.9999999Z", -1), ("0001-01-01T00:00:00Z", -621_355_968_000_000_000),
        ("9999-12-31T23:59:59.999Z", 2_534_023_007_999_990_000), ("2024-02-29 00:00:00", 17_091_648_000_000_000),
    ])
    func `times are parsed`(text: String, ticks: Int64) {
        #expect(WireDateText.parse(text) == ticks)
    }

    @Test(arguments: [
        "", "2026", "2026-1-21", "2026-11-21T", "2026-11-21T03", "2026-11-21T24:00:00Z", "2026-02-29", "0000-01-01",
        "2026-13-01", "2026-11-31", "2026-11-21T03:14:60Z", "2026-11-21T03:14:33.Z", "2026-11-21T03:14:33+1",
        "2026-11-21T03:14:33+99:00", "2026-11-21X03:14:33Z", "２０２６-11-21", "2026-11-21T03:14:33ZZ",
    ])
    func `invalid times are refused`(text: String) {
        #expect(WireDateText.parse(text) == nil)
    }

    @Test func `times agree with Foundation`() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            // Foundation's calendar is Julian before 1582.
            let milliseconds = Int64.random(in: -12_000_000_000_000...253_402_300_799_999, using: &random)
            let text = WireDateText.iso(milliseconds: milliseconds)
            let date = try #require(formatter.date(from: text))
            #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) == milliseconds, "\(text)")
            #expect(WireDateText.parse(text) == milliseconds * 10_000)
            let seconds = milliseconds.quotientAndRemainder(flooringBy: 1000).quotient * 1000
            #expect(WireDateText.parseHTTP(WireDateText.http(milliseconds: milliseconds)) == seconds)
        }
        #expect(WireDateText.http(milliseconds: 784_111_777_000) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(arguments: [
        ("PT1H", 3600.0), ("P1D", 86_400), ("P1DT2H3M4.5S", 93_784.5), ("-PT0.0000001S", -1e-7), ("PT90M", 5400),
        ("P", nil), ("1H", nil), ("PT", nil), ("P1H", nil), ("PT1D", nil), ("PT1", nil), ("PTH", nil), ("PT1..5S", nil),
        ("P99999999999999999999D", nil),
    ])
    func `durations are parsed`(text: String, seconds: Double?) {
        #expect(WireDateText.parseDuration(text) == seconds.map { Int64(($0 * 1e7).rounded()) })
    }

    @Test(arguments: [
        "null", "[]", "{}", "[1,-0,1.50,1e5,12345678901234567890123.4567890]", #"{"b":1,"a":{"é":"\"\\\n"},"":[{}]}"#,
        #""大润发😀\u0001""#, "true",
    ])
    func `JSON is written as it was read`(text: String) throws {
        let value = try JSONReader.read(Array(text.utf8), maximumDepth: 8)
        #expect(String(decoding: value.bytes, as: UTF8.self) == text)
    }

    @Test(arguments: [
        "", " ", "nul", "01", "1.", ".5", "-", "+1", "1e", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"",
        "\"\\ud83dx\"",
        "[1 2]", "[,1]", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "1 1", "/**/1", "\"\t\"", "NaN",
        "[[[[[[[[[",
        "﻿1",
    ])
    func `invalid JSON is refused`(text: String) {
        #expect(throws: JSONProblem.self) { try JSONReader.read(Array(text.utf8), maximumDepth: 8) }
    }

    @Test func `invalid UTF-8 is not JSON`() {
        for bytes in [[0x22, 0xFF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22]] as [[UInt8]] {
            #expect(throws: JSONProblem.self) { try JSONReader.read(bytes, maximumDepth: 8) }
        }
    }

    @Test func `a lenient reader accepts comments and trailing commas`() throws {
        let text = "/* a **/ {\"a\": [1, 2,], // b\n \"c\": {},}"
        let value = try JSONReader.read(Array(text.utf8), maximumDepth: 8, readsLikeDotNet: true)
        #expect(String(decoding: value.bytes, as: UTF8.self) == #"{"a":[1,2],"c":{}}"#)
        for text in ["[,]", "{,}", "[1,,]", "1e999", "-1e400", "/*1", "1 /", "{\"a\":1,,}"] {
            #expect(throws: JSONProblem.self) {
                try JSONReader.read(Array(text.utf8), maximumDepth: 8, readsLikeDotNet: true)
            }
        }
    }

    @Test func `the last of two equal members counts`() throws {
        let value = try JSONReader.read(Array(#"{"a":1,"b":2,"a":3,"é":1,"é":2}"#.utf8), maximumDepth: 8)
        #expect(String(decoding: value.bytes, as: UTF8.self) == #"{"a":3,"b":2,"é":1,"é":2}"#)
    }
}
