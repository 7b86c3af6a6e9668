package process_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/process"
)

func TestAwait(t *testing.T) {
	l := process.Locks{Dir: t.TempDir()}
	first, next := holder(), holder()
	next.Started = next.Started.Add(time.Second)
	for name, await := range map[string]func(context.Context) error{
		"free": func(ctx context.Context) error { return l.AwaitFree(ctx, id) },
		"end":  func(ctx context.Context) error { return l.AwaitEnd(ctx, id, first) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, await(t.Context()), "nobody holds it")
			lock, err := l.Take(id, first)
			require.NoError(t, err)
			over := errors.New("over")
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(over)
			require.ErrorIs(t, await(ctx), over)
			ended := make(chan error)
			go func() { ended <- await(t.Context()) }()
			require.NoError(t, lock.Release())
			require.NoError(t, <-ended)
		})
	}
	lock, err := l.Take(id, next)
	require.NoError(t, err)
	defer lock.Release()
	require.NoError(t, l.AwaitEnd(t.Context(), id, first), "somebody else holds it")
}
