package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Text that was on the screen when jp was killed is quoted, and marked as not recorded.
func TestCutOffTextIsQuoted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		text   string // of the draft
		prints string
		brief  string
		asks   string // the question's text about it
	}{
		"a message": {
			"message = \"Once upon a time\\n\\nthere was\"\nchunk_size = 4\nhang = true\n", "there was",
			"Once upon a time\n\nthere was …(cut off, not recorded)\n", "Once upon a time …(cut off, not recorded)",
			"  It was answering:\n      Once upon a time\n      \n      there was …(cut off, not recorded)\n",
		},
		"reasoning": {
			"reasoning = \"I think of a tale\"\nchunk_size = 4\nhang = true\n", "of a tale",
			"Reasoning:\n    I think of a tale …(cut off, not recorded)\n", "",
			"  It was thinking:\n      I think of a tale …(cut off, not recorded)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../hang.toml", "[[reply]]\n"+test.script)
			cmd := p.command("query", "-m", "script/../hang.toml", "Tell me")
			require.NoError(t, cmd.Start())
			require.Eventually(t, func() bool {
				files, _ := filepath.Glob(filepath.Join(p.dir, ".git", "jp", "drafts", "*.answer"))
				if len(files) == 0 {
					return false
				}
				kept, _ := os.ReadFile(files[0])
				return strings.Contains(string(kept), test.text)
			}, time.Minute, 10*time.Millisecond)
			require.NotContains(t, p.jp("print").stdout, "not recorded", "it may still be")
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			require.Contains(t, p.jp("print").stdout, test.prints)
			require.Contains(t, p.jp("print", "--style", "brief").stdout, test.brief)
			require.NotContains(t, p.jp("print", "--json").stdout, "not recorded")
			s := p.sit(100, "query", "And now?")
			s.WaitFor("q  quit, change nothing")
			s.prompted()
			require.Contains(t, s.Text(), strings.ReplaceAll(test.asks, "      \n", "\n"))
			s.Type("q")
			require.Equal(t, 3, s.exit())
		})
	}
}
