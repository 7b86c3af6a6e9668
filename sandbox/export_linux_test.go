package sandbox

// SetOwnLoopback decides what OwnLoopback reports, until it is undone.
func SetOwnLoopback(has bool) (undo func()) {
	before := ownLoopback
	ownLoopback = func() bool { return has }
	return func() { ownLoopback = before }
}
