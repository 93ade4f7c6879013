#if canImport(Network)
    import Dispatch
    import Network

    extension SystemNetworkMonitor {
        static func guess(_ interfaces: [String]) -> Bool { false }

        /// The system reports only to listeners.
        static func read(_ isMetered: ([String]) -> Bool) -> NetworkState? { nil }

        static func watch(
            _ isMetered: @escaping @Sendable ([String]) -> Bool, onChange: @escaping @Sendable (NetworkState) -> Void
        ) -> (any NetworkWatch)? {
            PathWatch(onChange)
        }
    }

    /// Proof of `@unchecked Sendable`: a path monitor may be cancelled from any thread. This class does nothing else
    /// with it after its start.
    private final class PathWatch: NetworkWatch, @unchecked Sendable {
        private let monitor = NWPathMonitor()

        init(_ onChange: @escaping @Sendable (NetworkState) -> Void) {
            monitor.pathUpdateHandler = { path in
                onChange(
                    NetworkState(
                        reach: path.status == .satisfied ? .wide : .none,
                        isMetered: path.isExpensive || path.isConstrained))
            }
            monitor.start(queue: DispatchQueue(label: "tandem.network"))
        }

        func end() { monitor.cancel() }
    }
#elseif !os(Linux) && !os(Android)
    extension SystemNetworkMonitor {
        static func guess(_ interfaces: [String]) -> Bool { false }
        static func read(_ isMetered: ([String]) -> Bool) -> NetworkState? { nil }

        static func watch(
            _ isMetered: @escaping @Sendable ([String]) -> Bool, onChange: @escaping @Sendable (NetworkState) -> Void
        ) -> (any NetworkWatch)? {
            nil
        }
    }
#endif
