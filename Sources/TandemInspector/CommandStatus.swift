/// The exit status of the command. The values from 64 on are those of `sysexits.h`.
package enum CommandStatus: Int32, CaseIterable {
    /// The command did its work.
    case success = 0
    /// The command did its work, and the result is negative: no object, problems, or lost data.
    case negative = 1
    /// Any other error.
    case failure = 2
    /// The arguments are not valid: an option, a condition, or the name of a model or a property.
    case usage = 64
    /// The file is damaged, or not a store; or the data to import is not valid.
    case data = 65
    /// The file does not exist, or can't be read.
    case noInput = 66
    /// Another process uses the store.
    case busy = 75
    /// The key is missing or wrong.
    case key = 77
    /// The user interrupted the command.
    case interrupted = 130

    /// The meaning, for the help.
    var meaning: String {
        switch self {
        case .success: "success"
        case .negative: "no such object (get), problems (check), or lost data (salvage)"
        case .failure: "any other error"
        case .usage: "arguments, conditions or names that are not valid"
        case .data: "a damaged file, a file that is not a store, or data that is not valid"
        case .noInput: "a file that does not exist or can't be read"
        case .busy: "a store that another process uses"
        case .key: "a missing or wrong key"
        case .interrupted: "interrupted by the user"
        }
    }
}
