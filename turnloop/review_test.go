package turnloop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// A turn stops if a tool changed files that git obeys, unless a person lets it go on. The tool's result is on
// record either way, and a later run goes on behind it.
func TestATurnStopsAtFilesThatGitObeys(t *testing.T) {
	lost := errors.New("the terminal went away")
	for name, tt := range map[string]struct {
		obeyed []string
		review func() (bool, error)
		ends   error
	}{
		"nothing changed":   {nil, func() (bool, error) { panic("asked") }, nil},
		"nobody to ask":     {[]string{".git/config"}, nil, &ControlFilesError{}},
		"a person says yes": {[]string{".git/config"}, func() (bool, error) { return true, nil }, nil},
		"a person says no":  {[]string{".git/hooks/x"}, func() (bool, error) { return false, nil }, &ControlFilesError{}},
		"no answer":         {[]string{".git/hooks/x"}, func() (bool, error) { return false, lost }, lost},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace()
			w.obeyed = tt.obeyed
			write := changes("write").writing(w, "new.go")
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.Files.Workspace = w
			if tt.review != nil {
				r.opts.User.Review = func(ctx context.Context, changed *ControlFilesError) (bool, error) {
					require.Equal(t, &ControlFilesError{Tool: "write", Files: tt.obeyed}, changed)
					return tt.review()
				}
			}
			outcome, err := r.start(t.Context())
			require.NotNil(t, eventOf[*conversation.ToolCallResponse](r.stored()), "no result is lost")
			var stopped *ControlFilesError
			switch {
			case tt.ends == nil:
				require.NoError(t, err)
				require.Equal(t, Complete, outcome.Status)
				return
			case errors.As(tt.ends, &stopped):
				require.ErrorAs(t, err, &stopped)
				require.Equal(t, &ControlFilesError{Tool: "write", Files: tt.obeyed}, stopped)
			default:
				require.ErrorIs(t, err, lost)
			}
			require.Equal(t, Incomplete, outcome.Status)
			require.Contains(t, r.turn(), "tool_call_response turn_interrupted")
			require.Len(t, write.runs, 1)
		})
	}
}

// controlRig is a turn whose tool changes control files of git, between two others, with the
// answers that a person gives when jp asks.
func controlRig(t *testing.T, says bool) (c *crashRig, asked *[]ControlFilesError) {
	w := newWorkspace()
	w.control = map[string]string{".git/config": "[core]", ".git/hooks": ""}
	wild := changes("wild").doing(func(context.Context, tool.Call) (tool.Result, error) {
		w.control[".git/config"], w.control[".git/hooks/pre-commit"] = "[alias]", "#!/bin/sh"
		return tool.Result{Content: []byte("ok")}, nil
	})
	tame := changes("tame").writing(w, "a.go")
	c = &crashRig{workspace: w, rig: newRig(t, []*fakeTool{wild, tame}, once(calls("tame", "_1", "{}"), calls("wild", "_2", "{}"), calls("tame", "_3", "{}"), ends(conversation.FinishToolCalls)), answers("ok"))}
	asked = new([]ControlFilesError)
	c.opts.Files.Workspace = w
	c.opts.User.Review = func(_ context.Context, changed *ControlFilesError) (bool, error) {
		c.trace.add("review")
		*asked = append(*asked, *changed)
		return says, nil
	}
	return c, asked
}

