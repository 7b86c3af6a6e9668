package turnloop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

func boolean(text string) Answer {
	return Answer{Outcome: conversation.OutcomeAnswered, Value: json.RawMessage(text)}
}

func TestAToolThatAsksRunsAgainWithTheAnswer(t *testing.T) {
	for _, write := range []*fakeTool{reads("write"), changes("write")} {
		write.questioning()
		r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
		p := r.answering(boolean("true"))
		r.done()
		require.Len(t, write.runs, 2)
		require.Empty(t, write.runs[0].Answers)
		require.Equal(t, map[string]json.RawMessage{"overwrite": json.RawMessage("true")}, write.runs[1].Answers)
		require.Equal(t, []int{1, 2}, []int{write.runs[0].Attempt, write.runs[1].Attempt})
		require.Equal(t, "overwrite: true", r.result().Content)
		require.Equal(t, "3 lines differ", p.asked[0].Detail)
		r.requireOrder("run write", "append inquiry_request", "ask tool_question", "append inquiry_response", "run write")
	}
}

func TestQuestionsOfABatchComeInRequestOrderOneAtATime(t *testing.T) {
	second := make(chan struct{})
	a, b := reads("a").questioning(), reads("b").questioning()
	late, early := a.do, b.do
	a.do = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		<-second
		return late(ctx, call)
	}
	r := newRig(t, []*fakeTool{a, b.doing(early), reads("c")}, asksFor("a", "b", "c"), answers("ok"))
	r.journal.after = func(int) {
		types := typesOf(r.stored())
		if n := strings.Count(strings.Join(wordsOf(types), " "), "inquiry_request"); n == 1 && types[len(types)-1] != "inquiry_response" {
			r.journal.after = nil
			close(second) // a asks after b has asked
		}
	}
	p := r.answering(boolean("true"))
	r.done()
	require.Len(t, p.asked, 2)
	require.Equal(t, "a", p.asked[0].Tool.Name)
	require.Equal(t, "b", p.asked[1].Tool.Name)
	r.requireOrder("append tool_call_response", "ask tool_question", "ask tool_question", "run")
	require.Equal(t, "c", r.opts.Conversation.Stream.Tail().ToolCalls[2].Result.Name)
}

func wordsOf(types []conversation.Type) []string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = string(t)
	}
	return words
}

func TestWhoAnswersAToolsQuestion(t *testing.T) {
	data := func(text string) reply { return once(part(provider.ChunkData, text), ends(conversation.FinishStop)) }
	cases := []struct {
		name   string
		to     tool.QuestionTo
		side   reply // of the side request
		asked  int
		result string
		by     conversation.Cause
	}{
		{"the user", tool.QuestionTo{}, nil, 1, "overwrite: true", conversation.ByUser},
		{"a fixed answer", tool.QuestionTo{Answer: json.RawMessage("false")}, nil, 0, "overwrite: false", conversation.ByConfig},
		{"a fixed answer to what only a person may answer", tool.QuestionTo{Answer: json.RawMessage("false"), Exclusive: true}, nil, 1, "overwrite: true", conversation.ByUser},
		{"the model", tool.QuestionTo{Assistant: true}, data(`{"answer":false}`), 0, "overwrite: false", conversation.ByModel},
		{"the model, in words", tool.QuestionTo{Assistant: true}, answers(`{"answer":true}`), 0, "overwrite: true", conversation.ByModel},
		{"not the model", tool.QuestionTo{Assistant: true, Exclusive: true}, nil, 1, "overwrite: true", conversation.ByUser},
		{"the model, wrongly", tool.QuestionTo{Assistant: true}, data(`{"answer":"maybe"}`), 0, "The tool asked a question that got no answer: Overwrite it?", conversation.ByModel},
		{"the model, with other words", tool.QuestionTo{Assistant: true}, answers("Yes!"), 0, "The tool asked a question that got no answer: Overwrite it?", conversation.ByModel},
		{"the model, which fails", tool.QuestionTo{Assistant: true}, once(failure(provider.ClassAuth)), 0, "The tool asked a question that got no answer: Overwrite it?", conversation.ByModel},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			write := changes("write").questioning()
			write.def.Questions = map[string]tool.QuestionTo{"overwrite": c.to}
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			if c.side != nil {
				r.model.replies = []reply{asksFor("write"), c.side, answers("ok")}
			}
			p := r.answering(boolean("true"))
			o := r.done()
			require.Len(t, p.asked, c.asked)
			require.Equal(t, c.result, r.result().Content)
			answer := last[*conversation.InquiryResponse](r)
			require.Equal(t, c.by, answer.By)
			require.Equal(t, "ok", o.Message, "the side request leaves no trace in the dialogue")
			if c.side == nil {
				return
			}
			side := r.model.requests[1]
			require.True(t, side.NoTools)
			require.Contains(t, string(side.Schema), `"answer"`)
			if answer.Usage != nil {
				require.Equal(t, "1.5", o.Usage.CostUSD, "what it cost is counted")
			}
		})
	}
}

