package attach_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

// yes answers a question of the rig's conversation.
func yes(seq int) *attach.Answer {
	return &attach.Answer{Seq: seq, Outcome: conversation.OutcomeAnswered, Value: json.RawMessage("true")}
}

// permission is a question whose answer holds once.
var permission = attach.Inquiry{
	Conversation: id, Seq: 5, Kind: conversation.KindRunTool, Exclusive: true, AnswerType: conversation.AnswerType{Type: "text"},
}

// edit answers a permission.
func edit(arguments string) *attach.Answer {
	return &attach.Answer{Seq: 5, Outcome: conversation.OutcomeAnswered, Value: json.RawMessage(`"edit"`), Arguments: json.RawMessage(arguments)}
}

// refusals are answers that do not fit.
var refusals = []struct {
	name   string
	asked  attach.Inquiry
	answer *attach.Answer
	want   string
}{
	{"of another event", question(5), yes(4), "does not wait"},
	{"of another conversation", question(5), &attach.Answer{Conversation: "jp-other", Seq: 5, Outcome: "answered", Value: yes(5).Value}, "does not wait"},
	{"no value", question(5), &attach.Answer{Seq: 5, Outcome: "answered"}, "an answer is JSON"},
	{"null", question(5), &attach.Answer{Seq: 5, Outcome: "answered", Value: json.RawMessage("null")}, "invalid answer"},
	{"of another type", question(5), &attach.Answer{Seq: 5, Outcome: "answered", Value: json.RawMessage(`"yes"`)}, "invalid answer"},
	{"too deep", question(5), &attach.Answer{Seq: 5, Outcome: "answered", Value: json.RawMessage(strings.Repeat("[", 90) + strings.Repeat("]", 90))}, "an answer is JSON"},
	{"no outcome", question(5), &attach.Answer{Seq: 5, Value: json.RawMessage("true")}, "answers or declines"},
	{"a long outcome", question(5), &attach.Answer{Seq: 5, Outcome: conversation.Outcome(strings.Repeat("\ue000", 300_000))}, "answers or declines"},
	{"not a person's outcome", question(5), &attach.Answer{Seq: 5, Outcome: "cancelled"}, "answers or declines"},
	{"a permission declined", permission, &attach.Answer{Seq: 5, Outcome: "declined"}, "cannot be declined"},
	{"for the whole turn", permission, &attach.Answer{Seq: 5, Outcome: "answered", Value: json.RawMessage(`"run_turn"`)}, "asked each time"},
	{"edited to no object", permission, edit("[]"), "not a JSON object"},
	{"edited to what cannot be kept", permission, edit(`{"a":1,"a":2}`), "invalid JSON"},
}

func TestAnswersThatAreRefused(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, attach.Options{})
				peer := r.connect()
				p := r.Ask(c.asked)
				next[*attach.Inquiry](t, peer)
				send(t, peer, c.answer)
				refused := next[*attach.Refused](t, peer)
				require.Equal(t, c.answer.Seq, refused.Seq)
				require.Contains(t, refused.Reason, c.want)
				select {
				case a := <-p.Answer():
					require.Fail(t, "it was taken", "%#v", a)
				default:
				}
				p.Withdraw()
			})
		})
	}
}

func TestTheFirstOfTwoPeersAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		one, two := r.connect(), r.connect()
		p := r.Ask(question(1))
		asked := question(1)
		require.Equal(t, &asked, next[*attach.Inquiry](t, one))
		require.Equal(t, &asked, next[*attach.Inquiry](t, two))
		require.Equal(t, &asked, r.State().Pending)
		answer := &attach.Answer{
			Conversation: id, Seq: 1, Outcome: conversation.OutcomeAnswered, Value: json.RawMessage("false"), Reason: "not now", Remember: true,
		}
		send(t, two, answer)
		settle(t, two)
		send(t, one, yes(1))
		require.Equal(t, &attach.Refused{Seq: 1, Reason: "another user answered first"}, next[*attach.Refused](t, one))
		require.Equal(t, *answer, <-p.Answer())
		p.Withdraw()
		require.Nil(t, r.State().Pending)

		response := &conversation.InquiryResponse{For: 1, Outcome: conversation.OutcomeAnswered, By: conversation.ByUser}
		r.record(response)
		want := &attach.Answered{Conversation: id, Seq: 1, Outcome: conversation.OutcomeAnswered, By: conversation.ByUser, Words: "event 0"}
		for _, c := range []*attach.Client{one, two} {
			require.Equal(t, 0, next[*attach.Event](t, c).Seq)
			require.Equal(t, want, next[*attach.Answered](t, c))
		}
	})
}

func TestWithdrawnQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		r := newRig(t, attach.Options{Changed: func() { changes++ }})
		c := r.connect()
		p := r.Ask(question(1))
		next[*attach.Inquiry](t, c)
		send(t, c, yes(1))
		settle(t, c)
		p.Withdraw() // the answer is left untaken
		require.Equal(t, 1, next[*attach.Refused](t, c).Seq)
		select {
		case <-p.Answer():
			require.Fail(t, "the answer has no effect")
		default:
		}
		p.Withdraw()
		settle(t, c) // once is enough to be told
		require.Equal(t, 3, changes)

		send(t, c, yes(1))
		require.Contains(t, next[*attach.Refused](t, c).Reason, "does not wait")
	})
}

func TestWhoComesLaterIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		p := r.Ask(question(1))
		c := r.connect()
		require.Equal(t, 1, next[*attach.Inquiry](t, c).Seq)
		old := p
		p = r.Ask(question(2))
		next[*attach.Inquiry](t, c)
		old.Withdraw() // must leave the next one's wait alone
		send(t, c, &attach.Answer{Seq: 2, Outcome: conversation.OutcomeDeclined})
		require.Equal(t, conversation.OutcomeDeclined, (<-p.Answer()).Outcome)
		p.Withdraw()
		settle(t, r.connect()) // which gets no question
	})
}

func TestTheEndOfAConnectionIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		c := r.attach()
		p := r.Ask(question(1))
		require.NoError(t, c.Close())
		synctest.Wait()
		select {
		case a := <-p.Answer():
			require.Fail(t, "nobody answered", "%#v", a)
		default:
		}
		require.NotNil(t, r.State().Pending)
	})
}

func TestQuestionsOfADelegate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, attach.Options{})
		c := r.connect()
		asked := attach.InquiryOf("jp-delegate", &conversation.Inquiry{
			Event: &conversation.Event{Seq: 9}, Call: &conversation.ToolCall{Request: &conversation.ToolCallRequest{Name: "fs"}},
			Request: &conversation.InquiryRequest{
				Kind:     conversation.KindToolQuestion,
				Question: conversation.Question{Text: "Sure?", AnswerType: conversation.AnswerType{Type: "boolean"}, Default: []byte("true")},
			},
		})
		p := r.Ask(asked)
		require.Equal(t, &asked, next[*attach.Inquiry](t, c))
		send(t, c, yes(9)) // of the conversation itself
		require.Contains(t, next[*attach.Refused](t, c).Reason, "does not wait")
		answer := yes(9)
		answer.Conversation = "jp-delegate"
		send(t, c, answer)
		require.Equal(t, *answer, <-p.Answer())
		p.Withdraw()
		r.RecordedBy("jp-delegate", []*conversation.Event{
			{Seq: 10, Body: &conversation.Note{Content: "n"}},
			{Seq: 11, Subject: "yes", Body: &conversation.InquiryResponse{For: 9, Outcome: conversation.OutcomeAnswered, By: conversation.ByUser}},
		})
		want := &attach.Answered{Conversation: "jp-delegate", Seq: 9, Outcome: conversation.OutcomeAnswered, By: conversation.ByUser, Words: "yes"}
		require.Equal(t, want, next[*attach.Answered](t, c))
	})
}
