import Foundation

extension Data {
    /// Returns whether the data contains some bytes. No data contains empty bytes. Foundation's search takes a minute
    /// for the same data.
    package func shows(_ bytes: Data) -> Bool {
        let wanted = Array(bytes)
        return withUnsafeBytes { memory in
            guard var place = memory.baseAddress, let first = wanted.first else { return false }
            let end = place + memory.count
            while end - place >= wanted.count, let found = memchr(place, Int32(first), end - place) {
                place = UnsafeRawPointer(found)
                if end - place >= wanted.count, memcmp(place, wanted, wanted.count) == 0 { return true }
                place += 1
            }
            return false
        }
    }

    /// Returns whether the data contains a text.
    package func shows(_ text: String) -> Bool { shows(Data(text.utf8)) }
}
