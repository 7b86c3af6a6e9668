package reconcile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/conversation"
	"jp/internal/testing/journaltest"
	"jp/reconcile"
)

const (
	headA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	headB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	treeA = "1111111111111111111111111111111111111111"
	treeB = "2222222222222222222222222222222222222222"
	treeC = "3333333333333333333333333333333333333333"
)

func here() conversation.Git {
	return conversation.Git{Head: headA, Branch: "main", Repo: "r1"}
}

// history is an interrupted turn. The letters of its script are its events.
type history struct {
	*journaltest.Script
}

func begun(t *testing.T) history {
	t.Helper()
	s := journaltest.NewScript(t)
	place := here()
	require.NoError(t, s.Stream.StartTurn(
		conversation.TurnStart{Model: "script/x"}, conversation.ChatRequest{Content: "Do it."},
	).Draft(0, func(e *conversation.Event) { e.Git, e.Tree = &place, treeA }).Build(s.Commit))
	return history{s}
}

func (h history) add(t *testing.T, build func(*conversation.TurnBuilder)) {
	t.Helper()
	turn := h.Stream.CurrentTurn()
	build(turn)
	require.NoError(t, turn.Build(h.Commit))
}

// call asks for tool calls by name; their seqs are returned.
func (h history) call(t *testing.T, names ...string) []int {
	t.Helper()
	var seqs []int
	h.add(t, func(turn *conversation.TurnBuilder) {
		for i, name := range names {
			seqs = append(seqs, turn.Next())
			b := conversation.ToolCallRequest{Call: 1, ID: fmt.Sprintf("call_%d", i+1), Name: name, Arguments: json.RawMessage("{}")}
			if i == len(names)-1 {
				b.Finish = conversation.FinishToolCalls
			}
			turn.AddToolCallRequest(b)
		}
	})
	return seqs
}

func (h history) start(t *testing.T, seq int) {
	t.Helper()
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddRecord(&conversation.ToolStarted{For: seq, Attempt: 1})
	})
}

func (h history) respond(t *testing.T, seq int) {
	t.Helper()
	call := h.Stream.Tail().ToolCall(seq)
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddToolCallResponse(conversation.ToolCallResponse{For: seq, ID: call.Request.ID, Name: call.Request.Name, Content: "done"})
	})
}

func (h history) record(t *testing.T, draft string) reconcile.Record {
	t.Helper()
	_, tail := conversation.SplitTail(h.Stream.Events())
	require.NotNil(t, tail)
	return reconcile.Read(h.Stream.Events(), tail, draft)
}

// truth is a repository without changes.
func truth(r reconcile.Record) reconcile.RepoState {
	return reconcile.RepoState{
		Git: here(), Descends: true, Tree: treeA, Now: r.At.Add(2 * time.Hour),
		Tools: map[string]reconcile.Tool{"fs_read_file": {Reads: true}, "make_idempotent": {Idempotent: true}, "shell_run": {}, "fs_modify_file": {}},
	}
}

