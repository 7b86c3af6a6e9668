package gitcmd_test

import (
	"bytes"
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// jp's judgement of a file is the same as that of git's own check of a tree with it.
func TestFsckAgreesWithGit(t *testing.T) {
	type file struct {
		path, content string
		link          bool
	}
	var files []file
	for _, name := range []string{
		".git", ".GIT", ".Git ", ".git.", ".git...", ".git::$INDEX_ALLOCATION", "git~1", "GIT~1", "git~2", "git~1 ", ".g\u200cit", "\ufeff.git", ".gi\u202at", ".git\xff", ".git\u0130",
		`a\.git`, `a\git~1\b`, `.git\a`, "x.git", ".gita", ".github", ".gitkeep", ".gitignore", "git", "gıt~1", ".git\u0301",
	} {
		files = append(files, file{path: name}, file{path: name + "/a"}, file{path: "d/" + name})
	}
	for _, name := range []string{
		".gitmodules", ".GitModules", ".gitmodules ", ".gitm\u200codules", "gitmod~1", "GITMOD~4", "gitmod~5", "gi7eba~1", "gi7eb~12", "gi~12345", "~1000000", "gi7eba~0", "gitmodules", `a\.gitmodules`,
		".gitattributes", ".gitattributes.", "gitatt~1", "gi7d29~1", ".gitattribute\u200ds",
	} {
		long := "* " + strings.Repeat("a", 2050) + "\n"
		files = append(
			files, file{path: name, content: "[submodule \"a\"]\n\turl = -evil\n"}, file{path: "d/" + name, content: long}, file{path: name + "/a"}, file{path: name, content: "a", link: true},
		)
	}
	for _, text := range []string{
		"", "[submodule \"a\"]\npath = -a\n", "[submodule \"a\"]\npath = a\nurl = ./b\n", "[submodule \"../a\"]\nurl = b\n", "[submodule \"a/../b\"]\n", "[submodule \"a\\\\..\"]\nurl = b\n", "[submodule \"..a\"]\nurl = b\n",
		"[submodule \"\"]\nurl = b\n", "[submodule]\nurl = -b\n", "[submodule \"a.b\"]\nURL = -b\n", "[submodule \"a\"]\nupdate = !touch x\n", "[submodule \"a\"]\nupdate = merge\n",
		"[submodule \"a\"]\nurl = \"../../:b\"\n", "[submodule \"a\"]\nurl = ..//b\n", "[submodule \"a\"]\nurl = ./%0ab\n", "[submodule \"a\"]\nurl = https:///b\n", "[submodule \"a\"]\nurl = https::x\n",
		"[submodule \"a\"]\nurl = https://example.com/%0ahost=b\n", "[submodule \"a\"]\nurl = https://example.com/b\n", "[submodule \"a\"]\nurl = http::https://example.com/b\n", "[submodule \"a\"]\nurl = git@example.com:b\n",
		"[submodule \"a\"]\nurl\n", "[submodule \"a\"]\nurl = -b\n[broken\n", "[broken\n[submodule \"a\"]\nurl = -b\n", "[include]\npath = ../evil\n", "[submodule \"a\"]\nurl = \"\\\n-b\"\n",
	} {
		files = append(files, file{path: ".gitmodules", content: text})
	}
	for _, text := range []string{strings.Repeat("a", 2047), strings.Repeat("a", 2048), "a\n" + strings.Repeat("a", 2047) + "\r\n", "a text\n"} {
		files = append(files, file{path: ".gitattributes", content: text}, file{path: "gitattributes", content: text})
	}
	for _, f := range files {
		t.Run(f.path+" "+f.content[:min(len(f.content), 50)], func(t *testing.T) {
			dir := gitenv.Repo(t)
			run := func(stdin string, args ...string) (string, error) {
				cmd := exec.Command("git", args...)
				cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
				out, err := cmd.CombinedOutput()
				return string(bytes.TrimSpace(out)), err
			}
			repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			oid, err := run(f.content, "hash-object", "-w", "--stdin")
			require.NoError(t, err)
			mode := "100644"
			if f.link {
				mode = "120000"
			}
			parts := strings.Split(f.path, "/")
			for i := len(parts) - 1; i >= 0; i-- {
				raw, err := hex.DecodeString(oid)
				require.NoError(t, err)
				oid, err = run(mode+" "+parts[i]+"\x00"+string(raw), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
				require.NoError(t, err)
				mode = "40000"
			}
			commit, err := run("", "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "a", oid)
			require.NoError(t, err)
			_, err = run("", "update-ref", "refs/heads/a", commit)
			require.NoError(t, err)
			said, refused := run("", "fsck", "--strict", "--no-dangling")

			fault := gitcmd.FsckName(f.path)
			if fault == "" {
				fault, err = gitcmd.At(repo, gitcmd.Options{}).FsckContent(t.Context(), f.path, f.link, []byte(f.content))
				require.NoError(t, err)
			}
			switch {
			case refused == nil:
				require.Empty(t, fault, said)
			default:
				require.Contains(t, said, fault+":")
				require.NotEmpty(t, fault, said)
			}
		})
	}
}
