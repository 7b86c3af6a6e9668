package turnloop_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// A call that only reads needs no question. If the sandbox blocked a part of its run, jp asks a person, or
// the policy.
func TestACallThatOnlyReads(t *testing.T) {
	for name, c := range map[string]struct {
		refused       string
		restriction   Restriction
		run           tool.RunMode
		ran           []bool // whether each run was to read alone
		asked         int
		last, reasons string
	}{
		"runs":                {ran: []bool{true}, last: "ok", reasons: "only reads"},
		"runs in plan mode":   {restriction: Restriction{ReadsOnly: true}, ran: []bool{true}, last: "ok", reasons: "only reads"},
		"runs where jp asks":  {restriction: Restriction{Asks: true}, ran: []bool{true}, last: "ok", reasons: "only reads"},
		"is asked if refused": {refused: "it takes too long", ran: []bool{true, false}, asked: 1, last: "ok", reasons: "only reads,"},
		"is not in plan mode": {refused: "x", restriction: Restriction{ReadsOnly: true}, ran: []bool{true}, last: "Plan mode: not run.", reasons: "only reads"},
		"is shown to edit":    {run: tool.Edit, ran: []bool{false}, asked: 1, last: "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []bool
			shell := changes("shell").asking().doing(func(_ context.Context, call tool.Call) (tool.Result, error) {
				ran = append(ran, call.OnlyReads)
				if call.OnlyReads && c.refused != "" {
					return tool.Result{Refused: c.refused}, nil
				}
				return tool.Result{Content: []byte("ok")}, nil
			})
			shell.def.OnlyReads = func(json.RawMessage) bool { return true }
			if c.run != "" {
				shell.def.Run = c.run
			}
			r := newRig(t, []*fakeTool{shell}, asksFor("shell"), answers("ok"))
			r.opts.User.Restrict = func() Restriction { return c.restriction }
			p := r.answering(quoted("run"))
			r.done()
			require.Equal(t, c.ran, ran)
			require.Len(t, p.asked, c.asked)
			if c.refused != "" && c.asked > 0 {
				require.Contains(t, p.asked[0].Inquiry.Request.Question.Text, "It was tried as a command that only reads: it takes too long.")
			}
			require.True(t, strings.HasPrefix(r.result().Content, c.last), r.result().Content)
			var reasons []string
			for _, e := range r.stored() {
				if b, ok := e.Body.(*conversation.InquiryResponse); ok && (b.Reason != "" || len(reasons) > 0) {
					reasons = append(reasons, b.Reason)
				}
			}
			require.Equal(t, c.reasons, strings.Join(reasons, ","))
		})
	}
}

// Such calls run without a look at the files, and again after a crash.
func TestACallThatOnlyReadsAfterACrash(t *testing.T) {
	shell := changes("shell").asking()
	shell.def.OnlyReads = func(json.RawMessage) bool { return true }
	r := newRig(t, []*fakeTool{shell}, asksFor("shell"), answers("ok"))
	shell.doing(func(context.Context, tool.Call) (tool.Result, error) {
		if len(shell.runs) == 1 {
			r.kill()
		}
		return tool.Result{Content: []byte("ok")}, nil
	})
	_, err := r.start(t.Context())
	require.ErrorIs(t, err, errKilled)
	r.journal.fault = nil
	r.reload()
	_, err = r.resume(t.Context())
	require.NoError(t, err)
	require.Len(t, shell.runs, 2)
	for _, e := range r.stored() {
		require.NotEqual(t, conversation.TypeToolStarted, e.Type())
	}
}