func TestNothingToSay(t *testing.T) {
	for name, make := range map[string]func(history){
		"the model was not asked":    func(history) {},
		"a call that did not start":  func(h history) { h.call(t, "shell_run") },
		"a read that started":        func(h history) { h.start(t, h.call(t, "fs_read_file")[0]) },
		"results that were not sent": func(h history) { h.respond(t, h.call(t, "fs_read_file")[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			h := begun(t)
			make(h)
			r := h.record(t, "")
			plan := reconcile.Make(r, truth(r), nil)
			require.Nil(t, plan.Resumed)
			require.Empty(t, plan.Elsewhere)
		})
	}
}

func TestClasses(t *testing.T) {
	h := begun(t)
	seqs := h.call(t, "fs_read_file", "shell_run", "make_idempotent", "gone_tool", "shell_run", "fs_modify_file", "lost_tool", "fs_read_file")
	h.respond(t, seqs[0])
	h.start(t, seqs[2])
	h.start(t, seqs[4])
	h.start(t, seqs[5])
	h.start(t, seqs[6])
	h.start(t, seqs[7])
	r := h.record(t, "")
	now := truth(r)
	now.Alive = map[int]bool{seqs[5]: true}
	plan := reconcile.Make(r, now, nil)
	var classes []reconcile.Class
	for _, c := range plan.Calls {
		classes = append(classes, c.Class)
	}
	require.Equal(t, []reconcile.Class{
		reconcile.NotStarted, reconcile.Repeatable, reconcile.Gone, reconcile.Unknown, reconcile.Alive, reconcile.Unknown, reconcile.Repeatable,
	}, classes, "a tool that was started and is not known any more may have done anything")
}

func TestAnEqualTreeIsNoPermission(t *testing.T) {
	h := begun(t)
	h.start(t, h.call(t, "shell_run")[0])
	r := h.record(t, "")
	plan := reconcile.Make(r, truth(r), nil)
	require.Equal(t, reconcile.Unknown, plan.Calls[0].Class)
	require.NotNil(t, plan.Resumed)
	require.Contains(t, plan.Resumed.Message, "outcome unknown")
}

func TestAnAnsweredQuestionIsNoStart(t *testing.T) {
	h := begun(t)
	seq := h.call(t, "shell_run")[0]
	h.start(t, seq)
	var question int
	h.add(t, func(turn *conversation.TurnBuilder) {
		question = turn.Next()
		turn.AddInquiryRequest(conversation.InquiryRequest{For: seq, Kind: conversation.KindToolQuestion, QuestionID: "q", Question: conversation.Question{Text: "Sure?"}})
	})
	r := h.record(t, "")
	require.Equal(t, reconcile.Waiting, reconcile.Make(r, truth(r), nil).Calls[0].Class)
	living := truth(r)
	living.Alive = map[int]bool{seq: true}
	require.Equal(t, reconcile.Alive, reconcile.Make(r, living, nil).Calls[0].Class, "nothing goes on beside what still runs")
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddInquiryResponse(conversation.InquiryResponse{For: question, Outcome: conversation.OutcomeAnswered, Answer: json.RawMessage("true"), By: conversation.ByUser})
	})
	r = h.record(t, "")
	now := truth(r)
	now.Tree, now.Changed = treeB, []conversation.PathStat{{Path: "changed", Status: "M"}}
	plan := reconcile.Make(r, now, nil)
	require.Equal(t, reconcile.NotStarted, plan.Calls[0].Class)
	require.Contains(t, plan.Resumed.Message, `"shell_run" ("call_1") {}: had asked a question before it changed anything, and was to run again with the answer`)
	require.Contains(t, plan.Words, "shell_run runs again with the answer")
	h.start(t, seq)
	r = h.record(t, "")
	require.Equal(t, reconcile.Unknown, reconcile.Make(r, truth(r), nil).Calls[0].Class, "the second run started")
}

func TestMessage(t *testing.T) {
	h := begun(t)
	seqs := h.call(t, "fs_read_file", "fs_modify_file", "shell_run")
	h.respond(t, seqs[0])
	h.start(t, seqs[1])
	r := h.record(t, "")
	now := truth(r)
	now.Tree, now.Git.Head = treeB, headB
	now.Dirty = []string{"a.go"}
	now.Changed = []conversation.PathStat{{Path: "a.go", Status: "M", Added: 3, Deleted: 1}}
	now.ChangedSince = map[int][]string{seqs[1]: {"a.go"}}
	plan := reconcile.Make(r, now, func(c *conversation.ToolCall) []string {
		if c.Event.Seq == seqs[1] {
			return []string{"a.go", "b.go"}
		}
		return nil
	})
	require.Equal(t, `[SESSION_RESUMED] turn 1, model call 1, was interrupted, and resumed 2 h later. At the resume:
HEAD was "bbbbbbbbbbbb", and before "aaaaaaaaaaaa".
Branch was "main", as before.
These files were not committed, by git status:
  "a.go"
Changed between the last event before the interruption and the resume: 1 file, +3 -1.
  M "a.go" +3 -1
Your tool calls, each of which has its result above:
  "fs_read_file" ("call_1") {}: had its result
  "fs_modify_file" ("call_2") {}: outcome unknown: it had started, and no result was recorded; changed after its start: "a.go"; not changed when jp looked: "b.go"
  "shell_run" ("call_3") {}: had not started
This message was written before the calls went on. What they did after it is missing here.
Check what is there before you repeat a call whose outcome is unknown.
Do not repeat work that the files already show.`, plan.Resumed.Message)
	require.Equal(t, conversation.PhaseExecuting, plan.Resumed.Phase)
	require.Equal(t, (2 * time.Hour).Milliseconds(), plan.Resumed.AgeMS)
	require.Equal(t, &conversation.Report{
		HeadWas: headA, HeadIs: headB, BranchWas: "main", BranchIs: "main", Dirty: now.Dirty, Changed: now.Changed, Stat: "1 file, +3 -1",
	}, plan.Resumed.Report)
	require.Empty(t, plan.Elsewhere, "a HEAD that went on is told, not refused")
}

