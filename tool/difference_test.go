package tool_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
)

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// Each hunk names the lines of both texts, also of several changes that stand together.
func TestHunksNameLines(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var before, after []string
		for n := range rng.IntN(60) {
			line := fmt.Sprintf("line %d", n)
			before = append(before, line)
			switch rng.IntN(8) {
			case 0:
				after = append(after, fmt.Sprintf("new %d", n), line)
			case 1:
				after = append(after, fmt.Sprintf("other %d", n))
			case 2:
			default:
				after = append(after, line)
			}
		}
		text, added, deleted := tool.UnifiedDiff("a", "b", lines(before), lines(after))
		require.Equal(t, len(after)-len(before), added-deleted, seed)
		if lines(before) == lines(after) {
			require.Empty(t, text, seed)
			continue
		}
		was, is := 0, 0
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n")[2:] {
			if m := hunk.FindStringSubmatch(line); m != nil {
				was, _ = strconv.Atoi(m[1])
				is, _ = strconv.Atoi(m[2])
				continue
			}
			if line[0] != '+' {
				require.Equal(t, before[was-1], line[1:], seed)
				was++
			}
			if line[0] != '-' {
				require.Equal(t, after[is-1], line[1:], seed)
				is++
			}
		}
	}
}

func lines(of []string) string {
	if len(of) == 0 {
		return ""
	}
	return strings.Join(of, "\n") + "\n"
}
