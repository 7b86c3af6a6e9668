package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
)

// Each file that git obeys for the repository, its submodules and its worktrees is watched.
func TestObeyedFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		write, text string
		want        []string
	}{
		"the configuration":           {".git/config", "[include] path = inc\n[core]\n\thooksPath = .git/own\n\tfsmonitor = x\n", []string{".git/config"}},
		"a common directory":          {".git/commondir", "../.c\n", []string{".git/commondir"}},
		"a hook":                      {".git/hooks/pre-push", "x", []string{".git/hooks/pre-push"}},
		"of a submodule":              {".git/modules/lib/sub/config", "x", []string{".git/modules/lib/sub/config"}},
		"its hook":                    {".git/modules/lib/sub/hooks/pre-push", "x", []string{".git/modules/lib/sub/hooks/pre-push"}},
		"its common directory":        {".git/modules/lib/sub/commondir", "x", []string{".git/modules/lib/sub/commondir"}},
		"of a submodule of it":        {".git/modules/lib/sub/modules/in/config", "x", []string{".git/modules/lib/sub/modules/in/config"}},
		"of another worktree":         {".git/worktrees/w/config.worktree", "x", []string{".git/worktrees/w/config.worktree"}},
		"where that one leads":        {".git/worktrees/w/commondir", "../../.c\n", []string{".git/worktrees/w/commondir"}},
		"an included file":            {".git/inc", "[includeIf \"gitdir:~/\"]\n\tpath = \"../deep.cfg\"\n[core]\n", []string{".git/inc"}},
		"one that this one includes":  {"deep.cfg", "[core]\n", []string{"deep.cfg"}},
		"hooks elsewhere below .git":  {".git/own/pre-push", "x", []string{".git/own/pre-push"}},
		"one below the home folder":   {"home/own.cfg", "[core]\n", []string{"home/own.cfg"}},
		"hooks elsewhere, in modules": {".git/own/sub/x", "x", nil},
		"where objects are":           {".git/objects/info/alternates", "/tmp/x\n", []string{".git/objects/info/alternates"}},
		"those of a submodule":        {".git/modules/lib/sub/objects/info/alternates", "/tmp/x\n", []string{".git/modules/lib/sub/objects/info/alternates"}},
		"other parents of commits":    {".git/info/grafts", "x", []string{".git/info/grafts"}},
		"an object":                   {".git/objects/aa", "x", nil},
		"a list of git gc":            {".git/info/refs", "x", nil},
		"the list of a submodule":     {".git/modules/lib/sub/info/refs", "x", nil},
		"a new worktree":              {".git/worktrees/new/commondir", "../..\n", nil},
		"a file of the user's":        {"a.txt", "x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			write := func(name, text string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(top, name), []byte(text), 0o644))
			}
			for name, text := range map[string]string{
				".git/config": "[include] path = inc\n[include] path = ~/own.cfg\n[core]\n\thooksPath = .git/own\n",
				".git/inc":    "[includeIf \"gitdir:~/\"]\n\tpath = \"../deep.cfg\"\n",
				"deep.cfg":    "[user]\n",
				".git/own/a":  "x", ".git/own/sub/a": "x", ".git/hooks/a": "x", ".git/info/exclude": "x",
				".git/modules/lib/sub/HEAD": "x", ".git/modules/lib/sub/hooks/a": "x", ".git/modules/lib/sub/info/exclude": "x",
				".git/modules/lib/sub/config":          "[core]\n\tworktree = ../../../../lib/sub\n",
				".git/modules/lib/sub/modules/in/HEAD": "x",
				".git/worktrees/w/commondir":           "../..\n",
			} {
				write(name, text)
			}
			f := &Files{home: filepath.Join(top, "home"), git: gitcmd.Repository{TopLevel: top, GitDir: filepath.Join(top, ".git"), CommonDir: filepath.Join(top, ".git")}}
			before := f.controlFiles(t.Context())
			write(tt.write, tt.text)
			require.Equal(t, tt.want, f.controlFiles(t.Context()).changed(before))
		})
	}
}
