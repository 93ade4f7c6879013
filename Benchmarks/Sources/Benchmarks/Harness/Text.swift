import Foundation

extension Double {
    /// The number with some digits after the point, whatever the user's locale.
    func text(_ digits: Int) -> String {
        String(format: "%.\(digits)f", locale: Locale(identifier: "en_US_POSIX"), self)
    }
}
