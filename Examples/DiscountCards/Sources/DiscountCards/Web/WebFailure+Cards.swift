import PageServer

extension WebFailure {
    static let missingCard = WebFailure(.notFound, message: "This card does not exist, or was deleted.")
}
