package config_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
)

var exampleLine = regexp.MustCompile(`^# (\[[a-z_.-]+\]|([a-z_-]+|"[a-z0-9/]+") = .+)$`)

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
		switch { // a server needs one of them
		case strings.HasPrefix(table, "[mcp.") && strings.HasPrefix(text, "client_secret"):
			alone += "\nurl = 'https://x'\nclient_id = 'x'"
		case strings.HasPrefix(table, "[mcp.") && slices.ContainsFunc([]string{"headers", "client_id", "redirect_port"}, func(key string) bool { return strings.HasPrefix(text, key) }):
			alone += "\nurl = 'https://x'"
		case strings.HasPrefix(table, "[mcp.") && !strings.HasPrefix(text, "command") && !strings.HasPrefix(text, "url"):
			alone += "\ncommand = ['x']"
		}
		_, r := load(t, layers(t, alone, ""))
		require.NotEmpty(t, r.Origins, alone)
		examples++
	}
	require.Greater(t, examples, 30)
}

// everyLine is the template with all of its settings in use.
func everyLine() string {
	var used []string
	for line := range strings.Lines(string(config.Template())) {
		if exampleLine.MatchString(strings.TrimSuffix(line, "\n")) {
			used = append(used, strings.TrimPrefix(line, "# "))
		}
	}
	return strings.Join(used, "")
}

func TestTemplateWithEveryLineInUse(t *testing.T) {
	_, r := load(t, trusting(layers(t, "", everyLine())))
	require.Empty(t, r.Inert, "a workspace may say all that its template shows")
}

func TestTheTemplateHasEverySetting(t *testing.T) {
	_, r := load(t, trusting(layers(t, "", everyLine())))
	label := regexp.MustCompile(`<[a-z]+>`)
	for _, k := range config.Keys() {
		if !strings.Contains(k.Layers, "workspace") {
			continue
		}
		pattern := regexp.MustCompile("^" + label.ReplaceAllString(regexp.QuoteMeta(k.Key), `("[^"]+"|[^.]+)`) + "$")
		shown := false
		for key, origin := range r.Origins {
			shown = shown || origin.Layer == config.LayerWorkspace && pattern.MatchString(key)
		}
		require.True(t, shown, "config/template.toml shows no %s", k.Key)
	}
}

func TestSetInTheTemplate(t *testing.T) {
	file := write(t, string(config.Template()))
	require.NoError(t, set(file, "model", "a/b"))
	require.NoError(t, set(file, "policy.detached", "deny"))
	text := read(t, file)
	require.Contains(t, text, "\n# model = \"anthropic/claude-sonnet-5-5\"\nmodel = \"a/b\"\n")
	require.True(t, strings.HasSuffix(text, "\n\n[policy]\ndetached = \"deny\"\n"))
}
