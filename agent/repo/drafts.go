package repo

import (
	"fmt"
)

// DraftsFolder has texts that are not events yet, in jp's folder.
const DraftsFolder = "drafts"

// ByteCount is a size for people.
func ByteCount(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
