package redact

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestHistory prints the rules' findings in the history of this repository, whose only secrets are inventions
// of tests. Run it with -v to see how noisy the rules are.
func TestHistory(t *testing.T) {
	if testing.Short() {
		// It reads the project's whole history.
		t.Skip("-short")
	}
	cmd := exec.Command("git", "-c", "diff.external=", "log", "-p", "--all", "--no-ext-diff", "--no-textconv", "--no-color")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	text, err := cmd.Output()
	if err != nil || len(text) == 0 {
		// An archive of the source has no history to read.
		t.Skip("no history here")
	}
	count, megabytes := map[string]int{}, float64(len(text))/(1<<20)
	var s Scanner
	total := 0
	for line := range bytes.Lines(text) {
		for _, f := range s.Scan(string(line)) {
			count[f.Rule]++
			total++
			if testing.Verbose() && count[f.Rule] <= 40 {
				t.Logf("%s: %s", f.Rule, show(string(line), f))
			}
		}
	}
	whole := s.Scan(string(text))
	t.Logf("%.1f MB, %d findings by line, %d in the whole, %.1f per MB: %s", megabytes, total, len(whole), float64(total)/megabytes, counts(count))
}

// show is a finding with a little of its surroundings.
func show(line string, f Finding) string {
	from, to := max(0, f.Start-40), min(len(line), f.End+20)
	return strings.TrimSpace(line[from:f.Start]) + " >>" + line[f.Start:min(f.End, f.Start+80)] + "<< " + strings.TrimSpace(line[f.End:to])
}

func counts(count map[string]int) string {
	var words []string
	for rule, n := range count {
		words = append(words, fmt.Sprintf("%s %d", rule, n))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
