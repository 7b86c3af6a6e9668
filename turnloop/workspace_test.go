package turnloop_test

import (
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

func TestTheFilesOfATurn(t *testing.T) {
	w := newWorkspace()
	write := changes("write").writing(w, "new.go")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	r.opts.Files.Workspace = w
	first := w.tree()
	r.done()
	events := r.stored()
	require.Equal(t, first, events[0].Tree)
	require.Equal(t, w.git, *events[0].Git)
	response := r.result()
	require.Equal(t, []conversation.FileChange{{Path: "new.go", After: hexOf(w.files["new.go"])}}, response.Changed)
	started, answered := eventOf[*conversation.ToolStarted](events), eventOf[*conversation.ToolCallResponse](events)
	require.Equal(t, first, started.Tree)
	require.Equal(t, w.git, *started.Git)
	require.Equal(t, w.tree(), answered.Tree)
	require.Nil(t, answered.Git, "HEAD did not move")
	require.Equal(t, []string{"new.go"}, last[*conversation.TurnDone](r).Files)
	require.NotContains(t, r.turn(), "workspace")
	require.Equal(t, SnapshotRequest{Tree: first, Since: 2, Call: placeOf(r)}, w.looks[2], "the look after a tool has the mark of the one before")
}

func eventOf[B conversation.Body](events []*conversation.Event) *conversation.Event {
	for _, e := range events {
		if _, ok := e.Body.(B); ok {
			return e
		}
	}
	return nil
}

func TestWhatMovedOutsideIsAnEventOfItsOwn(t *testing.T) {
	w := newWorkspace()
	write := changes("write").asking().writing(w, "new.go")
	r := newRig(t, []*fakeTool{write}, answers("ok"), asksFor("write"), answers("ok"))
	r.opts.Files.Workspace = w
	r.done()

	w.files["mine.go"] = "by hand"
	w.git.Head = hexOf("second")
	r.prompting(func(context.Context, Question) (Answer, error) {
		w.files["main.go"] = "by hand, while it asked"
		return quoted("run"), nil
	})
	r.done()
	require.Equal(t, "workspace chat_request tool_call_request inquiry_request inquiry_response workspace tool_started tool_call_response chat_response", r.turn())
	events := r.stored()[5:]
	before := events[1]
	require.Equal(t, []conversation.PathStat{{Path: "mine.go", Status: "A", Added: 1}}, before.Body.(*conversation.Workspace).Paths)
	require.Equal(t, hexOf("first"), before.Git.HeadWas)
	require.Equal(t, hexOf("second"), before.Git.Head)
	during := r.opts.Conversation.Stream.Tail().ToolCalls[0]
	require.Len(t, during.Result.Changed, 1, "the user's change is not the tool's")
	require.Equal(t, "new.go", during.Result.Changed[0].Path)
	require.Equal(t, during.Started.Tree, r.stored()[during.Started.Seq-1].Tree)
}

func TestAToolThatMovesHead(t *testing.T) {
	w := newWorkspace()
	commit := changes("commit").doing(func(context.Context, tool.Call) (tool.Result, error) {
		w.git.Head, w.git.Branch = hexOf("second"), "topic"
		return tool.Result{Content: []byte("committed")}, nil
	})
	r := newRig(t, []*fakeTool{commit}, asksFor("commit"), answers("ok"))
	r.opts.Files.Workspace = w
	r.done()
	git := eventOf[*conversation.ToolCallResponse](r.stored()).Git
	require.Equal(t, conversation.Git{Head: hexOf("second"), HeadWas: hexOf("first"), Branch: "topic", BranchWas: "main"}, *git)
}

func TestFilesThatCannotBeLookedAt(t *testing.T) {
	broken := errors.New("input/output error")
	failAt := func(n int) func(int) error {
		return func(look int) error {
			if look == n {
				return broken
			}
			return nil
		}
	}
	cases := []struct {
		name string
		at   int
		err  error
		runs int
		turn string
	}{
		{"before the turn", 1, broken, 0, ""},
		{"before the tool", 2, broken, 0, "chat_request tool_call_request inquiry_request inquiry_response turn_interrupted"},
		{"after the tool", 3, nil, 1, "chat_request tool_call_request inquiry_request inquiry_response tool_started tool_call_response chat_response workspace"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace()
			w.fail = failAt(c.at)
			write := changes("write").writing(w, "new.go")
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.Files.Workspace = w
			_, err := r.start(t.Context())
			require.ErrorIs(t, err, c.err)
			require.Len(t, write.runs, c.runs)
			require.Equal(t, c.turn, r.turn())
			if c.runs > 0 {
				require.Equal(t, "ok", r.result().Content, "the result is kept")
				require.Equal(t, ".", r.result().LeftOut[0].Path)
				require.Equal(t, r.stored()[0].Tree, eventOf[*conversation.ToolCallResponse](r.stored()).Tree)
			}
		})
	}
}

