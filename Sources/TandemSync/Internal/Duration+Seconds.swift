import Foundation

extension Duration {
    /// In seconds, as times are counted.
    package var seconds: TimeInterval { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
