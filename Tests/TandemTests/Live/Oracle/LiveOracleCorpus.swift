/// Seeds of histories that once failed.
enum LiveOracleCorpus {
    static let seeds: [UInt64] = [1]
}
