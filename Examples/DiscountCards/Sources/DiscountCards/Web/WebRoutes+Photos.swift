import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PageServer
import Tandem

/// Photographs: received in pieces, and sent from the disk.
extension WebRoutes {
    func addPhotos(to router: Router<WebContext>) {
        router.put("/cards/:id/photo") { request, context in
            let wallet = try state.wallet()
            let card = try await wallet.card(try context.requireCardID())
            let limit = state.options.limits.photo
            if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit {
                throw WebFailure.largePhoto(limit: limit)
            }
            let body = try await PhotoBody(request.body, limit: limit)
            let photo = try await wallet.store.attachments.add(
                from: body, name: "\(card.shop.prefix(80)).\(body.type.suffix)", contentType: body.type.rawValue)
            try await setPhoto(photo, of: card, in: wallet)
            return Response(status: .noContent)
        }
        router.delete("/cards/:id/photo") { _, context in
            let wallet = try state.wallet()
            let card = try await wallet.card(try context.requireCardID())
            try await setPhoto(nil, of: card, in: wallet)
            return Response(status: .noContent)
        }
        router.get("/cards/:id/photo") { _, context in
            let wallet = try state.wallet()
            return try await photo(of: wallet.card(try context.requireCardID()), in: wallet)
        }
    }

    private func setPhoto(_ photo: Attachment?, of card: Card, in wallet: WebWallet) async throws {
        _ = try await wallet.store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.photo = photo }
        }
    }

    private func photo(of card: Card, in wallet: WebWallet) async throws -> Response {
        guard let photo = card.photo else { throw WebFailure(.notFound, message: "The card has no photo.") }
        let attachments = wallet.store.attachments
        if try await wallet.store.read({ _ in try !attachments.status(of: photo).isOnDevice }) {
            try await wallet.sync.download(photo)
        }
        let reader = try attachments.reader(of: photo)
        // A photo of another device or server may be any file.
        guard let type = PhotoType(try reader.read(at: 0, count: PhotoType.headLength)) else {
            throw WebFailure(.unsupportedMediaType, message: "The file is not a picture that browsers show.")
        }
        let bytes = try attachments.stream(of: photo)
        var headers: HTTPFields = [.contentType: type.rawValue]
        headers[.contentSecurityPolicy] = SecurityHeaders.filePolicy
        // The address contains the file's ID. A browser stores no photo of an encrypted store.
        if !wallet.store.isEncrypted { headers[.cacheControl] = "private, max-age=604800, immutable" }
        let body = ResponseBody(contentLength: photo.size.map { Int($0) }) { writer in
            for try await piece in bytes { try await writer.write(ByteBuffer(bytes: piece)) }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}