func TestAnAnswerIsRememberedForTheTurn(t *testing.T) {
	write := changes("write").questioning()
	r := newRig(t, []*fakeTool{write}, asksFor("write", "write"), answers("ok"), asksFor("write"), answers("ok"))
	answer := boolean("true")
	answer.Remember = true
	p := r.answering(answer)
	r.done()
	require.Len(t, p.asked, 1)
	require.Equal(t, "overwrite: true", r.results()[1].Content)
	r.done()
	require.Len(t, p.asked, 2, "the next turn asks again")
}

// An answer to a question of the user's own model holds for the rest of the turn.
func TestWhichAnswersAreRemembered(t *testing.T) {
	for name, tt := range map[string]struct {
		before string // the fate of an earlier call's question
		asked  int
	}{
		"answered, to be remembered": {"A1* B1 D1", 0},
		"answered for once":          {"A1 B1 D1", 1},
		"declined":                   {"A1-* D1", 1},
		"before it was adopted":      {"A1* B1 D1 F", 1},
	} {
		t.Run(name, func(t *testing.T) {
			write := changes("write").doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
				if answer, ok := call.Answers["q"]; ok {
					return tool.Result{Content: answer}, nil
				}
				return tool.Result{Question: &tool.Question{ID: "q", Question: conversation.Question{Text: "?", AnswerType: conversation.AnswerType{Type: "text"}}}}, nil
			})
			r := importedRig(t, "T Q 1write. B1 I1 "+tt.before+" 2write.", []*fakeTool{write}, asksFor("write"), asksFor("write"), answers("ok"))
			p := r.answering(quoted("asked"))
			_, err := r.resume(t.Context())
			require.NoError(t, err)
			require.Len(t, p.asked, tt.asked)
			require.Equal(t, map[int]string{0: `"deliver"`, 1: `"asked"`}[tt.asked], r.results()[1].Content)
		})
	}
}

// A question for a person alone is put each time.
func TestAnExclusiveQuestionIsNotAnsweredFromMemory(t *testing.T) {
	write := changes("write").questioning()
	r := newRig(t, []*fakeTool{write}, asksFor("write", "write"), answers("ok"))
	p := r.prompting(func(context.Context, Question) (Answer, error) {
		write.def.Questions = map[string]tool.QuestionTo{"overwrite": {Exclusive: true}}
		answer := boolean("true")
		answer.Remember = true
		return answer, nil
	})
	r.done()
	require.Len(t, p.asked, 2)
	require.False(t, p.asked[0].Inquiry.Request.Exclusive)
	require.True(t, p.asked[1].Inquiry.Request.Exclusive)
}

func TestAToolThatAsksForEver(t *testing.T) {
	for _, same := range []bool{false, true} { // whether its question is shown
		asks := changes("ask")
		asks.doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
			q := overwrite()
			if !same {
				q.ID += fmt.Sprint(len(call.Answers))
			}
			return tool.Result{Question: q}, nil
		})
		r := newRig(t, []*fakeTool{asks}, asksFor("ask"), answers("ok"))
		p := r.answering(boolean("true"))
		require.Equal(t, Complete, r.done().Status)
		require.True(t, r.result().IsError)
		if same {
			require.Len(t, p.asked, 1)
			require.Contains(t, r.result().Content, "asked again what it was told")
			continue
		}
		require.Len(t, p.asked, 32)
		require.Contains(t, r.result().Content, "too many questions: 32 is the most")
	}
}

