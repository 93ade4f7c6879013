#if TANDEM_TSAN
    @testable import Tandem

    /// The tests' locks are those that the thread sanitizer knows, as the library's.
    typealias Mutex<Value> = Tandem.Mutex<Value>
#endif
