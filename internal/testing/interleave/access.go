package interleave

// A Mode is an operation's effect on a thing.
type Mode uint8

// Two operations on one thing can change places only if both read it, or both add to it.
const (
	Reads Mode = iota
	// Adds is a change that commutes with others of its kind, as an entry of its
	// own in a directory does.
	Adds
	Writes
)

// An Access is one thing that an operation touches.
type Access struct {
	Of   string
	Mode Mode
}

// conflict says whether the order of two operations may matter.
func conflict(a, b []Access) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Of == y.Of && (x.Mode != y.Mode || x.Mode == Writes) {
				return true
			}
		}
	}
	return false
}
