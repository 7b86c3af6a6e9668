package live

import "strings"

// Scissors is the line in an editor below which lines that begin with # are not
// asked.
const Scissors = "# ------------------------ >8 ------------------------"

// Asked is what is asked of what stands in an editor.
func Asked(text string) string {
	var asks strings.Builder
	below := false
	for line := range strings.Lines(text) {
		below = below || strings.TrimRight(line, "\r\n") == Scissors
		if !below || !strings.HasPrefix(line, "#") {
			asks.WriteString(line)
		}
	}
	return strings.TrimSpace(asks.String())
}
