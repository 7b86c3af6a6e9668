package shell_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/shell"
)

func TestWhatACallIsAbout(t *testing.T) {
	outside := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o755, "text": 0o644, "target": 0o644, "a.log": 0o644} {
		require.NoError(t, os.WriteFile(filepath.Join(outside, name), []byte("x"), mode))
	}
	require.NoError(t, os.WriteFile(filepath.Join(outside, "script"), []byte("#!/bin/sh\n"), 0o644))
	real, err := filepath.EvalSymlinks(outside)
	require.NoError(t, err)
	f := newFixture(t, shell.Options{Home: outside})
	write := func(name string, mode os.FileMode) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(f.root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(f.root, name), []byte("x"), mode))
	}
	for _, name := range []string{"a.sh", "b.sql", "sub/a.sh", "sub/c.sh", "my script.sh", "Makefile", "out.log", "sub/deep/d.sh", "my sub/e.sh", ".git/refs/x", "-odd"} {
		write(name, 0o644)
	}
	write("run.log", 0o755)
	require.NoError(t, os.Symlink("a.sh", filepath.Join(f.root, "link")))
	require.NoError(t, os.Symlink(filepath.Join(real, "target"), filepath.Join(f.root, "out")))
	for name, c := range map[string]struct {
		args arguments
		want string
	}{
		"a script":                  {arguments{"argv": []string{"sh", "a.sh"}}, "a.sh"},
		"the program":               {arguments{"argv": []string{"./a.sh"}}, "a.sh"},
		"data, too":                 {arguments{"argv": []string{"psql", "-f", "b.sql"}}, "b.sql"},
		"an option's value":         {arguments{"argv": []string{"x", "--file=b.sql", "-fMakefile"}}, "Makefile b.sql"},
		"none":                      {arguments{"argv": []string{"go", "test", "./..."}}, ""},
		"a folder":                  {arguments{"argv": []string{"ls", "sub"}}, "sub"},
		"folders in a text":         {sh("rm -r sub 'my sub'; ls sub/deep/"), "my sub sub sub/deep"},
		"a folder with a slash":     {arguments{"argv": []string{"rm", "-r", "./sub/"}}, "sub"},
		"a folder, quoted":          {sh(`rm -r my\ sub; python3 -c "rmtree('sub/deep')"`), "my sub sub sub/deep"},
		"a pattern":                 {sh("rm sub/*.sh"), "sub/a.sh sub/c.sh"},
		"a pattern of all":          {sh("rm -r sub/*"), "sub/a.sh sub/c.sh sub/deep"},
		"one with a letter":         {sh("rm sub/[ab].sh sub/?.sh"), "sub/a.sh sub/c.sh"},
		"one from a folder":         {sh("cd sub/deep; rm *.sh"), "a.sh my script.sh sub/deep sub/deep/d.sh"},
		"one of the call's folder":  {arguments{"argv": []string{"sh", "-c", "rm *"}, "cwd": "sub"}, "sub/a.sh sub/c.sh sub/deep"},
		"one through folders":       {sh("rm sub/**/*.sh"), "sub"},
		"one of no file":            {sh("rm sub/*.c; grep 'x.*[' none"), ""},
		"braces":                    {sh("rm sub/{a,c}.sh"), "sub"},
		"the whole tree":            {arguments{"argv": []string{"rm", "-r", "."}}, "."},
		"jp's own folder":           {arguments{"argv": []string{"ls", ".git", ".git/refs"}}, ""},
		"a folder outside":          {arguments{"argv": []string{"rm", "-r", real}}, real},
		"temporary files":           {arguments{"argv": []string{"ls", "/tmp", "/dev", "/proc/self"}}, ""},
		"one that is not there":     {arguments{"argv": []string{"sh", "none.sh"}}, ""},
		"a shell's text":            {sh("cat b.sql | ./a.sh>x && rm -f none"), "a.sh b.sql"},
		"quotes":                    {sh(`sh 'my script.sh'; echo "a.sh"`), "a.sh my script.sh"},
		"a name with a space":       {arguments{"argv": []string{"sh", "my script.sh"}}, "my script.sh"},
		"from a folder":             {arguments{"argv": []string{"sh", "a.sh"}, "cwd": "sub"}, "sub/a.sh"},
		"up from a folder":          {arguments{"argv": []string{"sh", "../a.sh"}, "cwd": "sub"}, "a.sh"},
		"into a folder":             {sh("cd sub && ./c.sh"), "sub sub/c.sh"},
		"by an option":              {arguments{"argv": []string{"make", "-C", "sub", "c.sh"}}, "sub sub/c.sh"},
		"absolute":                  {arguments{"argv": []string{"sh", filepath.Join(f.root, "a.sh")}}, "a.sh"},
		"a program outside":         {arguments{"argv": []string{filepath.Join(real, "program")}}, filepath.Join(real, "program")},
		"a script outside":          {arguments{"argv": []string{"sh", filepath.Join(real, "script")}}, filepath.Join(real, "script")},
		"a text outside":            {arguments{"argv": []string{"cat", filepath.Join(real, "text"), "/dev/null"}}, filepath.Join(real, "text")},
		"one below the home folder": {sh("cat ~/text"), filepath.Join(real, "text")},
		"the home folder":           {arguments{"argv": []string{"ls", "~"}}, real},
		"a log outside":             {arguments{"argv": []string{"cat", filepath.Join(real, "a.log")}}, ""},
		"a file of the kernel":      {arguments{"argv": []string{"cat", "/proc/uptime"}}, ""},
		"a link":                    {arguments{"argv": []string{"sh", "link"}}, "a.sh link"},
		"a link out":                {arguments{"argv": []string{"cat", "out"}}, filepath.Join(real, "target") + " out"},
		"a log":                     {arguments{"argv": []string{"tail", "out.log"}}, ""},
		"a program of such a name":  {arguments{"argv": []string{"./run.log"}}, "run.log"},
		"on standard input":         {arguments{"argv": []string{"sh"}, "stdin": "./a.sh\n"}, "a.sh"},
		"with a dash":               {arguments{"argv": []string{"sh", "--", "-odd"}}, "-odd"},
		"of no folder":              {arguments{"argv": []string{"sh", "a.sh"}, "cwd": "none"}, ""},
		"odd words":                 {arguments{"argv": []string{"x", "", strings.Repeat("y", 10_000), "a\x00.sh"}}, ""},
		"many words":                {sh(strings.Repeat("a.sh ", 10_000)), "a.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(c.args)
			require.NoError(t, err)
			var names []string
			for _, file := range f.tool.Definition().About(raw, "") {
				require.Equal(t, tool.NamedFile{Path: file.Path}, file)
				names = append(names, file.Path)
			}
			require.Equal(t, c.want, strings.Join(names, " "))
		})
	}
	require.Empty(t, f.tool.Definition().About(json.RawMessage(`{"argv":[]}`), ""))
	require.Empty(t, f.tool.Definition().About(json.RawMessage(`[]`), ""))
}
