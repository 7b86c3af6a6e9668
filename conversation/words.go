package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TextRepeating tells the model about its repetition, after the user let it go on. The count of its
// repetitions begins anew there.
const TextRepeating = "You made the same call several times in a row, and its result was the same each time. " +
	"It will most likely be the same again. Do something else, or say what you wait for."

// TextCutOff tells the model that its answer was cut off behind a tool call.
const TextCutOff = "Your answer was cut off while it asked for tools: the calls above are all that arrived. Ask again for any that are missing."

// Tokens says a number of tokens in few characters: "544", "8.9k", "1.2M".
func Tokens(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 999_950:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
}

// PartOf says how much of a model's context is used: "42 % of 200k".
func PartOf(tokens, window int) string {
	return fmt.Sprintf("%d %% of %s", (100*tokens+window/2)/max(window, 1), strings.Replace(Tokens(window), ".0", "", 1))
}

// Dollars says an amount of money that is given as a decimal number.
func Dollars(decimal string) string {
	r, ok := parseDecimal(decimal)
	if !ok {
		return "$?"
	}
	if f, _ := r.Float64(); f > 0 && f < 0.005 {
		return "<$0.01"
	}
	return "$" + r.FloatString(2)
}

// Ago says a length of time in its greatest unit: "412 ms", "41 s",
// "15 min", "2 h", "3 d".
func Ago(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// ByteCount is a size for people.
func ByteCount(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// The paths that an event lists are bounded by their number and their bytes.
const maxListed, maxListedBytes = 200, 20 << 10

// ListableCount is how many of the paths an event can list.
func ListableCount[T any](items []T, text func(T) string) int {
	size := 0
	for i, item := range items {
		if size += len(text(item)); i == maxListed || size > maxListedBytes {
			return i
		}
	}
	return len(items)
}
