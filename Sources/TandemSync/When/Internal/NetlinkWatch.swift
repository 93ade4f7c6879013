#if os(Linux) || os(Android)
    import Dispatch
    import Foundation

    extension SystemNetworkMonitor {
        /// Whether the first of some interfaces that is a device is a mobile modem.
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
            _ isMetered: @escaping @Sendable ([String]) -> Bool, _ tell: @escaping @Sendable (NetworkState) -> Void
        ) -> (any NetworkWatch)? {
            NetlinkWatch {
                // What was told last is kept where the system can't be asked.
                guard let state = read(isMetered) else { return false }
                tell(state)
                return true
            }
        }
    }

    /// Hears what the kernel says of the network. What it says is a reason to ask for everything: the messages alone do
    /// not tell all, for one that the routes of an interface go when it is switched off.
    ///
    /// `@unchecked Sendable`: a dispatch source may be cancelled from any thread, any number of times, and nothing else is
    /// done with it once it was made.
    private final class NetlinkWatch: NetworkWatch, @unchecked Sendable {
        private let source: any DispatchSourceRead
        private let look: RepeatedLook

        /// - Parameter onChange: Looks; `false` if the system can't be asked. It is called again a second later then.
        init?(_ onChange: @escaping @Sendable () -> Bool) {
            guard let socket = NetlinkSocket(groups: NetlinkSocket.changes) else { return nil }
            let queue = DispatchQueue(label: "tandem.network", qos: .utility)
            source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
            let look = RepeatedLook(later: { queue.asyncAfter(deadline: .now() + 1, execute: $0) }, look: onChange)
            self.look = look
            source.setEventHandler {
                if Self.hasChange(socket) { look.run() }
            }
            source.setCancelHandler { socket.end() }
            source.activate()
            // What has changed between the first look and now.
            queue.async { look.run() }
        }

        func end() {
            look.end()
            source.cancel()
        }

        /// Reads all that is there, so that a storm of messages makes for one look.
        private static func hasChange(_ socket: NetlinkSocket) -> Bool {
            var hasChanged = false
            while true {
                switch socket.receive() {
                case .datagram(let bytes):
                    hasChanged = hasChanged || NetlinkReader.messages(bytes).contains(where: \.isRelevant)
                case .overrun: hasChanged = true
                // An error is told once, and gone by the next call.
                case .nothing, .failure: return hasChanged
                }
            }
        }
    }
#endif
