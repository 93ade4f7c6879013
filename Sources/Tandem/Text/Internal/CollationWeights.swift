/// The assignment of bytes to primary weights.
///
/// A primary weight has one, two or three bytes. Its first byte, the *lead*, decides how many. No weight is a prefix of
/// another. Groups of scripts begin with a lead of their own. So a language can reorder the groups by the lead alone.
struct CollationWeights {
    /// Each primary weight, in order: three bytes, of which the unused ones are zero, and the length in the highest.
    private(set) var primaries: [UInt32] = []
    /// The number of leads of each group.
    private(set) var groups: [[UInt8]] = Array(repeating: [], count: CollationWeights.groupCount)
    private(set) var numericLead: UInt8 = 0
    private(set) var hanLead: UInt8 = 0
    private(set) var unassignedLead: UInt8 = 0
    /// ICU's weights of the third level, with the bits of the case.
    let tertiaries: [Int]

    static let groupCount = 6
    /// Lesser bytes end the first level.
    private static let firstLead: UInt8 = 3
    private static let hanLeads = 2

    init(_ reader: inout TableReader) {
        var lead = Self.firstLead
        for _ in 0..<reader.number() {
            let kindAndGroup = reader.number()
            let count = reader.number()
            let group = kindAndGroup >> 3
            let first = lead
            switch kindAndGroup & 7 {
            case 1:
                for _ in 0..<count {
                    primaries.append(1 << 24 | UInt32(lead) << 16)
                    lead += 1
                }
            case 2:
                for index in 0..<count {
                    primaries.append(2 << 24 | UInt32(lead) << 16 + UInt32(index) << 8)
                }
                lead += UInt8((count + 0xFF) >> 8)
            case 3:
                for index in 0..<count {
                    primaries.append(3 << 24 | UInt32(lead) << 16 + UInt32(index))
                }
                lead += UInt8((count + 0xFFFF) >> 16)
            case 4:
                numericLead = lead
                primaries.append(0)
                lead += 1
            case 5:
                hanLead = lead
                primaries.append(0)
                lead += UInt8(Self.hanLeads)
            default:
                unassignedLead = lead
                primaries.append(0)
                lead += 1
            }
            groups[group].append(contentsOf: first..<lead)
        }
        // The number of secondary weights.
        _ = reader.number()
        var tertiaries: [Int] = []
        for _ in 0..<reader.number() {
            tertiaries.append(reader.number())
        }
        self.tertiaries = tertiaries
    }

    /// Returns the lead of each lead if the groups have the order `order`.
    func leads(ordering order: [Int]) -> [UInt8] {
        var leads = (0...255).map { UInt8($0) }
        var next = Self.firstLead
        for group in order {
            for lead in groups[group] {
                leads[Int(lead)] = next
                next += 1
            }
        }
        return leads
    }
}
