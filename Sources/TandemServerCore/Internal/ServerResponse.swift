import HTTPTypes

/// A response of the server.
struct ServerResponse {
    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: [UInt8]

    init(_ status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    init(_ status: HTTPResponse.Status, json: JSONValue) {
        self.init(status, json: json.bytes)
    }

    init(_ status: HTTPResponse.Status, json: [UInt8]) {
        self.init(status, fields: [.contentType: "application/json; charset=utf-8"], body: json)
    }

    var http: (HTTPResponse, [UInt8]) { (HTTPResponse(status: status, headerFields: fields), body) }
}
