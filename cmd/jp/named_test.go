package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/snapshot"
	"jp/internal/testing/crashtest"
)

// jp never claims that a lost tool left a file unchanged if no snapshot has the file.
func TestUnrecordedFilesOfALostTool(t *testing.T) {
	t.Parallel()
	const (
		changed   = "changed after its start"
		unchanged = "had not changed when jp looked"
		absent    = "were not there when jp looked"
		untold    = "existed when jp looked and were not recorded before, so it is unknown whether it changed them"
	)
	for name, tt := range map[string]struct {
		tool, path string
		after      bool // jp is killed once the tool has done it, else just before
		want       string
	}{
		"ignored, made":         {"fs_create_file", "ign/made.txt", true, untold},
		"ignored, not made":     {"fs_create_file", "ign/made.txt", false, absent},
		"ignored, deleted":      {"fs_delete_file", "ign/there.txt", true, absent},
		"ignored, not deleted":  {"fs_delete_file", "ign/there.txt", false, untold},
		"another repository":    {"fs_create_file", "nested/made.txt", true, untold},
		"recorded, made":        {"fs_create_file", "made.txt", true, changed},
		"recorded, not made":    {"fs_create_file", "made.txt", false, absent},
		"recorded, deleted":     {"fs_delete_file", "README.md", true, changed},
		"recorded, not deleted": {"fs_delete_file", "README.md", false, unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("README.md", "A place.\n")
			p.write(".gitignore", "ign/\n")
			p.write("ign/there.txt", "there\n")
			p.git("init", "-q", "nested")
			p.git("add", ".gitignore", "README.md")
			p.git("commit", "-q", "-m", "first")
			content := ""
			if tt.tool == "fs_create_file" {
				content = `, content = "made\n"`
			}
			p.write("../one.toml", fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = %q\narguments = { path = %q%s }\n[[reply]]\nmessage = \"Over.\"\n", tt.tool, tt.path, content))
			traced, err := crashtest.Run(t.Context(), p.command("query", "-y", "-m", "script/../one.toml", "Go"), func(at crashtest.Point) bool {
				return at.Returned == tt.after && at.Path == filepath.Join(p.dir, tt.path)
			})
			if errors.Is(err, crashtest.ErrUnsupported) {
				// Without tracing the test cannot choose the system call at which it kills jp.
				t.Skip(err)
			}
			require.NoError(t, err)
			require.NotNil(t, traced.Killed, traced.Points)
			_, err = os.Stat(filepath.Join(p.dir, tt.path))
			require.Equal(t, (tt.tool == "fs_create_file") != tt.after, os.IsNotExist(err))
			require.Zero(t, p.jp("continue", "-y").exit)
			told := p.result(0)
			require.Contains(t, told, fmt.Sprintf("These files that it named %s: %q.", tt.want, tt.path))
			require.Equal(t, 1, strings.Count(told, "These files"))
		})
	}
}

// A call of any tool names files by path and paths. A value that cannot be a file of the working tree,
// or is no text, is none.
func TestMentionedFiles(t *testing.T) {
	for arguments, want := range map[string][]string{
		`{"path":"a.go"}`:                         {"a.go"},
		`{"paths":["a.go","b/c.go"]}`:             {"a.go", "b/c.go"},
		`{"path":"a.go","paths":["b.go"]}`:        {"a.go", "b.go"},
		`{"paths":"a.go"}`:                        nil,
		`{"paths":[1]}`:                           nil,
		`{"paths":["/etc/passwd","../up","."]}`:   nil,
		`{"paths":["",".git/config","a\u0000b"]}`: nil,
		`{"argv":["touch","a.go"]}`:               nil,
		`[]`:                                      nil,
	} {
		require.ElementsMatch(t, want, snapshot.Mentioned([]byte(arguments)), arguments)
	}
}
