package models

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
)

// TestAKeyCommandThatHangs says what it is that took too long.
func TestAKeyCommandThatHangs(t *testing.T) {
	t.Parallel()
	e := &repo.Host{Dir: t.TempDir(), Environ: []string{"PATH=/usr/bin:/bin"}}
	_, err := printedKey(t.Context(), e, "t", []string{"sleep", "60"}, 50*time.Millisecond)
	require.ErrorContains(t, err, "there is no key for t: its key_command sleep took longer than 50 ms, and jp ended it.")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = printedKey(ctx, e, "t", []string{"sleep", "60"}, time.Minute)
	require.ErrorIs(t, err, context.Canceled)
}
