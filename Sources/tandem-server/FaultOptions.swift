import ArgumentParser
import TandemServerCore

/// Options for the server's planned faults.
struct FaultOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Delay before each request is processed.", valueName: "milliseconds"))
    var latency: Int = 0

    @Option(help: ArgumentHelp("Probability that a request never arrives.", valueName: "probability"))
    var lostRequests = 0.0

    @Option(
        help: ArgumentHelp(
            "Probability that a response is lost after its request was carried out.", valueName: "probability"))
    var lostResponses = 0.0

    @Option(help: ArgumentHelp("Probability that a request arrives twice.", valueName: "probability"))
    var twice = 0.0

    @Option(help: ArgumentHelp("Probability that a request gets a 503.", valueName: "probability"))
    var errors = 0.0

    @Option(
        help: ArgumentHelp(
            "Probability that a request gets a 429 with a Retry-After of 1.", valueName: "probability"))
    var throttled = 0.0

    @Option(
        help: ArgumentHelp(
            "Probability that another client writes the row just before the request.", valueName: "probability"))
    var conflicts = 0.0

    // A negative value begins with a minus sign, which the parser would take for an option.
    @Option(
        parsing: .unconditional, help: ArgumentHelp("Offset of the server's clock.", valueName: "seconds"))
    var skew: Int = 0

    @Option(help: "Seed of the random numbers.")
    var seed: UInt64 = 1

    func validate() throws {
        guard latency >= 0 else { throw ValidationError("A latency can't be negative.") }
        guard odds.allSatisfy({ (0...1).contains($0.probability) }) else {
            throw ValidationError("A probability must be from 0 to 1.")
        }
    }

    private var odds: [(fault: ServerFault, probability: Double)] {
        [
            (.latency(.milliseconds(latency)), latency > 0 ? 1 : 0), (.skew(.seconds(skew)), skew != 0 ? 1 : 0),
            (.lostRequest, lostRequests), (.lostResponse, lostResponses), (.twice, twice), (.status(503), errors),
            (.status(429, retryAfter: 1), throttled), (.conflict, conflicts),
        ]
    }

    var faults: ServerFaults { .seeded(seed, odds: odds) }
}
