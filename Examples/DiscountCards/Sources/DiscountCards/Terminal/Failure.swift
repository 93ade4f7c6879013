import Foundation

/// The reason why the program fails: a sentence for the user, and a status for scripts.
struct Failure: Error {
    /// The exit statuses of <sysexits.h> that this program uses.
    enum Status: Int32 {
        case usage = 64
        case badData = 65
        case noInput = 66
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case tryAgain = 75
        case noPermission = 77
        /// The status of a shell for a program that Ctrl-C ended.
        case interrupted = 130
    }

    let status: Status
    let message: String
    var advice: String?

    init(_ status: Status, message: String, advice: String? = nil) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    /// Prints the message to standard error and ends the program.
    func end() -> Never {
        let screen = Screen.errors
        screen.print(screen.paint("cards:", in: .bad) + " " + message.printable)
        if let advice { screen.print("       " + advice.printable) }
        exit(status.rawValue)
    }
}
