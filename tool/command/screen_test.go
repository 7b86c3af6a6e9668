package command

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool"
)

// A program that stays in the alternate screen is ended, and the words explain it. The test is sequential
// since it changes the times.
func TestProgramsThatWaitForKeys(t *testing.T) {
	silent := screenSilent
	screenSilent = 100 * time.Millisecond
	defer func() { screenSilent = silent }()
	for name, tt := range map[string]struct {
		script string
		keys   bool
	}{
		"an editor":           {`printf '\033[?1049h'; exec sleep 600`, true},
		"to standard error":   {`printf '\033[?1049h' >&2; exec sleep 600`, true},
		"an older sequence":   {`printf '\033[?47h'; exec sleep 600`, true},
		"in pieces":           {`printf '\033[?10'; sleep 0.05; printf '49h'; exec sleep 600`, true},
		"it enters it again":  {`printf '\033[?1049h\033[?1049l\033[?1049h'; exec sleep 600`, true},
		"a vim without one":   {`echo 'Vim: Warning: Input is not from a terminal' >&2; exec sleep 600`, true},
		"a log of a vim":      {`echo x; sleep 0.05; echo 'Vim: Warning: Input is not from a terminal'; sleep 0.5`, false},
		"it leaves it":        {`printf '\033[?1049h'; printf '\033[?1049l'; sleep 0.5`, false},
		"it ends":             {`printf '\033[?1049h'`, false},
		"it clears":           {`printf '\033[2J\033[H\033[?25l'; sleep 0.5`, false},
		"another private set": {`printf '\033[?1047;x\033[?2004h'; sleep 0.5`, false},
	} {
		for _, apart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				p := Program{Argv: []string{"sh", "-c", tt.script}, Dir: t.TempDir(), Env: os.Environ(), Output: io.Discard, Grace: time.Second}
				if apart {
					p.Output, p.Errors = nil, io.Discard
				}
				ended, err := p.Run(t.Context(), tool.Call{})
				require.NoError(t, err)
				require.Equal(t, tt.keys, ended.Keys)
				require.Equal(t, !tt.keys, ended.Success())
				if _, long := ended.Words(); tt.keys {
					require.Contains(t, long, "waits for keys, and there is no terminal")
				}
			})
		}
	}
}

// Output continues for a while, since monitors draw again and again.
func TestScreenOfAMonitor(t *testing.T) {
	var s screen
	begin := time.Now()
	_, _ = s.Write([]byte("\x1b[?1049h"))
	s.last = begin.Add(screenMost - time.Second)
	require.False(t, s.waits(begin.Add(screenMost-time.Second)))
	require.True(t, s.waits(time.Now().Add(screenMost)))
}
