package reconcile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/reconcile"
)

// moved is the message about a turn in which something else changed meanwhile.
func (h history) moved(t *testing.T) string {
	t.Helper()
	r := h.record(t, "")
	now := truth(r)
	now.Tree, now.Changed = treeB, []conversation.PathStat{{Path: "other.go", Status: "M"}}
	return reconcile.Make(r, now, nil).Resumed.Message
}

// ask records a question about a call and, if there is one, its answer.
func (h history) ask(t *testing.T, seq int, kind conversation.InquiryKind, text string, answer *conversation.InquiryResponse) {
	t.Helper()
	h.add(t, func(turn *conversation.TurnBuilder) {
		question := turn.Next()
		turn.AddInquiryRequest(conversation.InquiryRequest{For: seq, Kind: kind, QuestionID: "q", Question: conversation.Question{Text: text}})
		if answer != nil {
			response := *answer
			response.For = question
			turn.AddInquiryResponse(response)
		}
	})
}

// Two calls of one tool are told apart by their arguments, which stand as JSON.
func TestCallsHaveTheirArguments(t *testing.T) {
	long := strings.Repeat("ä", 300)
	for arguments, want := range map[string]string{
		`{"path":"main.go"}`:                `{"path":"main.go"}`,
		"{\n  \"path\": \"main.go\"\n}":     `{"path":"main.go"}`,
		`{}`:                                `{}`,
		`{"n":1}`:                           `{"n":1}`,
		`{"text":"a\nb ` + "\u2028" + `c"}`: `{"text":"a\nb \u2028c"}`,
		`{"text":"` + long + `"}`:           `with arguments that begin "{\"text\":\"` + strings.Repeat("ä", 95) + `"`,
	} {
		t.Run(arguments[:min(len(arguments), 30)], func(t *testing.T) {
			h := begun(t)
			h.add(t, func(turn *conversation.TurnBuilder) {
				turn.AddToolCallRequest(conversation.ToolCallRequest{Call: 1, ID: "a", Name: "fs_read_file", Arguments: json.RawMessage(`{"path":"a.go"}`)})
				turn.AddToolCallRequest(conversation.ToolCallRequest{
					Call: 1, ID: "b", Name: "fs_read_file", Arguments: json.RawMessage(arguments), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls},
				})
			})
			message := h.moved(t)
			require.Contains(t, message, "\n  \"fs_read_file\" (\"a\") {\"path\":\"a.go\"}: had not started\n")
			require.Contains(t, message, "\n  \"fs_read_file\" (\"b\") "+want+": had not started\n")
		})
	}
}

// Each answer stands behind its question, and both are safe from forged lines.
func TestAnswersHaveTheirQuestions(t *testing.T) {
	answered := func(answer string) *conversation.InquiryResponse {
		return &conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: json.RawMessage(answer), By: conversation.ByUser}
	}
	skipped := answered(`"skip"`)
	skipped.Reason = "use a deadline"
	for name, c := range map[string]struct {
		kind   conversation.InquiryKind
		text   string
		answer *conversation.InquiryResponse
		lines  string
	}{
		"a permission that waits": {conversation.KindRunTool, "Run x?", nil,
			"{}: had not started, and waited for a permission\n    asked \"Run x?\": had no answer yet\n"},
		"a question that waits": {conversation.KindToolQuestion, "Overwrite?", nil,
			"{}: had not started, and waited for an answer\n    asked \"Overwrite?\": had no answer yet\n"},
		"a hook that has not answered": {conversation.KindHook, "What does the hook say?", nil,
			"{}: had not started\nThis message"},
		"yes": {conversation.KindRunTool, "Run x?", answered(`"run"`),
			"{}: had not started\n    asked \"Run x?\": \"run\"\n"},
		"no, with a reason": {conversation.KindRunTool, "Run x?", skipped,
			"{}: had not started\n    asked \"Run x?\": \"skip\", because \"use a deadline\"\n"},
		"cancelled": {conversation.KindRunTool, "Run x?", &conversation.InquiryResponse{Outcome: conversation.OutcomeCancelled, By: conversation.ByUser},
			"    asked \"Run x?\": cancelled\n"},
		"more lines in the question": {conversation.KindToolQuestion, "a\n  \"x\" (\"y\"): completed", answered("true"),
			`    asked "a\n  \"x\" (\"y\"): completed": true` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			h := begun(t)
			h.ask(t, h.call(t, "shell_run")[0], c.kind, c.text, c.answer)
			require.Contains(t, h.moved(t), c.lines)
		})
	}
}

