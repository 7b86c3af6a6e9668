package turnloop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/tool"
	. "jp/turnloop"
)

func strict() *fakeTool {
	f := reads("strict")
	f.def.Parameters = []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)
	return f
}

// calling is a reply that calls one tool once.
func calling(name, arguments string, finish conversation.Finish) reply {
	return once(calls(name, "_1", arguments), ends(finish))
}

// An answer at the output limit is incomplete, even if the arguments look complete.
func TestACallThatWasCutOffIsNotJudgedByItsArguments(t *testing.T) {
	for _, arguments := range []string{`{"path": "a`, `{"path":"a"}`, `{"file":"a"}`, ``, `null`, `{"path":"a"}{"path":"a"}`} {
		for _, name := range []string{"strict", "none", " strict"} {
			f := strict()
			r := newRig(t, []*fakeTool{f}, calling(name, arguments, conversation.FinishLength), answers("ok"))
			r.done()
			require.Equal(t, "The tool was not run: your answer was cut off by the output limit. Ask again, with less.", r.result().Content)
			require.Empty(t, f.runs)
		}
	}
}

func TestTheThirdEqualFailureEndsTheTurn(t *testing.T) {
	const called, length = conversation.FinishToolCalls, conversation.FinishLength
	cut := calling("strict", `{"path": "a`, length)
	full := calling("strict", `{"path": "a`, conversation.FinishContext)
	broken := func(n int) reply { return calling("strict", fmt.Sprintf(`{"path": "%d`, n), called) }
	wrong := calling("strict", `{"file":"a"}`, called)
	right := calling("strict", `{"path":"a"}`, called)
	other := asksFor("read")
	unknown := calling("none", `{}`, called)
	several := once(calls("none", "_1", "{}"), calls("none", "_2", "{}"), calls("none", "_3", "{}"), ends(called))
	for name, tc := range map[string]struct {
		replies []reply
		tool    string // "": the turn goes on
		problem string
		cut     bool
	}{
		"cut off":                     {replies: []reply{cut, cut, cut}, tool: "strict", problem: "cut off", cut: true},
		"the context is full":         {replies: []reply{full, full, full}, tool: "strict", problem: "filled the model's context window"},
		"full and cut off":            {replies: []reply{full, cut, full, cut}},
		"broken arguments":            {replies: []reply{broken(1), broken(2), broken(3)}, tool: "strict", problem: "not a valid JSON object"},
		"arguments that do not fit":   {replies: []reply{wrong, wrong, wrong}, tool: "strict", problem: `"file"`},
		"no such tool":                {replies: []reply{unknown, unknown, unknown}, tool: "none", problem: `no tool named "none"`},
		"others between":              {replies: []reply{cut, other, cut, other, cut}, tool: "strict", problem: "cut off", cut: true},
		"several in each answer":      {replies: []reply{several, several, several}, tool: "none", problem: "no tool"},
		"twice":                       {replies: []reply{cut, cut}},
		"another error between":       {replies: []reply{cut, wrong, cut, wrong, cut}},
		"it ran between":              {replies: []reply{wrong, wrong, right, wrong, wrong}},
		"it ran in the same answer":   {replies: []reply{wrong, wrong, once(calls("strict", "_1", `{"file":"a"}`), calls("strict", "_2", `{"path":"a"}`), ends(called)), wrong}},
		"another tool":                {replies: []reply{unknown, calling("gone", `{}`, called), unknown}},
		"several in one answer":       {replies: []reply{several}},
		"a tool that fails by itself": {replies: []reply{asksFor("fails"), asksFor("fails"), asksFor("fails")}},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				fails := reads("fails").doing(func(context.Context, tool.Call) (tool.Result, error) {
					return tool.Result{Content: []byte("exit 1"), IsError: true}, nil
				})
				r := newRig(t, []*fakeTool{strict(), reads("read"), fails}, append(tc.replies[:len(tc.replies):len(tc.replies)], answers("ok"))...)
				r.opts.Limits.SameCalls = -1
				o := r.doneOrKilled(killed)
				if tc.tool == "" {
					require.Equal(t, Complete, o.Status)
					require.Nil(t, o.Failing)
					require.Equal(t, "ok", o.Message)
					return
				}
				require.Equal(t, Stopped, o.Status)
				require.Equal(t, conversation.ByLimit, o.By)
				require.Equal(t, tc.tool, o.Failing.Tool)
				require.Equal(t, o.Failing.Error(), o.Reason)
				require.Contains(t, o.Failing.Error(), tc.problem)
				require.Contains(t, o.Failing.Error(), "3 times in a row")
				require.Equal(t, tc.cut, o.Failing.CutOff())
				require.True(t, killed || len(r.model.requests) == len(tc.replies), "the model is not asked again")
				require.True(t, r.opts.Conversation.Stream.Tail().Complete())
				again, err := New(r.opts).Run(t.Context())
				require.NoError(t, err)
				require.Equal(t, o, again)
			})
		}
	}
}

