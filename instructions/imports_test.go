package instructions

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestImports(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"README", "pkg/docs/rules.md", "pkg/package.json", "src/a.ts"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o777))
		write("x\n")(t, root, filepath.Join(root, file))
	}
	dir, err := os.OpenRoot(root)
	require.NoError(t, err)
	defer dir.Close()
	for text, want := range map[string][]string{
		"@docs/rules.md":                          {"docs/rules.md"},
		"See @docs/rules.md, and @package.json.":  {"docs/rules.md", "package.json"},
		"@docs/rules.md @docs/rules.md":           {"docs/rules.md"},
		"- @../README\n":                          {"../README"},
		"@missing.md":                             {"missing.md"},
		"@~/.claude/mine.md (@/etc/rules.txt)":    {"~/.claude/mine.md", "/etc/rules.txt"},
		"**@docs/rules.md**":                      nil,
		"Ask @anna, or a@docs/rules.md":           nil,
		"Use @angular/core and @types/node":       nil,
		"import x from '@/components'":            nil,
		"`@docs/rules.md`":                        nil,
		"```\n@docs/rules.md\n```\n@package.json": {"package.json"},
		"~~~\n@docs/rules.md\n":                   nil,
		"":                                        nil,
	} {
		require.Equal(t, want, Imports(Dir{Root: dir}, File{Path: "pkg/CLAUDE.md", Text: text}), text)
		require.Empty(t, Imports(Dir{Root: dir}, File{Path: "pkg/AGENTS.md", Text: text}), text)
		require.Empty(t, Imports(Dir{Root: dir}, File{Path: "pkg/CLAUDE.md", User: true, Text: text}), text)
	}
}