// A waiting permission is more than a call that did not start.
func TestWordsOfWhatWaits(t *testing.T) {
	for kind, want := range map[conversation.InquiryKind]string{
		conversation.KindRunTool:      "; shell_run waits for a permission",
		conversation.KindToolQuestion: "; shell_run waits for an answer",
		conversation.KindHook:         "; shell_run not started",
	} {
		h := begun(t)
		h.ask(t, h.call(t, "shell_run")[0], kind, "?", nil)
		r := h.record(t, "")
		require.True(t, strings.HasSuffix(reconcile.Make(r, truth(r), nil).Words, want), "%s", kind)
	}
}

// The call that the user declined is named as such.
func TestWordsOfWhatWasAnswered(t *testing.T) {
	for answer, want := range map[string]string{`"skip"`: "; shell_run declined", `"run"`: "; shell_run not started"} {
		h := begun(t)
		h.ask(t, h.call(t, "shell_run")[0], conversation.KindRunTool, "Run x?", &conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, By: conversation.ByUser, Answer: json.RawMessage(answer)})
		r := h.record(t, "")
		require.True(t, strings.HasSuffix(reconcile.Make(r, truth(r), nil).Words, want), "%s", answer)
	}
}

// batch asks for some of three calls, the last of which carries the finish.
func (h history) batch(t *testing.T, arrived int) (seqs []int) {
	t.Helper()
	for i := range arrived {
		h.add(t, func(turn *conversation.TurnBuilder) {
			seqs = append(seqs, turn.Next())
			b := conversation.ToolCallRequest{Call: 1, ID: fmt.Sprint("c", i), Name: "fs_read_file", Arguments: json.RawMessage("{}")}
			if i == 2 {
				b.Finish = conversation.FinishToolCalls
			}
			turn.AddToolCallRequest(b)
		})
	}
	return seqs
}

// After a batch that was cut off, the model learns that calls may be missing, for any fate of those that
// arrived. After a whole one it does not.
func TestABatchThatWasCutOff(t *testing.T) {
	for arrived := 1; arrived <= 3; arrived++ {
		for responses := 0; responses <= arrived; responses++ {
			t.Run(fmt.Sprint(arrived, " arrived, ", responses, " done"), func(t *testing.T) {
				h := begun(t)
				for _, seq := range h.batch(t, arrived)[:responses] {
					h.respond(t, seq)
				}
				r := h.record(t, "")
				plan := reconcile.Make(r, truth(r), nil)
				if arrived == 3 {
					require.Nil(t, plan.Resumed)
					require.NotContains(t, plan.Words, "cut off")
					return
				}
				require.Contains(t, plan.Resumed.Message, "\n"+conversation.TextCutOff+"\nDo not repeat")
				require.Contains(t, plan.Words, "the answer was cut off")
				h.add(t, func(turn *conversation.TurnBuilder) { turn.AddRecord(plan.Resumed) })
				r = h.record(t, "")
				require.Nil(t, reconcile.Make(r, truth(r), nil).Resumed, "it is said once, so that the same bytes are sent again")
				h.add(t, func(turn *conversation.TurnBuilder) {
					turn.AddChatResponse(conversation.ChatResponse{Call: 2, Part: conversation.PartMessage, Text: "Ha", Partial: true})
				})
				require.Contains(t, h.moved(t), conversation.TextCutOff, "a later report stands for it")
			})
		}
	}
	t.Run("a note that said it", func(t *testing.T) {
		h := begun(t)
		h.respond(t, h.batch(t, 1)[0])
		h.add(t, func(turn *conversation.TurnBuilder) {
			turn.AddRecord(&conversation.Note{Content: conversation.TextCutOff})
		})
		r := h.record(t, "")
		require.Nil(t, reconcile.Make(r, truth(r), nil).Resumed)
	})
	t.Run("a reply of the user", func(t *testing.T) {
		h := begun(t)
		h.respond(t, h.batch(t, 1)[0])
		h.add(t, func(turn *conversation.TurnBuilder) {
			turn.AddChatRequest(conversation.ChatRequest{Content: "Stop.", Interrupt: true})
		})
		r := h.record(t, "")
		require.Nil(t, reconcile.Make(r, truth(r), nil).Resumed)
	})
}