// For a file outside of all snapshots, the message tells only visible facts.
func TestUnrecordedFiles(t *testing.T) {
	h := begun(t)
	seq := h.call(t, "fs_modify_file")[0]
	h.start(t, seq)
	r := h.record(t, "")
	now := truth(r)
	now.Submodules = true
	now.ChangedSince = map[int][]string{seq: {"changed"}}
	now.Unrecorded = map[string]bool{"there": true, "gone": false, "changed": true}
	plan := reconcile.Make(r, now, func(*conversation.ToolCall) []string { return []string{"changed", "same", "there", "gone"} })
	require.Contains(t, plan.Resumed.Message, `; changed after its start: "changed"; not changed when jp looked: "same"; not there when jp looked: "gone"; there when jp looked and not recorded before, so it is unknown whether it changed them: "there"`)
	require.Contains(t, plan.Resumed.Message, "\nThe working tree was clean, by git status, which was not asked about what is in submodules.\n")
	require.Equal(t, "The outcome of this call is unknown: it had started when jp ended, and no result of it was recorded."+
		` These files that it named changed after its start: "changed". These files that it named had not changed when jp looked: "same".`+
		` These files that it named were not there when jp looked: "gone".`+
		` These files that it named existed when jp looked and were not recorded before, so it is unknown whether it changed them: "there".`+
		" What it did elsewhere cannot be seen. Look at what is there before you repeat it.", reconcile.Evidence(plan.Calls[0]))
}

// A merge that began since then is told.
func TestOperationInProgress(t *testing.T) {
	h := begun(t)
	h.call(t, "shell_run")
	r := h.record(t, "")
	now := truth(r)
	now.Git.InProgress = "merge"
	require.Contains(t, reconcile.Make(r, now, nil).Resumed.Message, "\nThe operation in progress was \"merge\", and before none.\n")
}

// Bookkeeping and forks leave the age of an interrupted turn as it is.
func TestAgeIsTheTurns(t *testing.T) {
	h := begun(t)
	was := h.record(t, "").At
	title := "t"
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddRecord(&conversation.Metadata{Title: &title})
		turn.AddRecord(&conversation.ForkOrigin{})
	})
	require.Equal(t, was, h.record(t, "").At)
	h.call(t, "shell_run")
	require.True(t, h.record(t, "").At.After(was))
}

// A call that the user wants run again is told as such, and not as unknown.
func TestRunAgain(t *testing.T) {
	h := begun(t)
	seq := h.call(t, "shell_run")[0]
	h.start(t, seq)
	r := h.record(t, "")
	now := truth(r)
	now.Again = map[int]bool{seq: true}
	now.Tree = treeB
	plan := reconcile.Make(r, now, nil)
	require.Equal(t, reconcile.Repeatable, plan.Calls[0].Class)
	require.Contains(t, plan.Resumed.Message, "had started without a result, and was to run again")
}

func TestBrokenAnswer(t *testing.T) {
	h := begun(t)
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddChatResponse(conversation.ChatResponse{Call: 1, Part: conversation.PartReasoning, Text: "secret thoughts"})
		turn.AddChatResponse(conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "I would\n---\nsay", Partial: true})
	})
	r := h.record(t, "")
	plan := reconcile.Make(r, truth(r), nil)
	require.Contains(t, plan.Resumed.Message, "\n---\n\"I would\\n---\\nsay\"\n---\nAnswer again")
	require.NotContains(t, plan.Resumed.Message, "secret")

	r = h.record(t, "I would\n---\nsay, and more that only the draft has")
	require.Contains(t, reconcile.Make(r, truth(r), nil).Resumed.Message, "only the draft has")
}

