#if os(Linux) || os(Android)
    import Dispatch
    import Foundation

    extension SystemNetworkMonitor {
        /// Returns whether the first interface that is a device is a mobile modem.
        static func guess(_ interfaces: [String]) -> Bool {
            let folder = "/sys/class/net/"
            let device = interfaces.first { name in
                !name.contains("/") && FileManager.default.fileExists(atPath: folder + name + "/device")
            }
            guard let device, let text = try? String(contentsOfFile: folder + device + "/uevent", encoding: .utf8)
            else { return false }
            return text.split(separator: "\n").contains("DEVTYPE=wwan")
        }

        static func read(_ isMetered: ([String]) -> Bool) -> NetworkState? {
            NetworkPicture.read().map { picture in
                NetworkState(reach: picture.reach, isMetered: isMetered(picture.interfaces))
            }
        }

        static func watch(
            _ isMetered: @escaping @Sendable ([String]) -> Bool, onChange: @escaping @Sendable (NetworkState) -> Void
        ) -> (any NetworkWatch)? {
            NetlinkWatch {
                // If the system can't be asked, the last state stays.
                guard let state = read(isMetered) else { return false }
                onChange(state)
                return true
            }
        }
    }

    /// Listens to the kernel's network events. Each event causes a complete read, because the events are incomplete.
    /// For example, the kernel does not report the routes that disappear with an interface.
    ///
    /// Proof of `@unchecked Sendable`: on Linux, Dispatch does not declare its sources as `Sendable`. A source may be
    /// cancelled from any thread, any number of times. This class does nothing else with it after its start. `check` is
    /// `Sendable`.
    private final class NetlinkWatch: NetworkWatch, @unchecked Sendable {
        private let source: any DispatchSourceRead
        private let check: RetryingObserver

        /// - Parameter onChange: Reads the state; returns `false` if the system can't be asked. It is then called again
        ///   a second later.
        init?(_ onChange: @escaping @Sendable () -> Bool) {
            guard let socket = NetlinkSocket(groups: NetlinkSocket.changes) else { return nil }
            let queue = DispatchQueue(label: "tandem.network", qos: .utility)
            source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
            let check = RetryingObserver(
                later: { queue.asyncAfter(deadline: .now() + 1, execute: $0) }, check: onChange)
            self.check = check
            source.setEventHandler {
                if Self.hasChange(socket) { check.run() }
            }
            source.setCancelHandler { socket.end() }
            source.activate()
            // Reads the changes between the first read and now.
            queue.async { check.run() }
        }

        func end() {
            check.end()
            source.cancel()
        }

        /// Drains the socket, so that a burst of messages causes a single read.
        private static func hasChange(_ socket: NetlinkSocket) -> Bool {
            var hasChanged = false
            while true {
                switch socket.receive() {
                case .datagram(let bytes):
                    hasChanged = hasChanged || NetlinkReader.messages(bytes).contains(where: \.isRelevant)
                case .overrun: hasChanged = true
                // The socket reports an error once; the next call clears it.
                case .nothing, .failure: return hasChanged
                }
            }
        }
    }
#endif
