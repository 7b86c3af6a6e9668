package turnloop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	. "jp/turnloop"
)

// A turn stops where a tool changed what git obeys, unless a person lets it go on. What the
// tool returned is on record either way, and a later run goes on behind it.
func TestATurnStopsAtFilesThatGitObeys(t *testing.T) {
	lost := errors.New("the terminal went away")
	for name, tt := range map[string]struct {
		obeyed []string
		review func(context.Context, string, []string) (bool, error)
		ends   error
	}{
		"nothing changed":   {nil, func(context.Context, string, []string) (bool, error) { panic("asked") }, nil},
		"nobody to ask":     {[]string{".git/config"}, nil, &ObeyedError{}},
		"a person says yes": {[]string{".git/config"}, func(context.Context, string, []string) (bool, error) { return true, nil }, nil},
		"a person says no":  {[]string{".git/hooks/x"}, func(context.Context, string, []string) (bool, error) { return false, nil }, &ObeyedError{}},
		"no answer":         {[]string{".git/hooks/x"}, func(context.Context, string, []string) (bool, error) { return false, lost }, lost},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace()
			w.obeyed = tt.obeyed
			write := changes("write").writing(w, "new.go")
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.Workspace = w
			if tt.review != nil {
				r.opts.Review = func(ctx context.Context, tool string, files []string) (bool, error) {
					require.Equal(t, "write", tool)
					require.Equal(t, tt.obeyed, files)
					return tt.review(ctx, tool, files)
				}
			}
			outcome, err := r.start(t.Context())
			require.NotNil(t, eventOf[*conversation.ToolCallResponse](r.stored()), "no result is lost")
			var stopped *ObeyedError
			switch {
			case tt.ends == nil:
				require.NoError(t, err)
				require.Equal(t, Complete, outcome.Status)
				return
			case errors.As(tt.ends, &stopped):
				require.ErrorAs(t, err, &stopped)
				require.Equal(t, &ObeyedError{"write", tt.obeyed}, stopped)
			default:
				require.ErrorIs(t, err, lost)
			}
			require.Equal(t, Incomplete, outcome.Status)
			require.Contains(t, r.turn(), "tool_call_response turn_interrupted")
			require.Len(t, write.runs, 1)
		})
	}
}
