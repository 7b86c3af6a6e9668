package turnloop_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

func TestRouteQuestion(t *testing.T) {
	const run, deliver, question = conversation.KindRunTool, conversation.KindDeliverResult, conversation.KindToolQuestion
	cases := []struct {
		kind      conversation.InquiryKind
		policy    Policy
		exclusive bool
		fallback  bool // the question has a default
		want      Route
	}{
		{run, PolicyAuto, false, false, RouteYes},
		{run, PolicyAuto, true, false, RouteFail},
		{run, PolicyDefaults, false, false, RouteFail},
		{run, PolicyDefaults, false, true, RouteFail},
		{run, PolicyDefaults, true, false, RouteFail},
		{run, PolicyDeny, false, false, RouteFail},
		{run, PolicyDeny, true, false, RouteFail},
		{run, PolicyQueue, false, false, RouteWait},
		{run, PolicyQueue, true, false, RouteWait},
		{run, PolicyDefer, false, false, RouteDefer},
		{run, PolicyDefer, true, false, RouteDefer},

		{deliver, PolicyAuto, false, false, RouteYes},
		{deliver, PolicyAuto, true, false, RouteFail},
		{deliver, PolicyDefaults, false, false, RouteYes},
		{deliver, PolicyDefaults, true, false, RouteYes},
		{deliver, PolicyDeny, false, false, RouteFail},
		{deliver, PolicyQueue, false, false, RouteWait},
		{deliver, PolicyDefer, false, false, RouteDefer},

		{question, PolicyAuto, false, false, RouteModel},
		{question, PolicyAuto, false, true, RouteModel},
		{question, PolicyAuto, true, true, RouteFail},
		{question, PolicyDefaults, false, true, RouteDefault},
		{question, PolicyDefaults, true, true, RouteDefault},
		{question, PolicyDefaults, false, false, RouteFail},
		{question, PolicyDeny, false, true, RouteFail},
		{question, PolicyQueue, false, true, RouteWait},
		{question, PolicyDefer, false, true, RouteDefer},
		{question, Policy("a word from the future"), false, true, RouteDefer},
	}
	for _, c := range cases {
		require.Equal(t, c.want, RouteQuestion(c.kind, false, c.policy, c.exclusive, c.fallback), "%+v", c)
		require.Equal(t, RouteAsk, RouteQuestion(c.kind, true, c.policy, c.exclusive, c.fallback), "a client is asked: %+v", c)
	}
}

func TestGrantSettle(t *testing.T) {
	grant := Grant{{"go", "test"}, {}}
	allowed, other := `{"argv":["go","test"]}`, `{"argv":["rm"]}`
	cases := []struct {
		name      string
		def       tool.Definition
		arguments string
		before    string // what happened in the turn
		want      Verdict
		settled   bool
	}{
		{"asks", tool.Definition{Run: tool.Ask}, other, "", Verdict{}, false},
		{"asks by default", tool.Definition{}, other, "", Verdict{}, false},
		{"asks with an editor", tool.Definition{Run: tool.Edit}, other, "", Verdict{}, false},
		{"switched off", tool.Definition{Run: tool.Skip}, allowed, "", Verdict{Choice: "skip", By: "config", Reason: "the tool is switched off"}, true},
		{"exclusive and off", tool.Definition{Run: tool.Skip, Exclusive: true}, other, "", Verdict{Choice: "skip", By: "config", Reason: "the tool is switched off"}, true},
		{"unattended", tool.Definition{Run: tool.Unattended}, other, "", Verdict{Choice: "run", By: "config"}, true},
		{"exclusive and unattended", tool.Definition{Run: tool.Unattended, Exclusive: true}, other, "", Verdict{}, false},
		{"allow rule", tool.Definition{Run: tool.Ask}, allowed, "", Verdict{Choice: "run", By: "config", Reason: "allow rule"}, true},
		{"exclusive and allow rule", tool.Definition{Exclusive: true}, allowed, "", Verdict{}, false},
		{"yes for the turn", tool.Definition{}, other, "1write. P1 p1=run_turn D1", Verdict{Choice: "run", By: "user", Reason: "for this turn"}, true},
		{"exclusive and yes for the turn", tool.Definition{Exclusive: true}, other, "1write. P1 p1=run_turn D1", Verdict{}, false},
		{"yes once", tool.Definition{}, other, "1write. P1 p1=run D1", Verdict{}, false},
		{"yes for another tool", tool.Definition{}, other, "1look. P1 p1=run_turn D1", Verdict{}, false},
		{"asked, not answered", tool.Definition{}, other, "1write. P1", Verdict{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.def.Name = "write"
			got, settled := grant.Settle(&c.def, json.RawMessage(c.arguments), conversation.LedgerOf(turnOf("T Q "+c.before)))
			require.Equal(t, c.want, got)
			require.Equal(t, c.settled, settled)
		})
	}
}

func TestGrantAllowsAnExactBeginningOfTheArgv(t *testing.T) {
	grant := Grant{{}, {"go", "test"}, {"make"}}
	cases := []struct {
		arguments string
		want      bool
	}{
		{`{"argv":["go","test"]}`, true},
		{`{"argv":["go","test","./..."]}`, true},
		{`{"argv":["make"]}`, true},
		{`{"argv":["go"]}`, false},
		{`{"argv":["go","testx"]}`, false},
		{`{"argv":["go","tes"]}`, false},
		{`{"argv":["test","go"]}`, false},
		{`{"argv":["env","go","test"]}`, false},
		{`{"argv":["go test"]}`, false},
		{`{"argv":["GO","TEST"]}`, false},
		{`{"argv":"go test"}`, false},
		{`{"argv":["go",["test"]]}`, false},
		{`{"argv":[]}`, false},
		{`{"argv":null}`, false},
		{`{}`, false},
		{`["go","test"]`, false},
		{`null`, false},
		{`{"argv":["go","test"]`, false},
		{`{"ARGV":["go","test"]}`, false},
		{`{"argv":["rm"],"Argv":["go","test"]}`, false},
		{``, false},
	}
	for _, c := range cases {
		_, settled := grant.Settle(&tool.Definition{Name: "shell_run"}, json.RawMessage(c.arguments), conversation.NewLedger())
		require.Equal(t, c.want, settled, c.arguments)
	}
}
