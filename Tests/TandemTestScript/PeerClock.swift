import Dispatch

/// A clock that shows the same in all processes.
package enum PeerClock {
    /// Nanoseconds since the machine was started.
    package static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