// After a kill at any point, jp asks about control files that a tool changed before it does anything else,
// once, and a second resume accepts those that the first one named.
func TestAKillDoesNotHideControlFiles(t *testing.T) {
	whole, _ := controlRig(t, true)
	whole.done()
	files := []string{".git/config", ".git/hooks/pre-commit"}
	afterRun := 0
	for _, says := range []bool{true, false} {
		for _, how := range []crash{refuses, dies, silent} {
			for n := 1; n <= whole.journal.count; n++ {
				t.Run(fmt.Sprint(says, how, n), func(t *testing.T) {
					c, asked := controlRig(t, says)
					_, _ = New(c.opts).Start(c.crashAt(n, how), Request{Chat: conversation.ChatRequest{Content: "do it"}})
					c.heal()
					for range 3 {
						c.reload()
						if c.opts.Conversation.Stream.Len() == 0 {
							_, _ = New(c.opts).Start(c.t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
						} else {
							_, _ = New(c.opts).Resume(c.t.Context(), Resume{})
						}
						c.check()
					}
					require.True(t, c.opts.Conversation.Stream.Tail().Complete())
					require.Empty(t, c.problems)
					ran := slices.Index(c.trace.lines, "run wild")
					if ran < 0 { // the call was cut off, or jp was killed before the tool began
						require.Empty(t, *asked)
						return
					}
					afterRun++
					require.NotEmpty(t, *asked)
					require.Equal(t, files, (*asked)[0].Files)
					review := slices.Index(c.trace.lines, "review")
					require.Greater(t, review, ran)
					for _, line := range c.trace.lines[ran+1 : review] {
						require.NotContains(t, line, "run")
						require.NotContains(t, line, "model")
					}
					if !says {
						require.LessOrEqual(t, len(*asked), 2)
						stopped := eventOf[*conversation.TurnInterrupted](slices.DeleteFunc(c.stored(), func(e *conversation.Event) bool {
							b, ok := e.Body.(*conversation.TurnInterrupted)
							return ok && !b.ControlShown
						}))
						require.NotNil(t, stopped)
					}
				})
			}
		}
	}
	require.Greater(t, afterRun, 30)
}

// A resume compares with the control files before the tool. It leaves out those that a person let pass, those
// of another working tree, and those of a tool that names all its files.
func TestAResumeAsksOnlyAboutWhatNobodySaw(t *testing.T) {
	for name, tt := range map[string]struct {
		then  func(c *crashRig) // between the kill and the resume
		asked []string
	}{
		"as the tool left it":   {func(*crashRig) {}, []string{".git/config", ".git/hooks/pre-commit"}},
		"taken back by hand":    {func(c *crashRig) { c.workspace.control = map[string]string{".git/config": "[core]", ".git/hooks": ""} }, nil},
		"one of two taken back": {func(c *crashRig) { c.workspace.control[".git/config"] = "[core]" }, []string{".git/hooks/pre-commit"}},
		"a file is gone":        {func(c *crashRig) { c.workspace.control = map[string]string{".git/config": "[core]"} }, []string{".git/hooks"}},
		"no key any more":       {func(c *crashRig) { c.workspace.control = nil }, nil},
		"in another worktree":   {func(c *crashRig) { c.workspace.git.Worktree = "other" }, nil},
		"more than an event lists": {func(c *crashRig) {
			for i := range 300 {
				c.workspace.control[fmt.Sprint(".git/hooks/", i)] = "x"
			}
		}, []string{".git", ".git/config", ".git/hooks"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, asked := controlRig(t, true)
			ended := errors.New("killed while the tool ran")
			ctx, end := context.WithCancelCause(t.Context())
			wild, _ := c.opts.Tools.Registry.Lookup("wild")
			do := wild.(*fakeTool).do
			wild.(*fakeTool).do = func(ctx context.Context, call tool.Call) (tool.Result, error) {
				c.kill()
				end(ended)
				return do(ctx, call)
			}
			_, err := New(c.opts).Start(ctx, Request{Chat: conversation.ChatRequest{Content: "do it"}})
			require.ErrorIs(t, err, errKilled)
			require.Empty(t, *asked)
			c.journal.fault = nil
			tt.then(c)
			c.reload()
			_, err = New(c.opts).Resume(t.Context(), Resume{})
			require.NoError(t, err)
			if tt.asked == nil {
				require.Empty(t, *asked)
				return
			}
			require.Equal(t, []ControlFilesError{{Tool: "wild", Files: tt.asked, Since: true}}, *asked)
		})
	}
}

// A start records the control files only if they changed since the last record.
func TestControlFilesAreRecordedOnce(t *testing.T) {
	c, asked := controlRig(t, true)
	c.done()
	require.Len(t, *asked, 1)
	var starts []bool
	for _, e := range c.stored() {
		if b, ok := e.Body.(*conversation.ToolStarted); ok {
			starts = append(starts, len(b.ControlFiles) > 0)
		}
	}
	require.Equal(t, []bool{true, false, true}, starts)
}
