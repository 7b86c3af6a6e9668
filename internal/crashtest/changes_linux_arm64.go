package crashtest

// legacy has the calls that only old processors know: this one is none.
var legacy map[uint64]change
