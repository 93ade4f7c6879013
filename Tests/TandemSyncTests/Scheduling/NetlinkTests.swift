import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Recorded messages of the kernel of Linux 6.18 about the network, and their decoding.
@Suite(.ownThreads) struct NetlinkTests {
    // Recorded on a little-endian machine with a loopback that is down and a bridge x0 that is up. Of the links only
    // the beginnings, with adjusted lengths.
    private static let loopback =
        "2c000000100002001200000047110000" + "00000403010000000800000000000000" + "070003006c6f0000" + "00000000"
    private static let bridge =
        "2c000000100002001200000047110000" + "00000100020000004310010000000000" + "0700030078300000" + "00000000"
    private static let addresses =
        """
        4c0000001400020016000000471100000218800002000000080001000a090001080002000a090001070003007830000008000800\
        8000000014000600ffffffffffffffffea526200ea526200500000001400020016000000471100000a40c0fd0200000014000100\
        fe80000000000000a4532afffe55e7e214000600ffffffffffffffffea526200ea52620008000800c000000005000b0003000000
        """
    private static let defaultRoute =
        "3c000000180002001a0000004711000002000000fe0300010000000008000f00fe0000000800060058020000080005000a090002080004"
        + "0002000000"
    private static let otherRoutes =
        """
        3c000000180002001a0000004711000002180000fe02fd010000000008000f00fe000000080001000a090000080007000a090001\
        08000400020000003c000000180002001a0000004711000002200000ff02fe020000000008000f00ff000000080001000a090001\
        080007000a090001080004000200000074000000180002001a000000471100000a400000fe0200010000000008000f00fe000000\
        14000100fe8000000000000000000000000000000800060000010000080004000200000024000c00000000000000000000000000\
        00000000000000000000000000000000000000000500140000000000
        """
    private static let done = "14000000030002001a0000004711000000000000"

    private func bytes(_ text: String) -> [UInt8] {
        var digits = text[...]
        var bytes: [UInt8] = []
        while let byte = UInt8(digits.prefix(2), radix: 16) {
            bytes.append(byte)
            digits = digits.dropFirst(2)
        }
        return bytes
    }

    private func messages(_ texts: String...) -> [NetlinkMessage] {
        NetlinkReader.messages(bytes(texts.joined()))
    }

    private func picture(_ texts: String...) -> NetworkPicture {
        var picture = NetworkPicture()
        for message in NetlinkReader.messages(bytes(texts.joined())) { picture.add(message) }
        return picture
    }

    /// A message with some of its bytes changed.
    private func changed(_ text: String, _ change: (inout [UInt8]) -> Void) -> String {
        var all = bytes(text)
        change(&all)
        return all.map { String(format: "%02x", $0) }.joined()
    }

