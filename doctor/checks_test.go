package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every topic of a finding belongs to one row of the table, and docs/json.md lists it.
func TestTopics(t *testing.T) {
	var listed []string
	for _, check := range checks {
		require.NotEmpty(t, check.at)
		listed = append(listed, check.topics...)
	}
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var used []string
	for _, name := range sources {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, match := range regexp.MustCompile(`found\([A-Z]\w*, "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
			used = append(used, match[1])
		}
	}
	slices.Sort(used)
	docs, err := os.ReadFile(filepath.Join("..", "docs", "json.md"))
	require.NoError(t, err)
	require.Contains(t, string(docs), "| `findings.topic` | string | the subject: `"+strings.Join(listed, "`, `")+"` |")
	slices.Sort(listed)
	require.Equal(t, listed, slices.Compact(used), "a topic in two rows, or in none")
}
