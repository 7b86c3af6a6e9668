package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// TestWebFetch varies the rules about addresses, and whether the user named the address of the call. Neither
// -y nor a policy allows a call, and jp reads no private address.
func TestWebFetch(t *testing.T) {
	t.Parallel()
	const (
		fetch    = `{ url = "https://127.0.0.1:1/a?b=c" }`
		question = "Run web_fetch https://127.0.0.1:1/a?b=c?"
		private  = "127.0.0.1 has the address 127.0.0.1, which is private (web.private lists the hosts that may have one)"
		denied   = "no user is there to give it. Reason: policy "
	)
	for _, row := range []struct {
		name   string
		text   string // of the request
		config string
		theirs string // the repository's configuration
		policy string
		yes    bool
		answer string // of the user to the question
		reason string // of the answer
		result string // "": the question waits
	}{
		{name: "approved in advance", yes: true, policy: "defer"},
		{name: "approved in advance, and by the policy", yes: true, policy: "auto", result: denied + "auto"},
		{name: "the user runs it", policy: "defer", answer: "run", result: private},
		{name: "a rule, and an address of the user's", text: "Read https://127.0.0.1:1/a?b=c", config: "[web]\nallow = [\"127.0.0.1:1\"]\n", policy: "deny", reason: "allow rule: web.allow: 127.0.0.1:1", result: private},
		{name: "a rule, and another address", text: "Read https://127.0.0.1:1/b", config: "[web]\nallow = [\"127.0.0.1:1\"]\n", policy: "deny", result: denied},
		{name: "a rule for composed addresses", config: "[web]\nallow_composed = [\"127.0.0.1:1\"]\n", policy: "deny", reason: "allow rule: web.allow_composed: 127.0.0.1:1", result: private},
		{name: "rules of a repository that is trusted", text: "Read https://127.0.0.1:1/a?b=c", theirs: "[web]\nallow = [\"127.0.0.1:1\"]\nallow_composed = [\"127.0.0.1:1\"]\n", policy: "deny", result: denied},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Configure(row.config)
			if row.theirs != "" {
				s.Write(".jp/config.toml", row.theirs)
				r := s.Open()
				require.NoError(t, r.Approvals().Approve([]byte(row.theirs)))
				require.NoError(t, r.Close())
			}
			request := s.Request(oneCall("web_fetch", fetch), "Read it")
			if row.text != "" {
				request.Input.Text = []string{row.text}
			}
			request.Turn.Yes, request.Turn.Policy = row.yes, row.policy
			err := s.Ask(f, request)
			if row.policy == "defer" {
				require.Error(t, err)
				require.Equal(t, question, f.Last().Outcome.Waiting.Request.Question.Text)
				require.Equal(t, turnloop.Waiting, f.Last().Outcome.Status)
				if row.answer == "" {
					return
				}
				require.NoError(t, s.Answer(f.Last().ID, row.answer))
				err = s.Ask(f, front.Resume(f.Last().ID))
			}
			require.NoError(t, err)
			require.Equal(t, "Over.", f.Last().Outcome.Message)
			result := bodies[*conversation.ToolCallResponse](f.Events())[0]
			require.True(t, result.IsError)
			require.Contains(t, result.Content, row.result)
			answer := bodies[*conversation.InquiryResponse](s.Load(f.Last().ID))[0]
			if row.reason != "" {
				require.Equal(t, row.reason, answer.Reason)
			}
		})
	}
}
