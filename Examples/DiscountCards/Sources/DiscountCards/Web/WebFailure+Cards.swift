import PageServer

extension WebFailure {
    static let missingCard = WebFailure(.notFound, "This card does not exist, or was deleted.")
}
