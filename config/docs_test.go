package config_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
)

const reference = "../docs/configuration.md"

const referenceHead = `# Configuration

Layers, low to high: defaults, the user's file (` + "`$XDG_CONFIG_HOME/jp/config.toml`" + `), the workspace's file
(` + "`.jp/config.toml`" + `), the environment (` + "`JP_CFG_POLICY__DETACHED=deny`" + `: upper case, two underscores between
the parts of a key), the conversation, ` + "`--cfg key=value`" + `, flags. A higher layer replaces single keys; lists are
replaced whole. Unknown keys and wrong values are errors. A file may have up to 1 MiB. Names of models, prices and
dialects are judged when a turn needs them; ` + "`jp doctor`" + ` judges all of them.

A security key chooses what runs, where requests go or who is asked. It comes from a workspace's file only after
` + "`jp trust`" + ` for exactly its content; *only tighter* means that even then it cannot loosen what the layers below say.
From a conversation it never comes, but for ` + "`model`" + `, which is recorded there, and not from before ` + "`jp fork --adopt`" + ` made
the conversation yours. A workspace's file that is not trusted still counts but for its security keys; a tool whose command
is held back is held back whole. *Looser only if trusted* says that of a single value: one no looser than what the layers
below say counts as it is, any other after ` + "`jp trust`" + `. 0, where it stands for no limit, is the loosest.

This page is generated from the code: ` + "`UPDATE=1 go test -run Docs ./config`" + `.

| key | type | default | from | security | meaning |
|---|---|---|---|---|---|
`

func renderReference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, k := range config.Keys() {
		security, value := "", ""
		if k.Security {
			security = "yes"
		}
		if k.Default != "" {
			value = "`" + k.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Key, k.Type, value, k.Layers, security, k.Doc)
	}
	return b.String()
}

func TestDocsMatchTheCode(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(reference, []byte(renderReference()), 0o644))
	}
	page, err := os.ReadFile(reference)
	require.NoError(t, err)
	require.Equal(t, renderReference(), string(page), "run UPDATE=1 go test -run Docs ./config")
}

func TestEveryKeyIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range config.Keys() {
		require.False(t, seen[k.Key], k.Key)
		seen[k.Key] = true
		require.NotEmpty(t, k.Doc, k.Key)
		require.NotEmpty(t, k.Type, k.Key)
		require.NotContains(t, k.Doc+k.Type+k.Default, "|", "it would end a cell of the table")
	}
	for _, key := range []string{"model", "aliases.<alias>", "tools.<name>.parameters.<parameter>.type", "hooks.<point>", "mcp.<name>.env.<variable>", "providers.<name>.headers.<header>"} {
		require.True(t, seen[key], key)
	}
}
