package conversation

import "strings"

// shortestName is how many characters of an id have to be given to name it.
const shortestName = 3

// Name is the name of the conversation: its id, or REMOTE/ID if it was fetched.
func (i Info) Name() string {
	if i.Remote == "" {
		return string(i.ID)
	}
	return i.Remote + "/" + string(i.ID)
}

// EndsIn reports whether the name, or the digits of its id, end in a word that
// is long enough to say which one is meant.
func (i Info) EndsIn(word string) bool {
	digits, _ := i.ID.parts()
	return len(word) >= shortestName && (strings.HasSuffix(i.Name(), word) || strings.HasSuffix(digits, word))
}

// Resembles reports whether a word differs from the id, or from the end of it or of its digits, in at most a
// third of the word and in at most two places.
func (i Info) Resembles(word string) bool {
	digits, suffix := i.ID.parts()
	for _, part := range []string{string(i.ID), suffix, digits[max(0, len(digits)-len(word)):]} {
		if len(word) >= shortestName && distance(part, word) <= min(2, len(word)/3) {
			return true
		}
	}
	return false
}

// parts are the digits of an id, and the rest behind them.
func (id ID) parts() (digits, suffix string) {
	digits, suffix, _ = strings.Cut(strings.TrimPrefix(string(id), "jp-c"), "-")
	return digits, suffix
}

// distance counts the characters by which two short words differ.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
