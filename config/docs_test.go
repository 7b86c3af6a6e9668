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

` + "```sh" + `
jp config show                     # what is set, and where (-a: the defaults too)
jp config set KEY VALUE            # write your own file; --workspace: the repository's
jp config remove KEY RULE          # take out a rule that "always" at a question wrote
jp config path                     # the files
jp query --cfg KEY=VALUE "…"       # for one query
` + "```" + `

A higher layer replaces single keys, and whole lists. From low to high:

| layer | where |
|---|---|
| default | the table below |
| user | ` + "`$XDG_CONFIG_HOME/jp/config.toml`" + ` |
| user, for one repository | ` + "`$XDG_CONFIG_HOME/jp/repositories/ID.toml`" + `, where "always" at a question writes. Its ` + "`policy.allow`, `policy.allow_edits` and `policy.allow_tools`" + ` add to the user's |
| workspace | ` + "`.jp/config.toml`" + ` in the repository |
| environment | ` + "`JP_CFG_POLICY__DETACHED=deny`" + `: upper case, two underscores between the parts of a key |
| conversation | recorded in it |
| profile | the profiles of ` + "`-p NAME`" + ` ([profiles](tasks/profiles.md)); a default profile is below the conversation |
| ` + "`--cfg`" + ` and flags | the command line |

Unknown keys and wrong values are errors. A file has at most 1 MiB. jp checks model names, prices and dialects when a
turn needs them. ` + "`jp doctor`" + ` checks all of them.

## Security keys

A security key chooses what runs, where requests go or who is asked.

| "from" says | meaning |
|---|---|
| trusted workspace | the repository's file counts after ` + "`jp trust`" + ` for exactly its content |
| only tighter | even then it can only restrict what lower layers say |
| looser only if trusted | a value as tight as the lower layers' counts at once, a looser one after ` + "`jp trust`" + `; 0 for "no limit" is the loosest |
| for a new tool, for its own tools | even then your tools keep theirs |

Without trust, the other keys of the repository's file still count. If a tool's table names a command, jp then ignores
the whole table. A conversation sets only one security key, ` + "`model`" + `, and ` + "`jp fork --adopt`" + ` drops what it recorded before.

## Keys

This page is generated: ` + "`UPDATE=1 go test -run Docs ./config`" + `.

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
