package crashtest

// legacy has the calls that only old processors know: not this one.
var legacy map[uint64]change
