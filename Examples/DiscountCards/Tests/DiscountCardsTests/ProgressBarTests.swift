import Testing

@testable import DiscountCards

@Suite struct ProgressBarTests {
    private let screen = Screen(descriptor: 1, isTerminal: false, environment: [:])

    @Test(arguments: [
        (0, 4, "━0 0%"), (1, 4, "━7 25%"), (2, 3, "━18 66%"), (4, 4, "━28 100%"), (0, 0, "━28 100%"),
    ])
    func `the bar's length is the progress, rounded down`(count: Int, total: Int, shown: String) {
        let line = ProgressBar.line("Importing", count: count, total: total, elapsed: .seconds(1), screen: screen)
        let percent = line.split(separator: " ").first { $0.hasSuffix("%") } ?? ""
        #expect("━\(line.count { $0 == "━" }) \(percent)" == shown)
    }

    @Test func `a rate is given per second`() {
        #expect(ProgressBar.rate(15_000, in: .seconds(2)) == "7,500/s")
        #expect(ProgressBar.rate(0, in: .zero) == "0/s")
    }
}
