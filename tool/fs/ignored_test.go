package fs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
	"jp/tool/fs"
)

// A folder that git ignores is searched if it is named. An empty answer names the omitted files.
func TestIgnoredFiles(t *testing.T) {
	root := gitenv.Repo(t)
	f := fixtureAt(t, root, fs.Options{Git: gitcmd.New(root, gitcmd.Options{})})
	f.write(".gitignore", "build/\n*.log\n")
	f.write("build/out.txt", "needle\n")
	f.write("build/deep/x.txt", "")
	f.write("cmd/a.log", "needle\n")
	const left = " left out: name an ignored folder or file as path to look into it]\n"
	for name, tt := range map[string]struct {
		args       arguments
		list, grep string
	}{
		"the folder":       {arguments{"path": "build"}, "build/deep/x.txt\nbuild/out.txt\n", "build/out.txt:1:needle\n"},
		"a folder in it":   {arguments{"path": "build/deep"}, "build/deep/x.txt\n", "[no matches]\n"},
		"a file":           {arguments{"path": "cmd/a.log"}, "cmd/a.log\n", "cmd/a.log:1:needle\n"},
		"a folder with it": {arguments{"path": "cmd"}, "[no files]\n[1 ignored file" + left, "[no matches]\n[1 ignored file" + left},
		"everything":       {nil, ".gitignore\nREADME.md\n", "[no matches]\n[3 ignored files" + left},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.list, string(f.done("fs_list_files", tt.args).Content))
			grep := arguments{"pattern": "needle"}
			for key, value := range tt.args {
				grep[key] = value
			}
			require.Equal(t, tt.grep, string(f.done("fs_grep_files", grep).Content))
		})
	}
	require.Equal(t, "[no files]\n[2 ignored files"+left, string(f.done("fs_list_files", arguments{"pattern": "**/*.txt"}).Content))
}
