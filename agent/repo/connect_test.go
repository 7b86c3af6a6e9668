package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/process"
	"jp/process/attach"
)

func TestUnreachable(t *testing.T) {
	for name, tt := range map[string]struct {
		why  error
		says string
		hint string
	}{
		"no socket":      {fs.ErrNotExist, "pid 7 holds jp-c17952550001-k3f9, and cannot be connected to: it has no socket here.", "jp kill k3f9"},
		"it is stopped":  {fmt.Errorf("%w: %w", attach.ErrGone, os.ErrDeadlineExceeded), "pid 7 holds jp-c17952550001-k3f9, and does not answer.", "kill -CONT 7"},
		"something else": {errors.New("odd"), "pid 7 holds jp-c17952550001-k3f9, and cannot be connected to: odd.", "jp kill k3f9"},
	} {
		t.Run(name, func(t *testing.T) {
			f := unreachable(idOf(1), process.Holder{PID: 7}, tt.why)
			require.Equal(t, problem.ExitLocked, f.Exit)
			require.Equal(t, tt.says, f.Message)
			require.Equal(t, tt.hint, f.Hints[0].Action.String())
		})
	}
}
