package live

import "strings"

// Scissors is the line in an editor below which jp drops lines that begin with #.
const Scissors = "# ------------------------ >8 ------------------------"

// Asked is the question in an editor's text.
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