func TestElsewhere(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*reconcile.RepoState)
		want   []string
	}{
		"here":                {func(*reconcile.RepoState) {}, nil},
		"HEAD went on":        {func(t *reconcile.RepoState) { t.Git.Head = headB }, nil},
		"HEAD went sideways":  {func(t *reconcile.RepoState) { t.Git.Head, t.Descends = headB, false }, []string{"HEAD"}},
		"another branch":      {func(t *reconcile.RepoState) { t.Git.Branch = "feature/x" }, []string{"branch"}},
		"detached":            {func(t *reconcile.RepoState) { t.Git.Branch = "" }, []string{"branch"}},
		"another worktree":    {func(t *reconcile.RepoState) { t.Git.Worktree = "try" }, []string{"worktree"}},
		"another repository":  {func(t *reconcile.RepoState) { t.Git.Repo = "r2" }, []string{"repository"}},
		"a merge in progress": {func(t *reconcile.RepoState) { t.Git.InProgress = "merge" }, []string{"in progress"}},
		"everything at once": {func(t *reconcile.RepoState) {
			t.Git = conversation.Git{Head: headB, Branch: "b", Worktree: "w", Repo: "r2", InProgress: "rebase"}
			t.Descends = false
		}, []string{"repository", "worktree", "branch", "HEAD", "in progress"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := begun(t)
			r := h.record(t, "")
			now := truth(r)
			test.change(&now)
			var what []string
			for _, d := range reconcile.Elsewhere(r, now) {
				what = append(what, d.What)
				require.NotEqual(t, d.Was, d.Is)
			}
			require.Equal(t, test.want, what)
		})
	}
}

// A tool of the turn may have switched the branch itself, and moved HEAD.
func TestBranchOfTheNewestEvent(t *testing.T) {
	h := begun(t)
	seq := h.call(t, "shell_run")[0]
	moved := conversation.Git{Head: headB, HeadWas: headA, Branch: "feature/x", BranchWas: "main", Repo: "r1"}
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddToolCallResponse(conversation.ToolCallResponse{For: seq, ID: "call_1", Name: "shell_run"}, conversation.WithGit(&moved))
	})
	r := h.record(t, "")
	now := truth(r)
	now.Git = conversation.Git{Head: headB, Branch: "feature/x", Repo: "r1"}
	require.Empty(t, reconcile.Elsewhere(r, now))

	now.Git.Head, now.Descends = headA, false
	require.Equal(t, []reconcile.Difference{{What: "HEAD", Was: headB, Is: headA}}, reconcile.Elsewhere(r, now), "where it began is not where it stopped")
}

// A look at the repository between two tools does not move the turn.
func TestPlaceOfTheTurn(t *testing.T) {
	h := begun(t)
	elsewhere := conversation.Git{Head: headB, Branch: "feature/x", Worktree: "try", Repo: "r1"}
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddRecord(&conversation.Workspace{}, conversation.WithTree(treeB), conversation.WithGit(&elsewhere))
	})
	r := h.record(t, "")
	require.Equal(t, here(), r.Place)
	require.Equal(t, elsewhere, r.Last.Git)
}

// A second resume without news sends the message of the first one, byte for byte.
func TestSaidOnce(t *testing.T) {
	h := begun(t)
	r := h.record(t, "")
	now := truth(r)
	now.Tree = treeB
	now.Changed = []conversation.PathStat{{Path: "a.go", Status: "M", Added: 1}}
	first := reconcile.Make(r, now, nil).Resumed
	require.NotNil(t, first)
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddRecord(&conversation.Workspace{Paths: now.Changed}, conversation.WithTree(treeB))
		turn.AddRecord(first, conversation.WithGit(&now.Git))
		turn.AddRecord(&conversation.TurnInterrupted{By: conversation.ByError, Phase: conversation.PhaseStreaming})
	})

	again := h.record(t, "")
	require.Len(t, again.Unanswered, 1)
	require.Equal(t, treeA, again.Unanswered[0].From.Tree, "the model has not answered what it was told")
	require.Equal(t, treeB, again.Last.Tree)
	now.Now = again.At.Add(time.Hour)
	require.Nil(t, reconcile.Make(again, now, nil).Resumed)

	now.Tree = treeC
	now.Changed = append(now.Changed, conversation.PathStat{Path: "b.go", Status: "A", Added: 2})
	second := reconcile.Make(again, now, nil).Resumed
	require.NotNil(t, second, "something moved since")
	require.Contains(t, second.Message, `"a.go"`, "it stands in the place of the first")
	require.Contains(t, second.Message, `"b.go"`)
}