// finding is a workspace with files that a tool changed and that were there before, outside of any tree.
type finding struct {
	*workspace
	found []string
}

func (f finding) Look(ctx context.Context, at SnapshotRequest) (SnapshotResult, error) {
	sight, err := f.workspace.Look(ctx, at)
	if at.Since != nil {
		sight.Unrecorded = f.found
		for _, path := range f.found {
			sight.LeftOut = append(sight.LeftOut, conversation.SkippedPath{Path: path, Why: "gone"})
		}
	}
	return sight, err
}

func TestFilesThatWereThereAndNotRecorded(t *testing.T) {
	many := make([]string, 250)
	for i := range many {
		many[i] = fmt.Sprintf("%03d", i)
	}
	for _, n := range []int{0, 1, 200, 201, 250} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newWorkspace()
			r := newRig(t, []*fakeTool{changes("write").writing(w, "new.go")}, asksFor("write"), answers("ok"))
			r.opts.Files.Workspace = finding{w, many[:n]}
			r.done()
			require.Equal(t, many[:min(n, 200)], append([]string{}, r.result().Unrecorded...))
			require.Equal(t, max(0, n-200), r.result().UnrecordedMore)
			if left := r.result().LeftOut; n <= 200 {
				require.Len(t, left, n)
			} else {
				require.Len(t, left, 200)
				require.Equal(t, conversation.SkippedPath{Path: ".", Why: fmt.Sprintf("and %d more", n-199)}, left[199])
			}
			any := []bool{}
			for _, at := range w.looks {
				any = append(any, at.Any)
			}
			require.Equal(t, []bool{false, true, false}, any[:3], "they are listed before a tool that may write to any file")
		})
	}
}

// placeOf is the place of the first call.
func placeOf(r *rig) *CallPlace {
	e := eventOf[*conversation.ToolStarted](r.stored())
	return &CallPlace{Conversation: testID, Turn: e.Turn, Seq: e.Body.(*conversation.ToolStarted).For}
}

// If a tool of somebody else runs beside a tool, the changes may be its work.
func TestAToolBesideOneThatOutlivedItsJP(t *testing.T) {
	for name, tt := range map[string]struct {
		outlived, ends, only bool
		want                 []string
	}{
		"nobody's":                    {false, false, false, nil},
		"somebody's":                  {true, false, false, []string{"new.go"}},
		"somebody's, which then ends": {true, true, false, []string{"new.go"}},
		"that names its files":        {true, false, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace()
			write := changes("write").writing(w, "new.go")
			write.def.Paths = func(json.RawMessage) ([]string, bool) { return []string{"new.go"}, tt.only }
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			r.opts.Files.Workspace, r.opts.Tools.Orphaned = w, func() bool { return tt.outlived && !(tt.ends && len(write.runs) > 0) }
			r.done()
			require.Len(t, r.result().Changed, 1)
			require.Equal(t, tt.want, r.result().Shared)
		})
	}
}

func TestOnlyTheNamedFilesAreLookedAt(t *testing.T) {
	w := newWorkspace()
	write := changes("write").writing(w, "new.go")
	known := true
	write.def.Paths = func(json.RawMessage) ([]string, bool) { return []string{"new.go"}, known }
	r := newRig(t, []*fakeTool{write}, asksFor("write"), asksFor("write"), answers("ok"))
	r.opts.Files.Workspace = w
	r.model.replies[0] = once(calls("write", "_1", "{}"), func(context.Context) {}, ends(conversation.FinishToolCalls))
	r.done()
	named := []string{"new.go"}
	require.Equal(t, []string(nil), w.looks[0].Only)
	require.Equal(t, SnapshotRequest{Tree: w.looks[1].Tree, Named: named, Only: named, Call: placeOf(r)}, w.looks[1])
	require.Equal(t, named, w.looks[2].Only)

	known = false
	r.model.replies = append(r.model.replies, asksFor("write"), answers("ok"))
	looks := len(w.looks)
	r.done()
	require.Nil(t, w.looks[looks+1].Only)
	require.Equal(t, named, w.looks[looks+1].Named)
	require.Equal(t, looks+2, w.looks[looks+2].Since)
}

