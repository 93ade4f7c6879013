#if os(Linux) || os(Android)
    import Foundation

    /// A socket to the kernel's rtnetlink. Swift's Glibc lacks its headers, so the constants are here.
    struct NetlinkSocket: Sendable {
        let descriptor: Int32

        /// Links, IPv4 and IPv6 addresses, IPv4 and IPv6 routes (`RTMGRP_…`).
        static let changes: UInt32 = 0x1 | 0x10 | 0x100 | 0x40 | 0x400

        /// - Parameter groups: The groups of events to receive; 0 to receive only responses.
        /// - Returns: `nil` if the system does not allow it.
        init?(groups: UInt32) {
            // `AF_NETLINK`; `SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK`, which the C libraries have in different types;
            // `NETLINK_ROUTE`.
            let (family, kind, route) = (Int32(16), Int32(3 | 0o2_000_000 | 0o4_000), Int32(0))
            descriptor = socket(family, kind, route)
            guard descriptor >= 0 else { return nil }
            // `struct sockaddr_nl`: family, padding, the port that the kernel chooses, groups.
            let address: [UInt32] = [UInt32(UInt16(family).littleEndian), 0, groups]
            let isBound = address.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, 12) } == 0
            }
            guard isBound else {
                close(descriptor)
                return nil
            }
        }

        func end() { close(descriptor) }

        enum Received: Equatable {
            case datagram([UInt8])
            /// Messages were lost because the buffer was full.
            case overrun
            case nothing
            case failure
        }

        /// Returns the next datagram from the kernel, if there is one. Ignores other senders, because any process may
        /// send.
        func receive() -> Received {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                var sender: (family: UInt16, padding: UInt16, port: UInt32, groups: UInt32) = (0, 0, 0, 0)
                var size = socklen_t(12)
                let count = withUnsafeMutablePointer(to: &sender) { sender in
                    sender.withMemoryRebound(to: sockaddr.self, capacity: 1) { sender in
                        recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_TRUNC), sender, &size)
                    }
                }
                if count < 0 {
                    switch errno {
                    case EINTR: continue
                    case ENOBUFS: return .overrun
                    case EAGAIN, EWOULDBLOCK: return .nothing
                    default: return .failure
                    }
                }
                guard sender.port == 0 else { continue }
                // The datagram was longer than the buffer, so its content is lost.
                return count > buffer.count ? .overrun : .datagram(Array(buffer.prefix(count)))
            }
        }

        /// Requests a list of all items of a kind, and adds them.
        ///
        /// - Parameter type: `RTM_GETLINK`, `RTM_GETADDR`, `RTM_GETROUTE`.
        /// - Returns: `false` if the response was incomplete.
        func list(_ type: UInt16, into picture: inout NetworkPicture) -> Bool {
            // `struct nlmsghdr`, a dump request, and space for the smallest of the structures that name the family:
            // any.
            var request: [UInt8] = []
            func append(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number) { request += $0 } }
            append(UInt32(32))
            append(type)
            append(UInt16(0x301))
            append(UInt32(type))
            append(UInt32(0))
            request += [UInt8](repeating: 0, count: 16)
            guard send(descriptor, request, request.count, 0) == request.count else { return false }
            while true {
                switch receive() {
                case .datagram(let bytes):
                    for message in NetlinkReader.messages(bytes) {
                        switch message {
                        case .done(let wasInterrupted): return !wasInterrupted
                        case .interrupted, .error, .overrun: return false
                        default: picture.add(message)
                        }
                    }
                case .nothing:
                    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    guard poll(&wait, 1, 1000) > 0 else { return false }
                case .overrun, .failure: return false
                }
            }
        }
    }

    extension NetworkPicture {
        /// Requests the complete state from the kernel; returns `nil` if it does not respond.
        static func read() -> NetworkPicture? {
            // If the list changes while it is read, read it again, a limited number of times.
            for _ in 0..<5 {
                guard let socket = NetlinkSocket(groups: 0) else { return nil }
                defer { socket.end() }
                var picture = NetworkPicture()
                let (links, addresses, routes) = (UInt16(18), UInt16(22), UInt16(26))
                if socket.list(links, into: &picture), socket.list(addresses, into: &picture),
                    socket.list(routes, into: &picture)
                {
                    return picture
                }
            }
            return nil
        }
    }
#endif
