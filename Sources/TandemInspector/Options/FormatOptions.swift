import ArgumentParser
import Tandem

/// The encryption format of a store's pages.
struct FormatOptions: ParsableArguments {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case aes256gcm
        case sqlCipher4 = "sqlcipher4"

        func profile(pageSize: Int, iterations: Int) -> CipherProfile {
            switch self {
            case .aes256gcm: .aes256gcm(pageSize: pageSize, iterations: iterations)
            case .sqlCipher4: .sqlCipher4(pageSize: pageSize, iterations: iterations)
            }
        }

        /// The format with its default options.
        var defaultProfile: CipherProfile {
            profile(pageSize: 4096, iterations: CipherProfile.defaultIterations)
        }
    }

    @Option(help: "The encryption format. Without it, both are tried.")
    var profile: Format?

    @Option(help: ArgumentHelp("The size of an encrypted page.", valueName: "bytes"))
    var pageSize = 4096

    @Option(help: ArgumentHelp("The rounds that derive the key from a passphrase.", valueName: "count"))
    var iterations = CipherProfile.defaultIterations

    /// The formats to try, in this order.
    var profiles: [CipherProfile] {
        (profile.map { [$0] } ?? Format.allCases).map { $0.profile(pageSize: pageSize, iterations: iterations) }
    }
}
