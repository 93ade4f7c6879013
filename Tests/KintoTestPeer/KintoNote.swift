import Tandem

/// A note with a tag that never changes, and a counter for each device.
///
/// The counters show whether an edit is lost.
@Model(wireName: "note") struct KintoNote {
    @Indexed var tag: String
    var title: String
    var c0: Int = 0
    var c1: Int = 0
    var c2: Int = 0
    var c3: Int = 0
    var c4: Int = 0
    var c5: Int = 0
    var c6: Int = 0
    var c7: Int = 0
    var topic: Reference<KintoTopic>?
}

extension KintoNote {
    /// The counters, by the numbers of the devices.
    var counters: [Int] { [c0, c1, c2, c3, c4, c5, c6, c7] }

    /// Increments the counter of a device, and returns its value.
    mutating func increment(_ number: Int) throws -> Int {
        switch number {
        case 0: c0 += 1
        case 1: c1 += 1
        case 2: c2 += 1
        case 3: c3 += 1
        case 4: c4 += 1
        case 5: c5 += 1
        case 6: c6 += 1
        case 7: c7 += 1
        default: throw PeerFailure("no counter \(number)")
        }
        return counters[number]
    }
}