// Changes by the turn's own tools between two resumes are no news: their results tell them.
func TestResultsBetweenTwoResumes(t *testing.T) {
	for name, tt := range map[string]struct {
		between    func(h history, seqs []int)
		was, ended []string // trees of the spans
	}{
		"nothing":                       {func(history, []int) {}, []string{treeA}, []string{treeB}},
		"a result that changed nothing": {func(h history, seqs []int) { h.respond(t, seqs[0]) }, []string{treeA}, []string{treeB}},
		"a result that changed files": {func(h history, seqs []int) {
			h.add(t, func(turn *conversation.TurnBuilder) {
				turn.AddToolCallResponse(conversation.ToolCallResponse{For: seqs[0], ID: "call_1", Name: "fs_modify_file", Content: "done"}, conversation.WithTree(treeC))
			})
		}, []string{treeA, treeC}, []string{treeB, treeC}},
		"a result that undid what had moved": {func(h history, seqs []int) {
			h.add(t, func(turn *conversation.TurnBuilder) {
				turn.AddToolCallResponse(conversation.ToolCallResponse{For: seqs[0], ID: "call_1", Name: "fs_modify_file", Content: "done"}, conversation.WithTree(treeA))
			})
		}, []string{treeA, treeA}, []string{treeB, treeA}},
		"and broke off once more": {func(h history, seqs []int) {
			h.add(t, func(turn *conversation.TurnBuilder) {
				turn.AddToolCallResponse(conversation.ToolCallResponse{For: seqs[0], ID: "call_1", Name: "fs_modify_file", Content: "done"}, conversation.WithTree(treeC))
				turn.AddRecord(&conversation.Resumed{Phase: conversation.PhaseExecuting, Message: "[SESSION_RESUMED] …"}, conversation.WithTree(treeA))
			})
		}, []string{treeA, treeC}, []string{treeB, treeA}},
	} {
		t.Run(name, func(t *testing.T) {
			h := begun(t)
			seqs := h.call(t, "fs_modify_file", "shell_run")
			h.add(t, func(turn *conversation.TurnBuilder) {
				turn.AddRecord(&conversation.Resumed{Phase: conversation.PhaseExecuting, Message: "[SESSION_RESUMED] …"}, conversation.WithTree(treeB))
			})
			tt.between(h, seqs)
			h.start(t, seqs[1])
			r := h.record(t, "")
			var was, ended []string
			for _, s := range r.Ends(r.Last) {
				was, ended = append(was, s.From.Tree), append(ended, s.To.Tree)
			}
			require.Equal(t, tt.was, was)
			require.Equal(t, tt.ended, ended)
		})
	}
}

func TestSum(t *testing.T) {
	stat := func(path, status string, added, deleted int) conversation.PathStat {
		return conversation.PathStat{Path: path, Status: status, Added: added, Deleted: deleted}
	}
	require.Empty(t, reconcile.Sum(nil, nil))
	require.Equal(t,
		[]conversation.PathStat{stat("a", "D", 1, 5), stat("b", "A", 2, 0), stat("c", "M", -1, -1)},
		reconcile.Sum([]conversation.PathStat{stat("b", "A", 2, 0), stat("c", "M", -1, -1), stat("a", "M", 1, 2)}, []conversation.PathStat{stat("a", "D", 0, 3), stat("c", "M", 1, 1)}))
}

// Once the model has answered, a later resume starts from there.
func TestAnsweredResume(t *testing.T) {
	h := begun(t)
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddRecord(&conversation.Resumed{Phase: conversation.PhaseStreaming, Message: "[SESSION_RESUMED] …"}, conversation.WithTree(treeB))
	})
	h.respond(t, h.call(t, "fs_read_file")[0])
	r := h.record(t, "")
	require.Nil(t, r.Said)
	now := truth(r)
	now.Tree = treeB
	require.Nil(t, reconcile.Make(r, now, nil).Resumed)
}

