/// The state of the network as listed by the kernel.
struct NetworkPicture: Hashable, Sendable {
    private(set) var links: [Int32: NetworkLink] = [:]
    private(set) var addresses: Set<NetworkAddress> = []
    private(set) var routes: Set<DefaultRoute> = []

    mutating func add(_ message: NetlinkMessage) {
        switch message {
        case .link(let link): links[link.index] = link
        case .address(let address): addresses.insert(address)
        case .defaultRoute(let route): routes.insert(route)
        case .removed, .done, .interrupted, .error, .overrun, .other: break
        }
    }

    var reach: NetworkState.Reach {
        if routes.contains(where: leadsOut) { return .wide }
        // A link-local address does not count: each interface assigns one to itself.
        return addresses.contains { $0.scope < 253 && isRunning($0.link) } ? .local : .none
    }

    /// The interfaces with default routes, the preferred one first.
    var interfaces: [String] {
        var names: [String] = []
        for route in routes.filter(leadsOut).sorted(by: { ($0.metric, $0.links) < ($1.metric, $1.links) }) {
            for link in route.links {
                if let name = links[link]?.name, isRunning(link), !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    private func leadsOut(_ route: DefaultRoute) -> Bool {
        // A route without a named interface may use any.
        route.links.isEmpty ? links.keys.contains(where: isRunning) : route.links.contains(where: isRunning)
    }

    private func isRunning(_ index: Int32) -> Bool {
        links[index].map { $0.isRunning && !$0.isLoopback } ?? false
    }
}

private func < (lhs: (UInt32, [Int32]), rhs: (UInt32, [Int32])) -> Bool {
    lhs.0 != rhs.0 ? lhs.0 < rhs.0 : lhs.1.lexicographicallyPrecedes(rhs.1)
}
