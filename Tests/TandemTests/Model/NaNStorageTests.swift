import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct NaNStorageTests {
    @Test(
        arguments: [
            (0x7FF8_0000_0000_0000, "7ff8000000000000"), (0xFFF8_0000_0000_0000, "fff8000000000000"),
            (0x7FF0_0000_0000_0001, "7ff0000000000001"), (0xFFFF_FFFF_FFFF_FFFF, "ffffffffffffffff"),
            (0x7FF8_0000_DEAD_BEEF, "7ff80000deadbeef"),
        ] as [(UInt64, String)])
    func `a NaN of a Double keeps its payload and sign`(bits: UInt64, expected: String) throws {
        var bytes: [UInt8] = []
        NaNStorage.append(Double(bitPattern: bits), to: &bytes)
        #expect(hex(bytes) == expected)
        #expect(try bytes.withUnsafeBytes(NaNStorage.decodeDouble).bitPattern == bits)
    }

    @Test(
        arguments: [
            (0x7FC0_0000, "7fc00000"), (0xFFC0_0001, "ffc00001"), (0x7F80_0001, "7f800001"), (0xFFFF_FFFF, "ffffffff"),
        ] as [(UInt32, String)])
    func `a NaN of a Float keeps its payload and sign`(bits: UInt32, expected: String) throws {
        var bytes: [UInt8] = []
        NaNStorage.append(Float(bitPattern: bits), to: &bytes)
        #expect(hex(bytes) == expected)
        #expect(try bytes.withUnsafeBytes(NaNStorage.decodeFloat).bitPattern == bits)
    }

    @Test(
        arguments: [
            "", "7ff8", "7fc00000", "7ff0000000000000", "fff0000000000000", "3ff0000000000000", "7ff800000000000000",
        ])
    func `bytes that are not a NaN of a Double are refused`(text: String) {
        #expect(throws: InvalidEncoding.self) { try unhex(text).withUnsafeBytes(NaNStorage.decodeDouble) }
    }

    @Test(
        arguments: ["", "7fc0", "7f800000", "3f800000", "7ff8000000000000"])
    func `bytes that are not a NaN of a Float are refused`(text: String) {
        #expect(throws: InvalidEncoding.self) { try unhex(text).withUnsafeBytes(NaNStorage.decodeFloat) }
    }
}
