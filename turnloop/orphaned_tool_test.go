package turnloop

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := errors.New("over")
		ctx, end := context.WithCancelCause(context.WithValue(t.Context(), t, "kept"))
		longer, cancel := extend(ctx, time.Minute)
		defer cancel()
		require.Equal(t, "kept", longer.Value(t))
		end(over)
		// By the bubble's clock: the event must come after this.
		time.Sleep(59 * time.Second)
		synctest.Wait()
		require.NoError(t, longer.Err())
		<-longer.Done()
		require.Equal(t, over, context.Cause(longer))

		done, cancel := extend(ctx, time.Hour)
		cancel()
		require.ErrorIs(t, done.Err(), context.Canceled)
	})
}
