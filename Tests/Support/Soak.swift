import Foundation

/// Whether the tests run in their long form (`make soak`).
public let isSoak = ProcessInfo.processInfo.environment["TANDEM_SOAK"] == "1"
