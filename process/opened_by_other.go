//go:build !linux

package process

import "os"

// OpenedBy are the processes that have each of the files open. sure is false on this system.
func OpenedBy(files []os.FileInfo) (by [][]int, sure bool) { return make([][]int, len(files)), false }
