#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The errors of a database's connections, kept until a caller asks why SQLite failed.
///
/// Only SQLite's result code reaches the caller. The log finds an error by that code, and by its thread if several
/// connections fail at once.
struct IncidentLog: Sendable {
    private struct Incident: Sendable {
        let serial: Int
        let thread: UInt
        let code: Int32
        let error: CipherError
    }

    private var incidents: [Incident] = []
    /// The number of incidents noted so far.
    private(set) var serial = 0
    private static let kept = 16

    /// - Parameter code: The code returned to SQLite. SQLite may report it with another extension.
    mutating func record(_ error: CipherError, code: Int32) {
        serial += 1
        if incidents.count >= Self.kept { incidents.removeFirst() }
        incidents.append(Incident(serial: serial, thread: Self.thread, code: code & 0xFF, error: error))
    }

    /// Removes and returns the error behind a result code, if it was noted after a given serial number.
    ///
    /// - Parameter isOfThisThread: Whether only the calling thread's errors are searched. A second question about the
    ///   same code must not remove the error of another thread. That thread's caller has yet to ask for the error.
    mutating func removeIncident(code: Int32, after: Int, ofThisThread isOfThisThread: Bool) -> CipherError? {
        let fitting = incidents.indices.filter { incidents[$0].code == code & 0xFF && incidents[$0].serial > after }
        let thread = Self.thread
        let own = fitting.last { incidents[$0].thread == thread }
        // A queue may run its work on another thread than its caller's.
        guard let index = own ?? (isOfThisThread ? nil : fitting.last) else { return nil }
        let error = incidents[index].error
        // Earlier incidents of the same thread are outdated.
        let found = incidents[index]
        incidents.removeAll { $0.thread == found.thread && $0.serial <= found.serial }
        return error
    }

    private static var thread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }
}
