#if TANDEM_TSAN
    @testable import Tandem

    /// The lock of the tests. The thread sanitizer knows it, as it knows the library's.
    typealias Mutex<Value> = Tandem.Mutex<Value>
#endif
