package sidecar

// HoldAtMost sets how many bytes of a log are held, until restore is called.
func HoldAtMost(n int) (restore func()) {
	was := inMemory
	inMemory = n
	return func() { inMemory = was }
}
