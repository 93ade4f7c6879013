enum SQLFunctions { static func register(on handle: OpaquePointer) throws {} }
