import Tandem

/// Foundation has an `Operation` too: in this module it is the store's.
package typealias Operation = Tandem.Operation
