/// The network as the kernel has listed it.
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
        // An address that is good for one cable, as each interface gives itself one, is none.
        return addresses.contains { $0.scope < 253 && isRunning($0.link) } ? .local : .none
    }

    /// The interfaces that have default routes, the one preferred first.
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
        // One whose interface is not told of leads over any.
        route.links.isEmpty ? links.keys.contains(where: isRunning) : route.links.contains(where: isRunning)
    }

    private func isRunning(_ index: Int32) -> Bool {
        links[index].map { $0.isRunning && !$0.isLoopback } ?? false
    }
}

private func < (lhs: (UInt32, [Int32]), rhs: (UInt32, [Int32])) -> Bool {
    lhs.0 != rhs.0 ? lhs.0 < rhs.0 : lhs.1.lexicographicallyPrecedes(rhs.1)
}
