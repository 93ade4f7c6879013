import Crypto
import Foundation

/// A passphrase as a keyed hash, to compare other sessions' passphrases with. The key is in memory only.
struct PassphraseHash: Sendable {
    private let key = SymmetricKey(size: .bits256)
    private let code: HMAC<SHA256>.MAC

    init(_ passphrase: String) {
        code = HMAC<SHA256>.authenticationCode(for: Data(passphrase.utf8), using: key)
    }

    /// Returns whether another passphrase is the same.
    func matches(_ other: String) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(other.utf8), using: key)
    }
}
