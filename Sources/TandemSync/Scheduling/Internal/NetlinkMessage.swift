/// A message of the kernel about the network, in the format of rtnetlink (`man 7 rtnetlink`). The decoder is pure:
/// bytes in, values out.
enum NetlinkMessage: Hashable, Sendable {
    case link(NetworkLink)
    case address(NetworkAddress)
    case defaultRoute(DefaultRoute)
    /// An item was removed. The picture of the network may depend on it.
    case removed(isRelevant: Bool)
    /// The end of a list. The list may have changed while it was sent.
    case done(wasInterrupted: Bool)
    /// An item of a list that changed while it was sent.
    case interrupted
    case error(Int32)
    /// Messages were lost.
    case overrun
    /// Any other message, for example a route to a single network.
    case other

    /// Whether the known state may have changed.
    var isRelevant: Bool {
        switch self {
        case .link, .address, .defaultRoute, .overrun: true
        case .removed(let isRelevant): isRelevant
        case .done, .interrupted, .error, .other: false
        }
    }
}

struct NetworkLink: Hashable, Sendable {
    var index: Int32
    var name: String
    var flags: UInt32

    var isLoopback: Bool { flags & 0x8 != 0 }
    /// Whether the interface is up and connected (`IFF_UP`, `IFF_RUNNING`).
    var isRunning: Bool { flags & 0x41 == 0x41 }
}

struct NetworkAddress: Hashable, Sendable {
    var link: Int32
    /// The scope; a smaller value is wider: 0 is global, 253 the link, 254 this machine.
    var scope: UInt8
}

struct DefaultRoute: Hashable, Sendable {
    /// The interfaces of the route; empty if the kernel names none.
    var links: [Int32]
    /// The metric; a smaller value is preferred.
    var metric: UInt32
}

enum NetlinkReader {
    static let header = 16

    /// Returns the messages of a datagram. A truncated message, or one with a wrong length, ends the decoding and is
    /// dropped.
    static func messages(_ bytes: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var place = 0
        while let length = bytes.uint32(place), length >= UInt32(header), bytes.count - place >= Int(length) {
            if let message = message(Array(bytes[place..<place + Int(length)])) { messages.append(message) }
            place += (Int(length) + 3) & ~3
            guard place < bytes.count else { break }
        }
        return messages
    }

    private static func message(_ bytes: [UInt8]) -> NetlinkMessage? {
        guard let type = bytes.uint16(4), let flags = bytes.uint16(6) else { return nil }
        // `NLM_F_MULTI`, `NLM_F_DUMP_INTR`: the kernel sets this flag once, and not always on the last message.
        if flags & 0x12 == 0x12, type != 3 { return .interrupted }
        switch type {
        case 2: return bytes.int32(header).map { .error($0) }
        case 3: return .done(wasInterrupted: flags & 0x10 != 0)
        case 4: return .overrun
        case 16: return link(bytes).map { .link($0) }
        case 17, 21: return .removed(isRelevant: true)
        case 20: return address(bytes).map { .address($0) }
        case 24: return isDefault(bytes).map { $0 ? .defaultRoute(route(bytes)) : .other }
        case 25: return isDefault(bytes).map { .removed(isRelevant: $0) }
        default: return .other
        }
    }

    /// `struct ifinfomsg`.
    private static func link(_ bytes: [UInt8]) -> NetworkLink? {
        guard let index = bytes.int32(header + 4), let flags = bytes.uint32(header + 8),
            bytes.count >= header + 16
        else { return nil }
        let name = attributes(bytes, after: 16)[3].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return NetworkLink(index: index, name: name ?? "", flags: flags)
    }

    /// `struct ifaddrmsg`.
    private static func address(_ bytes: [UInt8]) -> NetworkAddress? {
        guard bytes.count >= header + 8, let link = bytes.int32(header + 4) else { return nil }
        return NetworkAddress(link: link, scope: bytes[header + 3])
    }

    /// Returns whether a `struct rtmsg` is a usable default route.
    private static func isDefault(_ bytes: [UInt8]) -> Bool? {
        guard bytes.count >= header + 12 else { return nil }
        let isOfInternet = bytes[header] == 2 || bytes[header] == 10
        return isOfInternet && bytes[header + 1] == 0 && bytes[header + 7] == 1
    }

    private static func route(_ bytes: [UInt8]) -> DefaultRoute {
        let attributes = attributes(bytes, after: 12)
        var links = [attributes[4]?.int32(0)].compactMap { $0 }
        // `struct rtnexthop`, several of them.
        if let hops = attributes[9] {
            var place = 0
            while let length = hops.uint16(place), length >= 8, let link = hops.int32(place + 4) {
                links.append(link)
                place += (Int(length) + 3) & ~3
            }
        }
        return DefaultRoute(links: links, metric: attributes[6]?.uint32(0) ?? 0)
    }

    /// Returns the attributes by their types. Each kind of message has its own types.
    private static func attributes(_ bytes: [UInt8], after length: Int) -> [UInt16: [UInt8]] {
        var attributes: [UInt16: [UInt8]] = [:]
        var place = header + length
        while let length = bytes.uint16(place), let type = bytes.uint16(place + 2), length >= 4,
            bytes.count - place >= Int(length)
        {
            // The two highest bits are flags about the value's format.
            attributes[type & 0x3fff] = Array(bytes[place + 4..<place + Int(length)])
            place += (Int(length) + 3) & ~3
        }
        return attributes
    }
}

// Netlink uses the byte order of the machine.
extension [UInt8] {
    fileprivate func uint16(_ place: Int) -> UInt16? { number(place) }
    fileprivate func uint32(_ place: Int) -> UInt32? { number(place) }
    fileprivate func int32(_ place: Int) -> Int32? { number(place) }

    private func number<Number: FixedWidthInteger>(_ place: Int) -> Number? {
        let size = MemoryLayout<Number>.size
        guard place >= 0, count - place >= size else { return nil }
        return self[place..<place + size].withUnsafeBytes { $0.loadUnaligned(as: Number.self) }
    }
}
