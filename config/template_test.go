package config_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
)

var exampleLine = regexp.MustCompile(`^# (\[[a-z_.-]+\]|[a-z_-]+ = .+)$`)

func TestTemplateSetsNothing(t *testing.T) {
	for line := range strings.Lines(string(config.Template())) {
		require.True(t, line == "\n" || strings.HasPrefix(line, "# "), line)
	}
	c, r := load(t, trusting(layers(t, "", string(config.Template()))))
	defaults, _ := load(t, config.Options{})
	require.Equal(t, defaults, c)
	require.Empty(t, r.Inert)
}

func TestEachTemplateLineIsValidAloneInItsTable(t *testing.T) {
	table, remark, examples := "", false, 0
	for line := range strings.Lines(string(config.Template())) {
		line = strings.TrimSuffix(line, "\n")
		if !exampleLine.MatchString(line) {
			remark = remark || line != ""
			if line == "" {
				table = ""
			}
			continue
		}
		text := strings.TrimPrefix(line, "# ")
		if text[0] == '[' {
			table = text
			continue
		}
		require.True(t, remark, "%s has no explanation", text)
		alone := table + "\n" + text
		if strings.HasPrefix(table, "[mcp.") && strings.HasPrefix(text, "env") {
			alone += "\ncommand = ['x']" // a server is nothing without one
		}
		_, r := load(t, layers(t, alone, ""))
		require.NotEmpty(t, r.Origins, alone)
		examples++
	}
	require.Greater(t, examples, 30)
}

func TestTemplateWithEveryLineInUse(t *testing.T) {
	var used []string
	for line := range strings.Lines(string(config.Template())) {
		if exampleLine.MatchString(strings.TrimSuffix(line, "\n")) {
			used = append(used, strings.TrimPrefix(line, "# "))
		}
	}
	_, r := load(t, trusting(layers(t, "", strings.Join(used, ""))))
	require.Empty(t, r.Inert, "a workspace may say all that its template shows")
}

func TestSetInTheTemplate(t *testing.T) {
	file := write(t, string(config.Template()))
	require.NoError(t, config.Set(file, "model", "a/b"))
	require.NoError(t, config.Set(file, "policy.detached", "deny"))
	text := read(t, file)
	require.Contains(t, text, "\n# model = \"anthropic/claude-sonnet-4-5\"\nmodel = \"a/b\"\n")
	require.True(t, strings.HasSuffix(text, "\n\n[policy]\ndetached = \"deny\"\n"))
}
