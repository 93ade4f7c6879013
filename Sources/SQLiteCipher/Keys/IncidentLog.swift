#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What went wrong on a database's connections, kept until somebody asks why SQLite failed.
///
/// SQLite's result code is all that comes through to a caller; what is kept here is found again by that code, and by
/// the thread that it happened on where several connections fail at once.
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

    /// - Parameter code: What SQLite is told. It may pass it on with another extension.
    mutating func note(_ error: CipherError, code: Int32) {
        serial += 1
        if incidents.count >= Self.kept { incidents.removeFirst() }
        incidents.append(Incident(serial: serial, thread: Self.thread, code: code & 0xFF, error: error))
    }

    /// Takes what explains a result code, out of what was noted after a moment.
    mutating func take(code: Int32, after: Int) -> CipherError? {
        let fitting = incidents.indices.filter { incidents[$0].code == code & 0xFF && incidents[$0].serial > after }
        let thread = Self.thread
        // A queue may run its work on another thread than its caller's.
        guard let index = fitting.last(where: { incidents[$0].thread == thread }) ?? fitting.last else { return nil }
        let error = incidents[index].error
        // What the same thread met before is explained no more.
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