func TestAQuestionThatIsRecordedUnderAnotherId(t *testing.T) {
	for _, refused := range []bool{false, true} {
		ask := reads("ask")
		ask.doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
			return tool.Result{Question: overwrite()}, nil
		})
		r := newRig(t, []*fakeTool{ask}, asksFor("ask"), answers("ok"))
		redacts := func(name, text string) bool { return name == "question_id" && text == "overwrite" }
		r.journal.rewrite = func(name, text string) string {
			if redacts(name, text) {
				return "[secret]"
			}
			return text
		}
		if refused {
			r.opts.Secrets.Redacts = redacts
		}
		p := r.answering(boolean("true"))
		require.Equal(t, Complete, r.done().Status)
		require.True(t, r.result().IsError)
		if refused {
			require.Empty(t, p.asked)
			require.Contains(t, r.result().Content, "looks like a secret")
			continue
		}
		require.Len(t, p.asked, 32)
		require.Contains(t, r.result().Content, "too many questions")
	}
}

func TestAToolsQuestionWithoutAnybody(t *testing.T) {
	const unanswered = "The tool asked a question that got no answer: Overwrite it?"
	cases := []struct {
		policy    Policy
		fallback  string
		exclusive bool
		status    Status
		result    string
	}{
		{PolicyAuto, "", false, Complete, "overwrite: false"},
		{PolicyAuto, "true", true, Complete, unanswered},
		{PolicyDefaults, "true", false, Complete, "overwrite: true"},
		{PolicyDefaults, "", false, Complete, unanswered},
		{PolicyDeny, "true", false, Complete, unanswered},
		{PolicyQueue, "true", false, Waiting, ""},
		{PolicyDefer, "true", false, Waiting, ""},
	}
	for _, c := range cases {
		t.Run(string(c.policy)+c.fallback, func(t *testing.T) {
			write := reads("write").questioning()
			first := write.do
			write.doing(func(ctx context.Context, call tool.Call) (tool.Result, error) {
				result, err := first(ctx, call)
				if result.Question != nil && c.fallback != "" {
					result.Question.Default = json.RawMessage(c.fallback)
				}
				return result, err
			})
			write.def.Questions = map[string]tool.QuestionTo{"overwrite": {Exclusive: c.exclusive}}
			r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
			if c.policy == PolicyAuto && !c.exclusive {
				r.model.replies = []reply{asksFor("write"), once(part(provider.ChunkData, `{"answer":false}`), ends(conversation.FinishStop)), answers("ok")}
			}
			r.opts.User.Policy = c.policy
			o := r.done()
			require.Equal(t, c.status, o.Status)
			if c.status == Complete {
				require.Equal(t, c.result, r.result().Content)
			}
		})
	}
}

func TestADeferredQuestionOfAChangingToolIsAskedOnTheResume(t *testing.T) {
	write := changes("write").questioning()
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	require.Equal(t, Waiting, r.done().Status)
	p := r.answering(boolean("true"))
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
	require.Len(t, p.asked, 1)
	require.Equal(t, "overwrite: true", r.result().Content, "it is no unknown outcome: the run ended with its question")
}

func TestAToolThatAsksAfterAChange(t *testing.T) {
	w := newWorkspace()
	write := changes("write").doing(func(context.Context, tool.Call) (tool.Result, error) {
		w.files["new.go"] = "package main"
		return tool.Result{Question: overwrite()}, nil
	})
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	r.opts.Files.Workspace = w
	p := r.answering(boolean("true"))
	r.done()
	require.Empty(t, p.asked)
	require.Len(t, write.runs, 1)
	require.True(t, r.result().IsError)
	require.Contains(t, r.result().Content, "not known")
	require.Equal(t, "new.go", r.result().Changed[0].Path)
}