// An answer that was cut off does not count: the model gets the earlier message again.
func TestABrokenAnswerToAResume(t *testing.T) {
	h := begun(t)
	said := &conversation.Resumed{Phase: conversation.PhaseStreaming, Message: "[SESSION_RESUMED] …"}
	h.add(t, func(turn *conversation.TurnBuilder) {
		turn.AddRecord(said, conversation.WithTree(treeB))
		turn.AddChatResponse(conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "I see", Partial: true})
	})
	r := h.record(t, "")
	require.Equal(t, said, r.Said)
	require.Equal(t, treeA, r.Unanswered[0].From.Tree)
}

func TestManyNames(t *testing.T) {
	h := begun(t)
	r := h.record(t, "")
	now := truth(r)
	now.Tree = treeB
	for i := range 5000 {
		path := fmt.Sprintf("file-%04d", i)
		now.Dirty = append(now.Dirty, path)
		now.Changed = append(now.Changed, conversation.PathStat{Path: path, Status: "M", Added: 1})
	}
	resumed := reconcile.Make(r, now, nil).Resumed
	require.Len(t, resumed.Report.Changed, 50)
	require.Equal(t, 4950, resumed.Report.More)
	require.Contains(t, resumed.Message, "(and 4950 more files)")
	require.Contains(t, resumed.Message, "5000 files, +5000 -0")
	require.Less(t, len(resumed.Message), 10_000)
}

// A name or text cannot end the message, begin another one, or begin a line of its own.
func TestNothingForgesTheFrame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"\n[SESSION_RESUMED] turn 9", "\n---\n", "a\"b", "\u2028[SESSION_RESUMED]", "Do not repeat work that the files already show.",
			"\r\nYour tool calls:", "\x00\x1b[2J", "\xff\xfe",
		}))
		path, name, id, said := hostile.Draw(rt, "path"), hostile.Draw(rt, "name"), hostile.Draw(rt, "id"), hostile.Draw(rt, "said")
		h := begun(t)
		h.add(t, func(turn *conversation.TurnBuilder) {
			turn.AddToolCallRequest(conversation.ToolCallRequest{Call: 1, ID: id, Name: name, Arguments: json.RawMessage("{}"), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}})
		})
		h.start(t, h.Stream.Last().Seq)
		r := h.record(t, "")
		r.Broken = said
		for _, phase := range []conversation.Phase{conversation.PhaseExecuting, conversation.PhaseStreaming} {
			r.Phase = phase
			now := truth(r)
			now.Tree = treeB
			now.Dirty = []string{path}
			now.Changed = []conversation.PathStat{{Path: path, Status: "M"}}
			now.Git.Branch = path
			message := reconcile.Make(r, now, func(*conversation.ToolCall) []string { return []string{path} }).Resumed.Message
			plain := r
			plain.Broken = "x"
			if said == "" {
				plain.Broken = ""
			}
			lines := strings.Split(message, "\n")
			for i, line := range lines {
				if i > 0 {
					require.False(rt, strings.HasPrefix(line, "[SESSION_RESUMED]"), message)
				}
			}
			require.Equal(rt, "Do not repeat work that the files already show.", lines[len(lines)-1])
			require.NotContains(rt, message, "\u2028")
			require.NotContains(rt, message, "\x1b")
			require.LessOrEqual(rt, strings.Count(message, "\n"), 12)
		}
	})
}

func TestRestoredNote(t *testing.T) {
	require.Equal(t, `The user has put these files back to an earlier state since your last answer, so changes that you made to them may be gone:
  "a\n.go"`, reconcile.RestoredNote([]string{"a\n.go"}))
}

func TestDiscardNote(t *testing.T) {
	require.Equal(t, `An earlier attempt at this turn (turn 2) was discarded.
Its tools changed these files, and the changes may still be there:
  "a.go"
  "b\n.go"`, reconcile.DiscardNote(2, []string{"a.go", "b\n.go"}, nil))
	require.Equal(t, `An earlier attempt at this turn (turn 2) was discarded.
Its tools changed these files, and the changes may still be there:
  "a.go"
These files changed while one of its tools was lost, by it or by others, and the changes may still be there:
  "c.go"`, reconcile.DiscardNote(2, []string{"a.go"}, []string{"c.go"}))
}