func TestAConversationThatHadNoSnapshotsGetsThem(t *testing.T) {
	r := newRig(t, []*fakeTool{changes("write")}, answers("ok"), asksFor("write"), answers("ok"), asksFor("write"), answers("ok"))
	r.done()
	w := newWorkspace()
	r.opts.Files.Workspace = w
	r.done()
	require.Equal(t, w.tree(), r.opts.Conversation.Stream.Last().Tree)
	head := r.stored()[len(r.stored())-1].Tree
	r.opts.Files.Workspace = nil
	r.done()
	require.Equal(t, head, r.opts.Conversation.Stream.Last().Tree, "without a workspace nothing moves")
	for _, e := range r.stored()[len(r.stored())-4:] {
		require.True(t, e.Git == nil || e.Git.HeadWas == "", "%s", e.Type())
	}
}

func TestAnUnknownOutcomeIsReportedWithWhatMoved(t *testing.T) {
	r, _, w := halfWritten(t)
	_, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Contains(t, r.turn(), "tool_started resumed tool_call_response chat_response")
	require.Equal(t, w.tree(), eventOf[*conversation.Resumed](r.stored()).Tree)
	require.Empty(t, r.result().Changed, "nobody knows who did it")
}

// A tool's result is recorded, even with many changed files and odd names.
func TestManyLongPaths(t *testing.T) {
	w := newWorkspace()
	long := strings.Repeat("\x01directory/", 100)
	write := changes("write").doing(func(context.Context, tool.Call) (tool.Result, error) {
		for i := range 1000 {
			w.files[fmt.Sprintf("%s%04d", long, i)] = "x"
		}
		return tool.Result{Content: []byte("ok")}, nil
	})
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	r.opts.Files.Workspace = w
	require.Equal(t, Complete, r.done().Status)
	response := last[*conversation.ToolCallResponse](r)
	require.NotEmpty(t, response.Changed)
	require.Less(t, len(response.Changed), 200)
	for _, e := range r.stored() {
		line, err := conversation.EncodeHeader(e, conversation.NoText)
		require.NoError(t, err)
		require.Less(t, len(line), 64<<10, "%s", e.Type())
	}
}

func TestHugeNames(t *testing.T) {
	huge := strings.Repeat("n", 100_000)
	r := newRig(t, nil, once(calls(huge, huge, "{}"), ends(conversation.FinishToolCalls)), answers("ok"))
	require.Equal(t, Complete, r.done().Status)
	request := last[*conversation.ToolCallRequest](r)
	require.Len(t, request.Name, 512)
	require.Len(t, request.ID, 512)
}

// A turn that starts somewhere else than the one before ended says so.
func TestHeadMovedBetweenTurns(t *testing.T) {
	w := newWorkspace()
	r := newRig(t, nil, answers("one"), answers("two"))
	r.opts.Files.Workspace = w
	r.done()
	was := w.git.Head
	w.git.Head, w.git.Branch = strings.Repeat("b", 40), "feature"
	r.reload()
	r.done()
	starts := 0
	for _, e := range r.stored() {
		if e.Type() == conversation.TypeTurnStart {
			starts++
			if starts == 1 {
				require.Empty(t, e.Git.HeadWas)
				continue
			}
			require.Equal(t, was, e.Git.HeadWas)
			require.Equal(t, w.git.Head, e.Git.Head)
			require.Equal(t, "main", e.Git.BranchWas)
		}
	}
	require.Equal(t, 2, starts)
}

// halfWritten is a turn whose process was killed while its tool had written half of
// its file.
func halfWritten(t *testing.T) (*rig, *fakeTool, *workspace) {
	t.Helper()
	w := newWorkspace()
	write := changes("write")
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	write.doing(func(context.Context, tool.Call) (tool.Result, error) {
		w.files["half.go"] = "package"
		r.kill()
		return tool.Result{}, nil
	})
	r.opts.Files.Workspace = w
	r.requireKilled()
	return r, write, w
}
