package chat

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
)

func TestFilesLikeAWord(t *testing.T) {
	paths := []string{"cmd/jp/internal/chat/complete.go", "cmd/jp/complete.go", "config/compat.go", "docs/Complete.md", "a/c/o/m.txt", "completely/other.go"}
	for word, want := range map[string][]string{
		"complete":  {"docs/Complete.md", "cmd/jp/complete.go", "cmd/jp/internal/chat/complete.go", "completely/other.go"},
		"plete.go":  {"cmd/jp/complete.go", "cmd/jp/internal/chat/complete.go", "completely/other.go"},
		"chat/comp": {"cmd/jp/internal/chat/complete.go"},
		"cmplt":     {"docs/Complete.md", "cmd/jp/complete.go", "cmd/jp/internal/chat/complete.go", "completely/other.go"},
		"xyz":       {},
	} {
		require.Equal(t, want, alikes(paths, word), word)
	}
	var many []string
	for i := range 50_000 {
		many = append(many, fmt.Sprintf("some/folder/with/files/file_%d.go", i))
	}
	require.Len(t, alikes(many, "file"), mostCandidates)
}

func TestSettings(t *testing.T) {
	var s settings
	dir := t.TempDir()
	s.open(dir, agent.Request{Turn: agent.TurnOptions{Profiles: []string{"mine", "edits"}}})
	require.Equal(t, "edits", s.modeName())
	require.Equal(t, []string{"mine", "edits"}, s.next(false).Turn.Profiles)

	say := func(set func(*settings, []string) (string, error), fails string, words ...string) {
		t.Helper()
		_, err := set(&s, words)
		if fails == "" {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, fails)
	}
	mode := func(s *settings, words []string) (string, error) { return s.chooseMode(nil, words) }
	say(mode, "", "plan")
	require.Equal(t, []string{"mine", "plan"}, s.next(false).Turn.Profiles)
	require.Equal(t, []string{"mine"}, s.next(true).Turn.Profiles, "a plan is accepted")
	require.Equal(t, none, s.modeName())
	say(mode, "", "edits")
	require.Equal(t, []string{"mine", "edits"}, s.next(true).Turn.Profiles, "only a plan is")
	say(mode, `invalid mode "fast"`, "fast")
	say(mode, "", "none")
	require.Equal(t, []string{"mine"}, s.next(false).Turn.Profiles)

	attach := func(s *settings, words []string) (string, error) { return s.attach(nil, words) }
	say(attach, "jp could not attach nothing.txt: no such file or directory", "nothing.txt")
	say(attach, "no standard input", "-")
	require.Empty(t, s.next(false).Input.Attachments)
	say(attach, "", "*.txt")
	say(attach, "", dir)
	require.Equal(t, []string{"*.txt", dir}, s.next(false).Input.Attachments)
	s.asked()
	require.Empty(t, s.next(false).Input.Attachments)

	tools := func(s *settings, words []string) (string, error) { return s.switchTools(nil, words) }
	say(tools, "", "a", "-b")
	say(tools, "", "-a")
	require.Equal(t, []string{"b", "a"}, s.next(false).Tools.Disable)
	require.Empty(t, s.next(false).Tools.Enable)
}
