import ArgumentParser
import TandemServerCore

/// How the server misbehaves.
struct FaultOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How long each request waits before it is looked at.", valueName: "milliseconds"))
    var latency: Int = 0

    @Option(help: ArgumentHelp("How likely a request never arrives.", valueName: "probability"))
    var lostRequests = 0.0

    @Option(help: ArgumentHelp("How likely a request is carried out and its answer is lost.", valueName: "probability"))
    var lostAnswers = 0.0

    @Option(help: ArgumentHelp("How likely a request arrives twice.", valueName: "probability"))
    var twice = 0.0

    @Option(help: ArgumentHelp("How likely a request gets a 503.", valueName: "probability"))
    var errors = 0.0

    @Option(
        help: ArgumentHelp("How likely a request gets a 429 that asks to wait a second.", valueName: "probability"))
    var throttled = 0.0

    @Option(help: ArgumentHelp("How likely another writer was there just before.", valueName: "probability"))
    var conflicts = 0.0

    // Unconditionally, since one that is behind begins with a sign that options begin with.
    @Option(
        parsing: .unconditional, help: ArgumentHelp("How far the server's clock is off.", valueName: "seconds"))
    var skew: Int = 0

    @Option(help: "What the probabilities' random numbers begin with.")
    var seed: UInt64 = 1

    func validate() throws {
        guard latency >= 0 else { throw ValidationError("A latency is not negative.") }
        guard odds.allSatisfy({ (0...1).contains($0.probability) }) else {
            throw ValidationError("A probability is a number from 0 to 1.")
        }
    }

    private var odds: [(fault: ServerFault, probability: Double)] {
        [
            (.latency(.milliseconds(latency)), latency > 0 ? 1 : 0), (.skew(.seconds(skew)), skew != 0 ? 1 : 0),
            (.lostRequest, lostRequests), (.lostAnswer, lostAnswers), (.twice, twice), (.status(503), errors),
            (.status(429, retryAfter: 1), throttled), (.conflict, conflicts),
        ]
    }

    var faults: ServerFaults { .seeded(seed, odds) }
}
