package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/ui"
)

var (
	manDir  = flag.String("man", "", "write the manual pages into this folder")
	manDate = flag.String("man-date", "2000-01-01", "date of the manual pages")
)

// TestManualPages makes a manual page of each command that help lists.
func TestManualPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	date, err := time.Parse(time.DateOnly, *manDate)
	require.NoError(t, err)
	root := newRootCommand(ui.SystemEnv())
	root.DisableAutoGenTag = true
	listed := forManual(root)
	require.NoError(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "jp", Manual: "jp"}, dir))

	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, page := range pages {
		names[strings.ReplaceAll(strings.TrimSuffix(filepath.Base(page), ".1"), "-", " ")] = true
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		require.NotContains(t, string(text), `\\_`, page)
		requireManual(t, page)
	}
	for _, c := range listed {
		require.True(t, names[strings.ReplaceAll(c.CommandPath(), "-", " ")], c.CommandPath())
	}
}

// forManual makes the texts of a command and of those below it Markdown, which the manual is
// made of, and returns the ones that have a page.
func forManual(c *cobra.Command) []*cobra.Command {
	c.Long, c.Short = plainMarkdown(c.Long), plainMarkdown(c.Short)
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		f.Usage = plainMarkdown(usage)
	})
	listed := []*cobra.Command{c}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && !below.IsAdditionalHelpTopicCommand() {
			listed = append(listed, forManual(below)...)
		}
	}
	return listed
}

// plainMarkdown is Markdown that shows a text as it is. Indented lines are examples, which
// Markdown leaves alone.
func plainMarkdown(text string) string {
	special := strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "`", "\\`", "|", `\|`)
	var plain strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "    ") {
			line = special.Replace(line)
		}
		plain.WriteString(line)
	}
	return plain.String()
}

// requireManual lets groff read a page, if groff is installed.
func requireManual(t *testing.T, page string) {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("groff is not installed; it does not check the pages")
		return
	}
	var warnings bytes.Buffer
	cmd := exec.Command(groff, "-K", "utf8", "-man", "-Tutf8", "-ww", "-Wbreak", "-z", page)
	cmd.Stderr = &warnings
	require.NoError(t, cmd.Run())
	require.Empty(t, warnings.String(), page)
}
