package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/command"
	"jp/tool/shell"
)

// readers finds programs in one folder, and lets all of the workspace be read.
func readers(bin string, root *string) *shell.Readers {
	return &shell.Readers{
		Environ: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
		Find: func(name string) (string, bool) {
			path := filepath.Join(bin, name)
			_, err := os.Stat(path)
			return path, err == nil
		},
		Reads:  func(path string) bool { return path == *root || strings.HasPrefix(path, *root+"/") },
		Secret: func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".env") },
		Git: func(_ context.Context, args []string) ([]string, []string, error) {
			if args[0] == "status" {
				return nil, nil, errors.New("git's settings cannot be read")
			}
			return append([]string{"hardened"}, args...), []string{"BY=git"}, nil
		},
		Launch: func(argv []string, dir string) (command.Launch, error) { return command.Launch{Argv: argv}, nil },
	}
}

func newReaders(t *testing.T) *fixture {
	t.Helper()
	bin, root := t.TempDir(), ""
	for _, name := range []string{
		"ls", "cat", "head", "tail", "wc", "date", "pwd", "stat", "file", "du", "find", "grep", "rg", "git", "go", "node", "sh", "rm", "sort", "python3", "sed",
	} {
		script := "#!/bin/sh\necho \"$BY\" \"$@\"\n"
		if name == "cat" {
			script = "#!/bin/sh\nexec /bin/cat \"$@\"\n"
		}
		if name == "sh" {
			require.NoError(t, os.Symlink("/bin/sh", filepath.Join(bin, name)))
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755))
	}
	f := newFixture(t, shell.Options{Readers: readers(bin, &root), Grace: 50 * time.Millisecond})
	root = f.root
	require.NoError(t, os.Mkdir(filepath.Join(f.root, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(f.root, "a.txt"), []byte("a\n"), 0o644))
	require.NoError(t, os.Symlink("/", filepath.Join(f.root, "out")))
	return f
}

func TestCommandsThatOnlyRead(t *testing.T) {
	f := newReaders(t)
	only := func(args arguments) bool {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		return f.tool.Definition().OnlyReads(raw)
	}
	for _, line := range []string{
		"ls -la sub", "cat a.txt", "head -n 5 a.txt", "tail -n 5 a.txt", "wc -l", "date +%F", "date -u", "pwd", "stat a.txt", "file a.txt", "du -sh .", "find . -name x -type f", "grep -rn x .",
		"rg -n x", "git status --short", "git log --oneline -n 5", "git --no-pager diff --stat HEAD~1", "git show HEAD:a.txt", "git grep -n x", "git branch --list -a", "git branch --show-current",
		"git blame a.txt", "git ls-files", "git rev-parse HEAD", "git log -c -S x", "go version", "go env GOPATH GOOS", "node --version", "python3 --version", "grep /api/v1 a.txt", "grep -e --follow a.txt",
	} {
		require.True(t, only(arguments{"argv": strings.Fields(line)}), line)
		require.True(t, only(sh(line)), line)
		require.False(t, only(arguments{"argv": strings.Fields(line), "stdin": "x"}), line)
	}
	for _, line := range []string{
		"rm a.txt", "sort a.txt", "sed -n 1p a.txt", "tail -f a.txt", "tail -F a.txt", "tail -n5f a.txt", "tail --follow=name a.txt", "tail --fol a.txt", "date -s 2001-01-01", "date --set=x", "date --s=x", "date 010112002026",
		"date -us x", "file -C", "file --comp -m x", "find . -exec rm {} ;", "find . -delete", "find . -fprint x", "find . -fprintf x y", "find . -fls x", "find . -ok x", "find . -execdir x", "rg --pre=x y", "rg --pre x y",
		"rg --hostname-bin x", "git -c alias.x=!y x", "git -c core.pager=x log", "git --exec-path=. log", "git commit", "git push", "git branch x", "git branch -D x", "git branch --list -D x", "git log --output=x", "git diff --outp x",
		"git grep -Oless x", "git grep -nO x", "git grep --open-files x", "git grep --open-files-in-pager=x y", "git diff --ext-diff", "git log --ext", "git show --textconv", "git log --show-signature", "git log --format=%G?", "git -C sub log",
		"git -p log", "git diff --submodule=diff", "git grep --recurse-submodules x", "go test ./...", "go env", "go env -w X=y", "go env -u X", "go version -m x", "node x.js", "python3 -c x", "node --version --eval x",
		"cat .env", "cat ./sub/.env.local", "git show HEAD:.env", "grep -r x --include=.env*", "cat /etc/passwd", "cat ../x/../..", "ls /", "ls out", "cat out/etc/passwd", "ls ..", "ls ~", "cat ~/x", "grep --file=/etc/passwd x", "grep -f/etc/passwd x",
		"/usr/bin/ls", "./ls", "missing", "env ls", "sudo ls",
	} {
		require.False(t, only(arguments{"argv": strings.Fields(line)}), line)
	}
	for text, want := range map[string]bool{
		"ls | wc -l": true, "cat 'a.txt' | grep \"a\\|b\" | head -n 1": true, "ls;": true, " ls ": true, `grep "a\$" a.txt`: true, "git show HEAD~1": true, "git show HEAD^": true,
		"ls | sort": false, "ls && ls": false, "ls; ls": false, "ls &": false, "! ls": false, "ls >x": false, "ls 2>/dev/null": false, "ls <a.txt": false, "X=y ls": false, "X=y": false, "ls $HOME": false, "ls ${x}": false,
		"ls $(rm x)": false, "ls `rm x`": false, `ls "$(rm x)"`: false, "ls $((1))": false, "ls <(rm x)": false, "ls *": false, "ls [ab]": true, "ls a?": true, "ls *.txt": true, "ls sub/*": true, "ls -d */": false, "ls -d su*/": true, "ls ../*": false, "ls /etc/*": false, "ls out/*": false,
		"ls sub/../../*": false, "cat .env*": false, "grep -rn x --include=*.go .": true, "ls [!a]*": false, "ls *a* | wc *.txt": true, "l* a": false, "ls ~/*": false, "ls a\\*": false, "tail -[f] a.txt": false, "ls {a,b}": false, "cat ~/x": false, `ls $'\x2d'`: false,
		"(ls)": false, "{ ls; }": false, "if ls; then ls; fi": false, "ls() { rm x; }": false, "while ls; do ls; done": false, "ls |& cat": false, "ls || ls": false, "": false, "ls '": false, "ls \\\n-la": true, "cat <<x\nx\n": false,
		"alias ls=rm": false, "ls # comment": true, "ls # comment\nrm x": false, "exec ls": false, "eval ls": false,
	} {
		require.Equal(t, want, only(sh(text)), text)
		require.Equal(t, want, only(arguments{"argv": []string{"bash", "-lc", text}}), text)
	}
	for name, args := range map[string]arguments{
		"another shell":      {"argv": []string{"zsh", "-c", "ls"}},
		"a shell's options":  {"argv": []string{"sh", "-c", "ls", "x"}},
		"a folder elsewhere": {"argv": []string{"ls"}, "cwd": "/"},
		"a link elsewhere":   {"argv": []string{"ls"}, "cwd": "out"},
		"from a folder":      {"argv": []string{"ls", "../.."}, "cwd": "sub"},
	} {
		require.False(t, only(args), name)
	}
	require.True(t, only(arguments{"argv": []string{"ls", ".."}, "cwd": "sub"}))
	require.Nil(t, newFixture(t, shell.Options{}).tool.Definition().OnlyReads)
}

