package safetext

import "fmt"

// Bytes says a number of bytes in few characters: "12 B", "3.4 kB", "1.2 GB".
func Bytes(n int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/1000, 0
	for size >= 999.95 && unit < len(units)-1 {
		size, unit = size/1000, unit+1
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}
