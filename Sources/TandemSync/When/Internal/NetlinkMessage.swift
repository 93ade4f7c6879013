/// What the kernel says of the network, in the form of rtnetlink (`man 7 rtnetlink`). Pure: bytes in, values out.
enum NetlinkMessage: Hashable, Sendable {
    case link(NetworkLink)
    case address(NetworkAddress)
    case defaultRoute(DefaultRoute)
    /// Something that has been added, changed or removed, and that the picture may hang on; or may not.
    case removed(isRelevant: Bool)
    /// The end of a list. What it tells may have changed while it was being sent.
    case done(wasInterrupted: Bool)
    /// Something of a list that has changed while it was being sent.
    case interrupted
    case error(Int32)
    /// Messages were lost.
    case overrun
    /// Anything else, a route to a single network for one.
    case other

    /// Whether what is known may be no longer so.
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
    /// Switched on, and with something at the other end (`IFF_UP`, `IFF_RUNNING`).
    var isRunning: Bool { flags & 0x41 == 0x41 }
}

struct NetworkAddress: Hashable, Sendable {
    var link: Int32
    /// Smaller is wider: 0 is everywhere, 253 this cable, 254 this machine.
    var scope: UInt8
}

struct DefaultRoute: Hashable, Sendable {
    /// The interfaces that it leads over; none where the kernel names none.
    var links: [Int32]
    /// The smaller is preferred.
    var metric: UInt32
}

enum NetlinkReader {
    static let header = 16

    /// The messages of a datagram. What is cut, or claims to be longer than it is, ends the reading: nothing of it is
    /// taken.
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
        // `NLM_F_MULTI`, `NLM_F_DUMP_INTR`: the kernel says so once, and not always with the end.
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

    /// Whether a `struct rtmsg` is of a route that leads anywhere, and to wherever no other one does.
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

    /// The attributes by their types, of which each message has its own.
    private static func attributes(_ bytes: [UInt8], after length: Int) -> [UInt16: [UInt8]] {
        var attributes: [UInt16: [UInt8]] = [:]
        var place = header + length
        while let length = bytes.uint16(place), let type = bytes.uint16(place + 2), length >= 4,
            bytes.count - place >= Int(length)
        {
            // The two highest bits say something of the value's form.
            attributes[type & 0x3fff] = Array(bytes[place + 4..<place + Int(length)])
            place += (Int(length) + 3) & ~3
        }
        return attributes
    }
}

// Netlink speaks in the machine's own order of bytes.
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
