package turnloop_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// A person who is asked about a change of a file sees the file as the change will find it, after any calls of
// the same answer before it.
func TestAQuestionShowsTheFileAsTheCallFindsIt(t *testing.T) {
	for name, tt := range map[string]struct {
		calls   string // what each appends to: "edit a" fits if the file is there, "sh a" names it, "sh" does not
		answers string // to the questions, in order; "run" after those
		policy  Policy // of no person
		shown   string // the file as it was at each question
		trace   string // questions and runs
	}{
		"one file twice":         {"edit a, edit a", "", "", "0 01", "ask run ask run"},
		"three times":            {"edit a, edit a, edit a", "", "", "0 01 012", "ask run ask run ask run"},
		"others between":         {"edit a, edit b, edit a, edit b", "", "", "0 0 01 02", "ask ask run ask run ask run run"},
		"the first is declined":  {"edit a, edit a", "skip", "", "0 0", "ask ask run"},
		"the second is declined": {"edit a, edit a", "run skip", "", "0 01", "ask run ask"},
		"two files":              {"edit a, edit b", "", "", "0 0", "ask ask run run"},
		"a file made first":      {"make new, edit new", "", "", "- 1", "ask run ask run"},
		"made, but declined":     {"make new, edit new", "skip", "", "-", "ask"},
		"a folder above":         {"make dir, edit dir/a", "", "", "- 0", "ask run ask run"},
		"a like name":            {"make di, edit dir/a", "", "", "- 0", "ask ask run run"},
		"behind a program":       {"sh a, edit a", "", "", "0 01", "ask run ask run"},
		"a program behind":       {"edit a, sh a", "", "", "0 0", "ask ask run run"},
		"a program of no file":   {"sh, edit a", "", "", "- 0", "ask ask run run"},
		"behind a look":          {"look a, edit a", "", "", "0", "run ask run"},
		"allowed for the turn":   {"edit a, edit a", "run_turn", "", "0", "ask run run"},
		"a policy allows them":   {"edit a, edit a", "", PolicyAuto, "", "run run"},
	} {
		t.Run(name, func(t *testing.T) {
			w, did, shown := newWorkspace(), []string{}, []string{}
			for _, path := range []string{"a", "b", "dir/a"} {
				w.files[path] = "0"
			}
			pathOf := func(arguments json.RawMessage) string {
				var a struct{ Path string }
				require.NoError(t, json.Unmarshal(arguments, &a))
				return a.Path
			}
			n := 0
			appends := func(f *fakeTool) *fakeTool {
				return f.doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
					n++
					did = append(did, "run")
					if f.def.Effect == tool.Changes {
						w.files[pathOf(call.Arguments)] += fmt.Sprint(n)
					}
					return tool.Result{Content: []byte("ok")}, nil
				})
			}
			files := func(f *fakeTool) *fakeTool {
				f.def.Paths = func(arguments json.RawMessage) ([]string, bool) { return []string{pathOf(arguments)}, true }
				return f
			}
			edit := files(appends(changes("edit").asking()))
			edit.def.Fault = func(arguments json.RawMessage) error {
				if w.files[pathOf(arguments)] == "" {
					return errors.New("it is not there")
				}
				return nil
			}
			sh := appends(changes("sh").asking())
			sh.def.About = func(arguments json.RawMessage, _ conversation.ID) (all []tool.NamedFile) {
				if path := pathOf(arguments); path != "" {
					all = []tool.NamedFile{{Path: path}}
				}
				return all
			}
			var parts []any
			for i, call := range strings.Split(tt.calls, ", ") {
				name, path, _ := strings.Cut(call, " ")
				parts = append(parts, calls(name, fmt.Sprintf("_%d", i+1), fmt.Sprintf(`{"path":%q}`, path)))
			}
			r := newRig(t, []*fakeTool{edit, files(appends(changes("make").asking())), sh, appends(reads("look"))}, once(append(parts, ends(conversation.FinishToolCalls))...), answers("ok"))
			r.opts.Files.Workspace = w
			r.opts.User.Policy = tt.policy
			if tt.policy == "" {
				given := strings.Fields(tt.answers)
				r.prompting(func(_ context.Context, q Question) (Answer, error) {
					did = append(did, "ask")
					shown = append(shown, cmp.Or(w.files[pathOf(q.Arguments)], "-"))
					if len(given) < len(did)-n {
						return quoted("run"), nil
					}
					return quoted(given[len(did)-n-1]), nil
				})
			}
			r.done()
			require.Equal(t, tt.shown, strings.Join(shown, " "))
			require.Equal(t, tt.trace, strings.Join(did, " "))
		})
	}
}