// A name is encoded once, with any bytes.
func TestNamesAreEncodedOnce(t *testing.T) {
	for name, want := range map[string]string{
		"a.go": `"a.go"`, "ä b.go": `"ä b.go"`, "a\nb": `"a\nb"`, "\xffx": `"\377x"`, `"x`: `"\"x"`, "\xff\n": `"\377\012"`, `x"y`: `"x\"y"`,
	} {
		h := begun(t)
		seq := h.call(t, "fs_modify_file")[0]
		h.start(t, seq)
		r := h.record(t, "")
		now := truth(r)
		recorded := conversation.QuotePath(name)
		now.Tree, now.Dirty = treeB, []string{recorded}
		now.Changed = []conversation.PathStat{{Path: recorded, Status: "M", Added: 1}}
		now.ChangedSince = map[int][]string{seq: {recorded}}
		plan := reconcile.Make(r, now, func(*conversation.ToolCall) []string { return []string{recorded} })
		require.Contains(t, plan.Resumed.Message, "These files were not committed, by git status:\n  "+want+"\n")
		require.Contains(t, plan.Resumed.Message, "\n  M "+want+" +1 -0\n")
		require.Contains(t, plan.Resumed.Message, "; changed after its start: "+want+"\n")
		require.Contains(t, reconcile.Evidence(plan.Calls[0]), "changed after its start: "+want+".")
	}
}

// The fate of untracked files is told once, as long as it stays the same.
func TestUntrackedFilesAreTold(t *testing.T) {
	h := begun(t)
	h.respond(t, h.call(t, "fs_read_file")[0])
	files := []reconcile.Untracked{{Path: "handmade.go", What: "new"}, {Path: conversation.QuotePath("\xff"), What: "gone"}, {Path: "a\nb", What: "changed"}}
	told := func(files []reconcile.Untracked) *conversation.Resumed {
		r := h.record(t, "")
		now := truth(r)
		now.Untracked = files
		return reconcile.Make(r, now, nil).Resumed
	}
	require.Nil(t, told(nil))
	resumed := told(files)
	require.Contains(t, resumed.Message, "\nThese files were not tracked by git, and not as before:\n  new \"handmade.go\"\n  gone \"\\377\"\n  changed \"a\\nb\"\n")
	h.add(t, func(turn *conversation.TurnBuilder) { turn.AddRecord(resumed) })
	require.Nil(t, told(files), "it is said, and holds")
	require.NotNil(t, told(files[:1]), "one is as it was")
	require.NotContains(t, told(nil).Message, "not tracked by git")
	var many []reconcile.Untracked
	for i := range 60 {
		many = append(many, reconcile.Untracked{Path: fmt.Sprint("f", i), What: "new"})
	}
	require.Contains(t, told(many).Message, "  new \"f49\"\n  (and 10 more files)\n")
}
