package turnloop_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// The user is asked again where somebody else changed what the question was about, while it
// stood there or after it was answered.
func TestAYesBindsToWhatWasSeen(t *testing.T) {
	names := func(paths ...string) func(json.RawMessage) ([]string, bool) {
		return func(json.RawMessage) ([]string, bool) { return paths, true }
	}
	for name, tt := range map[string]struct {
		paths   func(json.RawMessage) ([]string, bool)
		changed string // by hand, while the first question stands there
		answers []string
		asked   int
		runs    int
	}{
		"nothing changed":              {names("a.go"), "", []string{"run"}, 1, 1},
		"its file":                     {names("a.go"), "a.go", []string{"run", "run"}, 2, 1},
		"its file, and no more":        {names("a.go"), "a.go", []string{"run", "skip"}, 2, 0},
		"one of its files":             {names("a.go", "b.go"), "b.go", []string{"run", "run"}, 2, 1},
		"a file that is new":           {names("new.go"), "new.go", []string{"run"}, 1, 1},
		"another file":                 {names("a.go"), "b.go", []string{"run"}, 1, 1},
		"a file below":                 {names("dir"), "dir/a.go", []string{"run", "run"}, 2, 1},
		"a file of a like name":        {names("dir"), "dir2/a.go", []string{"run"}, 1, 1},
		"of a tool that names none":    {nil, "a.go", []string{"run"}, 1, 1},
		"allowed for the turn":         {names("a.go"), "a.go", []string{"run_turn"}, 1, 1},
		"answered with other's change": {names("a.go"), "a.go", []string{"skip"}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace()
			for _, path := range []string{"a.go", "b.go", "dir/a.go", "dir2/a.go"} {
				w.files[path] = "as it was"
			}
			write := changes("write").asking()
			write.def.Paths = tt.paths
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.Workspace = w
			asked := 0
			r.prompting(func(_ context.Context, q Question) (Answer, error) {
				if asked == 0 && tt.changed != "" {
					w.files[tt.changed] = "by hand"
				}
				asked++
				if asked > 1 {
					require.Contains(t, q.Inquiry.Request.Question.Text, "Its files have changed since you allowed it.")
				} else {
					require.NotContains(t, q.Inquiry.Request.Question.Text, "changed")
				}
				return said(tt.answers[asked-1]), nil
			})
			r.done()
			require.Equal(t, tt.asked, asked)
			require.Len(t, write.runs, tt.runs)
			permissions := 0
			for _, e := range r.stored() {
				if b, ok := e.Body.(*conversation.InquiryRequest); ok && b.Kind == conversation.KindRunTool {
					permissions++
				}
			}
			require.Equal(t, tt.asked, permissions, "each question is on record")
		})
	}
}

// A file that no snapshot has counts, too: its digest stands with the question.
func TestAYesBindsToUntrackedFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after string // "": there is no file
		own           bool   // a tool of the conversation changes it
		folder        bool
		asked         int
	}{
		"unchanged":       {"a", "a", false, false, 1},
		"changed":         {"a", "b", false, false, 2},
		"appeared":        {"", "b", false, false, 2},
		"gone":            {"a", "", false, false, 2},
		"never there":     {"", "", false, false, 1},
		"a folder":        {"a", "b", false, true, 1},
		"by its own call": {"a", "b", true, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			content := tt.before
			w := newWorkspace()
			write := changes("write").asking()
			write.def.Paths = func(json.RawMessage) ([]string, bool) { return []string{"new.txt"}, true }
			other := changes("other").asking().doing(func(context.Context, tool.Call) (tool.Result, error) {
				w.files["new.txt"] = tt.after
				content = tt.after
				return tool.Result{Content: []byte("ok")}, nil
			})
			r := newRig(t, []*fakeTool{write, other}, asksFor("write"), answers("ok"))
			if tt.own {
				r = newRig(t, []*fakeTool{write, other}, once(calls("other", "_1", "{}"), calls("write", "_2", "{}"), ends(conversation.FinishToolCalls)), answers("ok"))
			}
			r.opts.Workspace = w
			r.opts.Digest = func(path string) (string, bool) {
				require.Equal(t, "new.txt", path)
				return content, !tt.folder
			}
			asked := 0
			r.prompting(func(context.Context, Question) (Answer, error) {
				if asked++; !tt.own {
					content = tt.after
				}
				return said("run"), nil
			})
			r.done()
			if tt.own {
				asked-- // the other call has a question of its own
			}
			require.Equal(t, tt.asked, asked)
			require.Len(t, write.runs, 1)
			for _, e := range r.stored() {
				if b, ok := e.Body.(*conversation.InquiryRequest); ok && b.Kind == conversation.KindRunTool && !tt.folder && !tt.own {
					require.Len(t, b.Files, 1)
				}
			}
		})
	}
}
