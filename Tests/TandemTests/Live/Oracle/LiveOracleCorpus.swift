/// Seeds of histories that once failed.
enum LiveOracleCorpus {
    static let seeds: [UInt64] = [1025, 2001, 4012, 6013, 8011, 9000, 9001, 9002, 11_000, 11_001, 11_002, 11_003]
}
