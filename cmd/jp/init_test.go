package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
	"jp/provider/catalog"
)

// jp config init works beside the leftovers of a killed one.
func TestInitAfterAKill(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	half := filepath.Join(p.dir, ".jp/.config.toml.new")
	p.write(".jp/.config.toml.new", "half")
	require.Zero(t, p.jp("config", "init").exit)
	text, err := os.ReadFile(filepath.Join(p.dir, config.WorkspaceFile))
	require.NoError(t, err)
	require.Equal(t, string(config.Template()), string(text))
	require.NoFileExists(t, half)
	p.write(config.WorkspaceFile, "# mine\n")
	require.Equal(t, 2, p.jp("config", "init").exit)
	text, err = os.ReadFile(filepath.Join(p.dir, config.WorkspaceFile))
	require.NoError(t, err)
	require.Equal(t, "# mine\n", string(text))
}

// uncommented are the tables in the output of jp config init whose names begin so, in use.
func uncommented(table string) string {
	setting := regexp.MustCompile(`^# (\[.+\]|\S+ = .+)\n$`)
	var used strings.Builder
	on := false
	for line := range strings.Lines(string(config.Template())) {
		if !setting.MatchString(line) {
			continue
		}
		line = strings.TrimPrefix(line, "# ")
		if line[0] == '[' {
			on = strings.HasPrefix(line, "["+table)
		}
		if on {
			used.WriteString(line)
		}
	}
	return used.String()
}

const countsTwice = `
[[reply]]
[[reply.tool_call]]
name = "word_count"
arguments = { paths = ["two.txt", "words/three.txt"] }
[[reply.tool_call]]
name = "word_count"
arguments = { paths = ["two.txt"], unit = "lines" }
[[reply]]
message = "Over."
`

func TestTheToolThatInitWritesWorks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		// Only the example needs Python; jp itself does not.
		t.Skip("the tool of what jp config init writes is written in Python, which is not here")
	}
	p := newPlace(t)
	p.write("two.txt", "one two\n")
	p.write("words/three.txt", "one\ntwo\nthree\n")
	p.write("../home/.config/jp/config.toml", "[store]\ndurability = \"off\"\n"+uncommented("tools.word_count"))
	p.write("../count.toml", countsTwice)
	out := p.jp("query", "-y", "-m", "script/../count.toml", "Count")
	require.Zero(t, out.exit, out.stderr)
	results := []string{p.result(0), p.result(1)}
	slices.Sort(results)
	require.Equal(t, []string{"1 two.txt\n", "2 two.txt\n3 words/three.txt\n"}, results)
}

func TestTheDialectThatInitWritesIsOneThatThereIs(t *testing.T) {
	dialect := regexp.MustCompile(`(?m)^dialect = "(.+)"$`).FindStringSubmatch(uncommented("providers"))
	require.NotNil(t, dialect)
	require.Contains(t, catalog.Dialects(), dialect[1])
}
