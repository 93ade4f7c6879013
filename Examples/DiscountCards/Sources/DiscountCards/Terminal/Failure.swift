import Foundation

/// Why the program ends without having done what it was asked to: a sentence for a person, a status for a script.
struct Failure: Error {
    /// The statuses of <sysexits.h>, as far as they are used here.
    enum Status: Int32 {
        case usage = 64
        case badData = 65
        case noInput = 66
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case tryAgain = 75
        case noPermission = 77
        /// What a shell reports of a program that Ctrl-C ended.
        case interrupted = 130
    }

    let status: Status
    let message: String
    var advice: String?

    init(_ status: Status, _ message: String, advice: String? = nil) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    /// Prints the sentence on standard error and ends the program.
    func end() -> Never {
        let screen = Screen.errors
        screen.print(screen.paint("cards:", .bad) + " " + message.printable)
        if let advice { screen.print("       " + advice.printable) }
        exit(status.rawValue)
    }
}