func TestRunOfACommandThatOnlyReads(t *testing.T) {
	f := newReaders(t)
	locked := filepath.Join(f.root, "locked")
	require.NoError(t, os.WriteFile(locked, []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(f.root, "long"), make([]byte, 1<<20+1), 0o600))
	for _, name := range []string{"-f.txt", ".hidden.txt", "b c.txt", "sub/d.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(f.root, name), nil, 0o600))
	}
	for name, c := range map[string]struct {
		args          arguments
		want, refused string
	}{
		"patterns":           {sh("ls *.txt"), " ./-f.txt a.txt b c.txt\n", ""},
		"in a folder":        {sh("ls ./*.txt s*/*.txt '*'.txt"), " ./-f.txt ./a.txt ./b c.txt sub/d.txt *.txt\n", ""},
		"hidden files":       {sh("ls .h* none*"), " .hidden.txt none*\n", ""},
		"folders":            {sh("ls -d su*/"), " -d sub/\n", ""},
		"one":                {arguments{"argv": []string{"ls", "a b", "*"}}, " a b *\n", ""},
		"a pipe":             {sh(`ls "it's" '$x' | head -n 1`), " -n 1\n", ""},
		"git":                {arguments{"argv": []string{"git", "log", "-1"}}, "git hardened log -1\n", ""},
		"git in a pipe":      {sh("git log | cat"), "git hardened log\n", ""},
		"git that cannot":    {arguments{"argv": []string{"git", "status"}}, "", "git's settings cannot be read"},
		"another command":    {arguments{"argv": []string{"rm", "a.txt"}}, "", "it is not a command that only reads"},
		"more than 1 MiB":    {arguments{"argv": []string{"cat", "long"}}, "", "it writes more than 1 MiB"},
		"a file that is not": {arguments{"argv": []string{"cat", "none"}}, "/bin/cat: none: No such file or directory\nexit status 1\n", ""},
	} {
		result, err := f.start(t, t.Context(), c.args, tool.Call{OnlyReads: true})
		require.NoError(t, err, name)
		require.Equal(t, c.refused, result.Refused, name)
		require.Equal(t, c.want, string(result.Content), name)
	}
	bin, root := t.TempDir(), ""
	require.NoError(t, os.WriteFile(filepath.Join(bin, "cat"), []byte("#!/bin/sh\necho x; echo 'cat: y: Permission denied' >&2\n"), 0o755))
	f = newFixture(t, shell.Options{Readers: readers(bin, &root)})
	root = f.root
	result, err := f.start(t, t.Context(), arguments{"argv": []string{"cat"}}, tool.Call{OnlyReads: true})
	require.NoError(t, err)
	require.Equal(t, "it may not read all that it needs", result.Refused)
}