// doneOrKilled runs a new turn to its end, in one process or in as many as there are
// model calls.
func (r *rig) doneOrKilled(killed bool) Outcome {
	if !killed {
		return r.done()
	}
	calls := 0
	r.journal.fault = func(int) error {
		if n := len(r.model.requests); n > calls+1 {
			calls = n
			return fmt.Errorf("killed at call %d", n)
		}
		return nil
	}
	o, err := r.start(r.t.Context())
	for n := 0; err != nil && n < 20; n++ {
		o, err = r.resume(r.t.Context())
	}
	require.NoError(r.t, err)
	return o
}

// A message of the user restarts the count.
func TestAReplyBeginsTheCountAnew(t *testing.T) {
	cut := calling("strict", `{"path": "a`, conversation.FinishLength)
	var loop *Loop
	replied := reply{steps(func(context.Context) { loop.Interrupt(UserCommand{Kind: CommandReply, Text: "Once more."}) }), cut[0]}
	r := newRig(t, []*fakeTool{strict()}, cut, cut, replied, cut, answers("ok"))
	loop = New(r.opts)
	o, err := loop.Start(t.Context(), Request{Chat: conversation.ChatRequest{Content: "do it"}})
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
}

func TestDamagedCallsRun(t *testing.T) {
	const called = conversation.FinishToolCalls
	for name, tc := range map[string]struct {
		name, arguments string
		sent            string // the tool's input
		raw             string // recorded arguments, or ""
		wrote           string // name on record
	}{
		"twice in a row":     {"strict", `{"path":"a"}{"path":"a"}`, `{"path":"a"}`, `{"path":"a"}{"path":"a"}`, ""},
		"in a string":        {"strict", `"{\"path\":\"a\"}"`, `{"path":"a"}`, `"{\"path\":\"a\"}"`, ""},
		"null":               {"read", `null`, `{}`, "null", ""},
		"blanks in the name": {" strict", `{"path":"a"}`, `{"path":"a"}`, "", " strict"},
		"functions.":         {"functions.strict", `{"path":"a"}`, `{"path":"a"}`, "", "functions.strict"},
		"another case":       {"Strict", `{"path":"a"}`, `{"path":"a"}`, "", "Strict"},
		"both":               {"strict<|x|>", `{"path":"a"}{"path":"a"}`, `{"path":"a"}`, `{"path":"a"}{"path":"a"}`, "strict<|x|>"},
	} {
		for _, verbose := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				f, read := strict(), reads("read")
				r := newRig(t, []*fakeTool{f, read}, calling(tc.name, tc.arguments, called), answers("ok"))
				r.opts.Verbose = verbose
				r.done()
				runs := append(f.runs, read.runs...)
				require.Len(t, runs, 1)
				require.JSONEq(t, tc.sent, string(runs[0].Arguments))
				require.False(t, r.result().IsError)
				call := r.opts.Conversation.Stream.Tail().ToolCalls[0]
				require.True(t, call.Request.Repaired)
				require.False(t, call.Request.Malformed)
				if p := call.Event.Payload(conversation.PayloadArguments); tc.raw == "" {
					require.Nil(t, p)
				} else {
					require.Equal(t, tc.raw, string(p.Data))
				}
				if tc.wrote == "" {
					require.NotContains(t, string(call.Event.Provider), `"name"`)
				} else {
					require.Contains(t, string(call.Event.Provider), `"name":"`+strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(tc.wrote)+`"`)
				}
				for _, b := range r.model.requests[1].Messages[1].Blocks {
					require.Equal(t, provider.WireName(call.Request.Name), b.Name, "the right name is sent")
				}
				require.Equal(t, verbose, len(r.notices) == 1)
			})
		}
	}
}

