/// Data that a part of the store keeps with a connection: see ``Connection/cache(_:)``. Prepared statements are an
/// example.
protocol ConnectionCache: AnyObject {
    init()
}
