package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const readsScript = "[[reply]]\n[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = {}\n[[reply]]\nmessage = \"Over.\"\n"

// A question of a transient turn can be answered here only, and an interruption leaves no trace.
func TestAQuestionOfWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../reads.toml", readsScript)
	p.write("../hook", "cat >>../hooked\n")
	args := []string{
		"query", "--no-persist", "-m", "script/../reads.toml", "--cfg", "tools.fs_list_files.run=ask",
		"--cfg", `hooks.waiting-for-input=["sh", "../hook"]`, "Look",
	}
	s := p.sit(80, args...)
	s.prompted()
	var hooked []byte
	require.Eventually(t, func() bool {
		hooked, _ = os.ReadFile(filepath.Join(p.dir, "../hooked"))
		return bytes.HasSuffix(hooked, []byte("\n"))
	}, time.Minute, time.Millisecond)
	require.Contains(t, string(hooked), `"recorded":false`)
	require.Contains(t, string(hooked), `"answer":""`)
	s.Type("\x03")
	s.WaitFor("a abort (nothing is kept)")
	s.Type("a")
	require.Equal(t, 130, s.exit())
	require.NotContains(t, s.Text(), "jp continue")
	require.Empty(t, p.jp("ls").stdout)
	require.NoDirExists(t, filepath.Join(p.dir, ".git/jp"))

	s = p.sit(80, args...)
	s.prompted()
	s.Type("y")
	require.Zero(t, s.exit())
	s.WaitFor("Over.")
}

// A text from an editor is not lost with the turn.
func TestATextThatIsNotRecordedIsKept(t *testing.T) {
	t.Parallel()
	p := edited(t, "echo thoughts >>\"$1\"\n")
	p.write("../fails.toml", "[[reply]]\nfail = \"auth\"\n")
	temporary := t.TempDir()
	p.environ = append(p.environ, "TMPDIR="+temporary)
	s := p.sit(80, "query", "--no-persist", "-m", "script/../fails.toml")
	require.Equal(t, 7, s.exit())
	s.WaitFor("Nothing is recorded.")
	s.WaitFor("What you wrote is in")
	kept, err := filepath.Glob(filepath.Join(temporary, "jp-*.md"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	text, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.Equal(t, "thoughts\n", string(text))
}