func TestDelivery(t *testing.T) {
	edited := quoted("edit")
	edited.Arguments = json.RawMessage(`"three lines of it"`)
	reasoned := quoted("withhold")
	reasoned.Reason = "it has keys"
	cases := []struct {
		name   string
		mode   tool.RunMode
		answer Answer
		policy Policy
		sent   string
		asked  int
	}{
		{"deliver", tool.Ask, quoted("deliver"), "", "the secret", 1},
		{"withhold", tool.Ask, quoted("withhold"), "", "The tool ran; its result was not released.", 1},
		{"withhold, with a reason", tool.Ask, reasoned, "", "was not released. it has keys", 1},
		{"edit", tool.Edit, edited, "", "three lines of it", 1},
		{"skip", tool.Skip, quoted("deliver"), "", "was not released", 0},
		{"unattended", tool.Unattended, quoted("withhold"), "", "the secret", 0},
		{"policy auto", tool.Ask, Answer{}, PolicyAuto, "the secret", 0},
		{"policy defaults", tool.Ask, Answer{}, PolicyDefaults, "the secret", 0},
		{"policy deny", tool.Ask, Answer{}, PolicyDeny, "was not released", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			read := reads("read").returning("the secret")
			read.def.Result = c.mode
			r := newRig(t, []*fakeTool{read}, asksFor("read"), answers("ok"))
			p := &prompter{}
			if c.policy == "" {
				p = r.answering(c.answer)
			}
			r.opts.User.Policy = c.policy
			r.done()
			require.Len(t, p.asked, c.asked)
			require.Len(t, read.runs, 1)
			require.Contains(t, r.model.sent(), c.sent)
			require.Equal(t, c.sent == "the secret", strings.Contains(r.model.sent(), "the secret"))
			if c.asked > 0 {
				require.Equal(t, "the secret", p.asked[0].Result)
				r.requireOrder("run read", "append tool_call_response inquiry_request", "ask deliver_result", "append inquiry_response", "model")
			}
		})
	}
}

func TestADeferredDeliveryIsAskedOnTheResumeAndTheToolDoesNotRunAgain(t *testing.T) {
	write := changes("write")
	write.def.Result = tool.Ask
	r := newRig(t, []*fakeTool{write, reads("read")}, asksFor("write", "read"), answers("ok"))
	o := r.done()
	require.Equal(t, Waiting, o.Status)
	require.Equal(t, conversation.KindDeliverResult, o.Waiting.Request.Kind)
	r.answering(quoted("deliver"))
	o, err := r.resume(t.Context())
	require.NoError(t, err)
	require.Equal(t, Complete, o.Status)
	require.Len(t, write.runs, 1)
}

func TestAnAnswerThatTheQuestionDoesNotTake(t *testing.T) {
	write := changes("write").questioning()
	write.def.Questions = map[string]tool.QuestionTo{"overwrite": {Answer: json.RawMessage(`"yes"`)}}
	r := newRig(t, []*fakeTool{write}, asksFor("write"), answers("ok"))
	p := r.answering(boolean("true"))
	r.done()
	require.Len(t, p.asked, 1, "the configured answer is none")
	require.Equal(t, "overwrite: true", r.result().Content)
	require.Contains(t, strings.Join(r.notices, "\n"), `tools.write.questions.overwrite.answer is not used: invalid answer "yes" (want `)

	moody := changes("moody").questioning()
	ask := moody.do
	moody.doing(func(ctx context.Context, call tool.Call) (tool.Result, error) {
		result, err := ask(ctx, call)
		if len(moody.runs) > 2 && result.Question != nil {
			result.Question.AnswerType = conversation.AnswerType{Type: "text"}
		}
		return result, err
	})
	r = newRig(t, []*fakeTool{moody}, asksFor("moody", "moody"), answers("ok"))
	remembered := boolean("true")
	remembered.Remember = true
	p = r.prompting(func(_ context.Context, q Question) (Answer, error) {
		if q.Inquiry.Request.Question.AnswerType.Type == "text" {
			return boolean(`"yes"`), nil
		}
		return remembered, nil
	})
	r.done()
	require.Len(t, p.asked, 2, "what was remembered answers another question")
	require.Equal(t, `overwrite: "yes"`, r.results()[1].Content)
}