    @Test func `recorded messages are decoded`() {
        #expect(
            messages(Self.loopback, Self.bridge) == [
                .link(NetworkLink(index: 1, name: "lo", flags: 0x8)),
                .link(NetworkLink(index: 2, name: "x0", flags: 0x11043)),
            ])
        #expect(
            messages(Self.addresses) == [
                .address(NetworkAddress(link: 2, scope: 0)), .address(NetworkAddress(link: 2, scope: 253)),
            ])
        #expect(
            messages(Self.defaultRoute, Self.otherRoutes, Self.done) == [
                .defaultRoute(DefaultRoute(links: [2], metric: 600)), .other, .other, .other,
                .done(wasInterrupted: false),
            ])
        let interrupted = changed(Self.done) { $0[6] |= 0x10 }
        #expect(messages(interrupted) == [.done(wasInterrupted: true)])
        // The kernel may set the mark in any part of a list. Notifications of a change have no such mark.
        #expect(messages(changed(Self.bridge) { $0[6] |= 0x10 }) == [.interrupted])
        #expect(messages(changed(Self.bridge) { $0[6] = 0x10 }) != [.interrupted])
        // An error: the request's number is unknown (`EOPNOTSUPP`).
        let error = "24000000020000001a00000047110000a1ffffff" + String(repeating: "00", count: 16)
        #expect(messages(error) == [.error(-95)])
    }

    @Test func `the reach follows from the links, addresses and routes`() {
        let links = Self.loopback + Self.bridge
        #expect(picture(links).reach == .none)
        #expect(picture(links, Self.addresses).reach == .local)
        #expect(picture(links, Self.addresses, Self.defaultRoute).reach == .wide)
        #expect(picture(links, Self.defaultRoute, Self.otherRoutes).interfaces == ["x0"])
        // A link-local address does not count.
        #expect(picture(links, changed(Self.addresses) { $0[19] = 253 }).reach == .none)
        // Down; up without a carrier; the loopback.
        for flags: UInt8 in [0x02, 0x03, 0x4b] {
            let link = changed(Self.bridge) { $0[24] = flags }
            #expect(picture(link, Self.addresses, Self.defaultRoute).reach == .none)
            #expect(picture(link, Self.defaultRoute).interfaces == [])
        }
        // A route that reports that there is no way (`RTN_UNREACHABLE`).
        #expect(picture(links, changed(Self.defaultRoute) { $0[23] = 7 }).reach == .none)
        // Over an unknown interface.
        #expect(picture(links, changed(Self.defaultRoute) { $0[56] = 9 }).reach == .none)
    }

    @Test func `the route with the smallest metric comes first`() {
        let second = changed(Self.bridge) {
            $0[20] = 3
            $0[36] = UInt8(ascii: "y")
        }
        let better = changed(Self.defaultRoute) {
            ($0[40], $0[41]) = (1, 0)
            $0[56] = 3
        }
        #expect(picture(Self.bridge, second, Self.defaultRoute, better).interfaces == ["y0", "x0"])
    }

    @Test func `a route with several hops uses each`() {
        // RTA_MULTIPATH with two hops, over 7 and 2.
        let text =
            "3c00000018000200000000000000000002000000fe030001000000001400090008000000070000000800000002000000"
            + "080006000a000000" + "00000000"
        #expect(messages(text) == [.defaultRoute(DefaultRoute(links: [7, 2], metric: 10))])
        #expect(picture(Self.bridge, text).reach == .wide)
        #expect(picture(Self.bridge, text).interfaces == ["x0"])
        // The kernel names no interface: any that is up matches.
        let bare = "1c00000018000200000000000000000002000000fe03000100000000"
        #expect(messages(bare) == [.defaultRoute(DefaultRoute(links: [], metric: 0))])
        #expect(picture(Self.loopback, bare).reach == .none && picture(Self.bridge, bare).reach == .wide)
    }

    @Test func `a notification triggers a query only if it is relevant`() {
        func removed(_ text: String, _ type: UInt8) -> String { changed(text) { $0[4] = type } }
        #expect(messages(removed(Self.bridge, 17)) == [.removed(isRelevant: true)])
        #expect(messages(removed(Self.defaultRoute, 25)) == [.removed(isRelevant: true)])
        let other = String(Self.otherRoutes.prefix(120))
        #expect(messages(removed(other, 25)) == [.removed(isRelevant: false)])
        #expect(messages(other).map(\.isRelevant) == [false])
        let all = messages(Self.addresses, Self.bridge, Self.defaultRoute)
        #expect(all.count == 4 && !all.contains { !$0.isRelevant })
        #expect(messages("10000000040000000000000000000000") == [.overrun] && NetlinkMessage.overrun.isRelevant)
    }

    @Test func `truncated or damaged messages are ignored`() {
        let all = bytes(Self.loopback + Self.bridge + Self.addresses + Self.defaultRoute + Self.otherRoutes + Self.done)
        let whole = NetlinkReader.messages(all)
        #expect(whole.count == 9)
        // A truncation ends the decoding, and earlier messages remain.
        for count in 0..<all.count {
            let cut = NetlinkReader.messages(Array(all[..<count]))
            #expect(cut.count < whole.count && cut[...] == whole.prefix(cut.count))
        }
        // Invalid lengths.
        for length: UInt32 in [0, 1, 15, 16, 17, 20, 0x7fff_ffff, 0xffff_fffd, .max] {
            var damaged = all
            withUnsafeBytes(of: length) { damaged.replaceSubrange(0..<4, with: $0) }
            #expect(NetlinkReader.messages(damaged).count <= whole.count)
        }
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            var damaged = all
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                damaged[Int.random(in: 0..<all.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var picture = NetworkPicture()
            for message in NetlinkReader.messages(damaged) { picture.add(message) }
            _ = (picture.reach, picture.interfaces)
        }
    }
}