func TestAnUnknownToolIsAnsweredWithThoseThatThereAre(t *testing.T) {
	many := []*fakeTool{reads("fs_read_file"), reads("shell_run")}
	for name, want := range map[string]string{
		"fs_read": `There is no tool named "fs_read". The nearest name is fs_read_file. The tools are: fs_read_file, shell_run.`,
		"bash":    `There is no tool named "bash". The tools are: fs_read_file, shell_run.`,
	} {
		r := newRig(t, many, calling(name, "{}", conversation.FinishToolCalls), answers("ok"))
		r.done()
		require.Equal(t, want, r.result().Content)
	}
	r := newRig(t, nil, calling("bash", "{}", conversation.FinishToolCalls), answers("ok"))
	r.done()
	require.Equal(t, `There is no tool named "bash". No tool is available.`, r.result().Content)

	var hundred []*fakeTool
	for i := range 100 {
		hundred = append(hundred, reads(fmt.Sprintf("tool_%03d", i)))
	}
	r = newRig(t, hundred, calling("bash", "{}", conversation.FinishToolCalls), answers("ok"))
	r.done()
	require.True(t, strings.HasSuffix(r.result().Content, "tool_063 and 36 more."), r.result().Content)
}

// A model that was told to answer, and could not be asked, is asked again on a resume.
func TestATurnWhoseModelWasToldToAnswerIsIncomplete(t *testing.T) {
	stop := ends(conversation.FinishStop)
	for name, tc := range map[string]struct {
		before []reply
		status conversation.Status
	}{
		"behind the request": {nil, conversation.StatusResponse},
		"behind results":     {[]reply{asksFor("read")}, conversation.StatusResponse},
		"without a call":     {[]reply{asksFor("read"), once(ends(conversation.FinishToolCalls))}, conversation.StatusResponse},
	} {
		t.Run(name, func(t *testing.T) {
			fails := reply{steps(failure(provider.ClassInvalid)), steps(hasContent("ok"), stop)}
			replies := append(tc.before[:len(tc.before):len(tc.before)], once(stop), fails)
			r := newRig(t, []*fakeTool{reads("read")}, replies...)
			o, err := r.start(t.Context())
			require.Error(t, err)
			require.Equal(t, Incomplete, o.Status)
			require.False(t, r.opts.Conversation.Stream.Tail().Complete())
			require.Equal(t, tc.status, r.opts.Conversation.Stream.Tail().Status())
			require.Equal(t, tc.status, conversation.Summarize(r.opts.Conversation.Stream.Events()).Status)
			o, err = r.resume(t.Context())
			require.NoError(t, err)
			require.Equal(t, "ok", o.Message)
			require.Equal(t, conversation.StatusIdle, conversation.Summarize(r.opts.Conversation.Stream.Events()).Status)
			require.Equal(t, 1, strings.Count(r.model.sent(), "Please continue.")+strings.Count(r.model.sent(), "Your answer was empty"))
		})
	}
}
