import Foundation

extension Double {
    /// Returns the number with some digits after the point, independent of the user's locale.
    func text(_ digits: Int) -> String {
        String(format: "%.\(digits)f", locale: Locale(identifier: "en_US_POSIX"), self)
    }
}
