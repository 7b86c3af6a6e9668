package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const grepScript = `
[[reply]]
message = """
Now it is three times at most, with a pause that grows: the retries of Login are no longer for ever.
\tfor retries := range 3 {
The end."""
`

// searched is a place with a conversation.
func searched(t *testing.T) *workspace {
	t.Helper()
	p := newPlace(t)
	p.environ = append(p.environ, clockVariable+"="+epoch)
	p.write("../talk.toml", grepScript)
	out := p.jp("query", "-m", "script/../talk.toml", "--title", "Login loops", "Cap the \x1b]0;retries\x07 and \u202eretries")
	require.Zero(t, out.exit, out.stderr)
	return p
}

func TestGrepOnATerminal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		columns int
		args    []string
		want    []string
	}{
		"wide": {80, []string{"retries"}, []string{
			"jp-c17952552000-tpjl  Login loops                                            now",
			"  1 @3 user       Cap the retries and <U+202E>retries",
			"  1 @4 assistant  …ause that grows: the retries of Login are no longer for ever.",
			"  1 @4 assistant      for retries := range 3 {",
		}},
		"narrow": {40, []string{"retries", "--scope", "assistant"}, []string{
			"jp-c17952552000-tpjl  Login loops    now",
			"  1 @4 assistant  … the retries of Logi…",
			"  1 @4 assistant      for retries := ra…",
		}},
		"very narrow": {30, []string{"retries", "--scope", "assistant"}, []string{
			"jp-c17952552000-tpjl  Login l…",
			"  @4  … the retries of Login …",
			"  @4      for retries := rang…",
		}},
		"context": {60, []string{"-r", "-A1", "the end|cap"}, []string{
			"jp-c17952552000-tpjl  Login loops                        now",
			"  1 @3: user       Cap the  and <U+202E>retries",
			"  --",
			"  1 @4: assistant  The end.",
		}},
		"ids":  {60, []string{"-l", "retries"}, []string{"jp-c17952552000-tpjl"}},
		"text": {100, []string{"--format", "text", "the end"}, []string{"jp-c17952552000-tpjl:1:4:assistant:The end."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := searched(t).sit(tt.columns, append([]string{"grep"}, tt.args...)...)
			require.Zero(t, s.exit())
			s.WaitForEnd(tt.want[len(tt.want)-1])
			require.Equal(t, strings.Join(tt.want, "\n"), s.Text())
			require.NotContains(t, s.Raw(), "\u202e")
			require.NotContains(t, s.Raw(), "\x1b]")
		})
	}
}

func TestGrepColours(t *testing.T) {
	t.Parallel()
	s := searched(t).sit(80, "grep", "-C1", "for retries")
	require.Zero(t, s.exit())
	s.WaitForEnd("The end.")
	require.Contains(t, s.Raw(), "    \x1b[1;31mfor retries\x1b[22;39m := range 3 {")
	require.Contains(t, s.Raw(), "\x1b[2mThe end.\x1b[22m")
}
