package fs

import (
	"fmt"
	"strings"

	"jp/conversation"
)

const (
	likeness = 0.5   // the least similarity worth showing
	maxLines = 20000 // lines that are compared
	maxLine  = 300   // bytes of a line that are compared
	shown    = 120   // columns of a line that are shown
)

// nearest points to the line of a text that is most like the first nonblank line of a passage. It returns ""
// if there is none.
func nearest(text, passage string) string {
	var wanted string
	for line := range strings.Lines(passage) {
		if wanted = strings.TrimSpace(line); wanted != "" {
			break
		}
	}
	pairs := pairsOf(wanted)
	best, at, found := 0.0, 0, ""
	number := 0
	for line := range strings.Lines(text) {
		if number++; number > maxLines {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		if score := alike(pairs, strings.TrimSpace(line)); score > best {
			best, at, found = score, number, line
		}
	}
	if best < likeness {
		return " and no line is like its first"
	}
	return fmt.Sprintf("; the nearest to its first line is line %d: %s", at, conversation.Shorten(fmt.Sprintf("%q", found), shown))
}

// pairsOf counts the pairs of neighbouring bytes.
func pairsOf(line string) map[string]int {
	line = line[:min(len(line), maxLine)]
	pairs := make(map[string]int, len(line))
	for i := range len(line) - 1 {
		pairs[line[i:i+2]]++
	}
	return pairs
}

// alike is the share of pairs that two lines have in common, from 0 to 1.
func alike(pairs map[string]int, line string) float64 {
	line = line[:min(len(line), maxLine)]
	others, total, common := len(line)-1, 0, 0
	for _, n := range pairs {
		total += n
	}
	if others < 1 || total == 0 {
		return 0
	}
	left := make(map[string]int, others)
	for i := range others {
		pair := line[i : i+2]
		if left[pair]++; left[pair] <= pairs[pair] {
			common++
		}
	}
	return 2 * float64(common) / float64(total+others)
}
