package turnloop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	. "jp/turnloop"
)

// TestRouteQuestion has every kind, policy, exclusiveness and default.
func TestRouteQuestion(t *testing.T) {
	type by = map[conversation.InquiryKind]string
	const run, deliver, question = conversation.KindRunTool, conversation.KindDeliverResult, conversation.KindToolQuestion
	// Four words: open to all, with a default, exclusive, exclusive with a default.
	table := map[Policy]by{
		PolicyAuto:                     {run: "yes yes fail fail", deliver: "yes yes fail fail", question: "model model fail fail"},
		PolicyDefaults:                 {run: "fail fail fail fail", deliver: "yes yes yes yes", question: "fail default fail default"},
		PolicyDeny:                     {run: "fail fail fail fail", deliver: "fail fail fail fail", question: "fail fail fail fail"},
		PolicyQueue:                    {run: "wait wait wait wait", deliver: "wait wait wait wait", question: "wait wait wait wait"},
		PolicyDefer:                    {run: "defer defer defer defer", deliver: "defer defer defer defer", question: "defer defer defer defer"},
		Policy("a word of the future"): {run: "defer defer defer defer", deliver: "defer defer defer defer", question: "defer defer defer defer"},
	}
	words := map[Route]string{
		RouteAsk: "ask", RouteYes: "yes", RouteDefault: "default", RouteModel: "model", RouteFail: "fail", RouteWait: "wait", RouteDefer: "defer",
	}
	rows := 0
	for policy, kinds := range table {
		for kind, want := range kinds {
			for i, word := range strings.Fields(want) {
				exclusive, fallback := i >= 2, i%2 == 1
				require.Equal(t, word, words[RouteQuestion(kind, false, policy, exclusive, fallback)], "%s, %s, %d", policy, kind, i)
				require.Equal(t, "ask", words[RouteQuestion(kind, true, policy, exclusive, fallback)], "a client is asked: %s, %s, %d", policy, kind, i)
				rows++
			}
		}
	}
	require.Equal(t, 6*3*4, rows)
}

func TestGrantSettle(t *testing.T) {
	grant := Grant{{"go", "test"}, {}}
	allowed, other := `{"argv":["go","test"]}`, `{"argv":["rm"]}`
	cases := []struct {
		name      string
		def       tool.Definition
		arguments string
		before    string // the turn's events before
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
		{"allow rule", tool.Definition{Run: tool.Ask}, allowed, "", Verdict{Choice: "run", By: "config", Reason: "allow rule: go test"}, true},
		{"exclusive and allow rule", tool.Definition{Exclusive: true}, allowed, "", Verdict{}, false},
		{"yes for the turn", tool.Definition{}, other, "1write. P1 p1=run_turn D1", Verdict{Choice: "run", By: "user", Reason: "for this turn"}, true},
		{"exclusive and yes for the turn", tool.Definition{Exclusive: true}, other, "1write. P1 p1=run_turn D1", Verdict{}, false},
		{"yes once", tool.Definition{}, other, "1write. P1 p1=run D1", Verdict{}, false},
		{"yes for the turn by a policy", tool.Definition{}, other, "1write. P1 p1=run_turn~ D1", Verdict{}, false},
		{"yes for another tool", tool.Definition{}, other, "1look. P1 p1=run_turn D1", Verdict{}, false},
		{"asked, not answered", tool.Definition{}, other, "1write. P1", Verdict{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.def.Name, c.def.Argv = "write", true
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
		{`{"argv":["go","test"],"Argv":["rm"]}`, false},
		{`{"argv":["make"],"cwd":""}`, true},
		{`{"argv":["make"],"cwd":"."}`, true},
		{`{"argv":["make"],"stdin":"x"}`, true},
		{`{"argv":["make"],"cwd":"evil"}`, false},
		{`{"argv":["make"],"cwd":"./evil"}`, false},
		{`{"argv":["make"],"cwd":"./"}`, false},
		{`{"argv":["make"],"cwd":"/work"}`, false},
		{`{"argv":["make"],"CWD":"evil"}`, false},
		{`{"argv":["make"],"cwd":".","Cwd":"evil"}`, false},
		{`{"argv":["make"],"cwd":".","cwd":"evil"}`, false},
		{`{"argv":["make"],"cwd":["evil"]}`, false},
		{``, false},
	}
	for _, c := range cases {
		_, settled := grant.Settle(&tool.Definition{Name: "shell_run", Argv: true}, json.RawMessage(c.arguments), conversation.NewLedger())
		require.Equal(t, c.want, settled, c.arguments)
		_, settled = grant.Settle(&tool.Definition{Name: "own"}, json.RawMessage(c.arguments), conversation.NewLedger())
		require.False(t, settled, "what another tool calls argv is no command")
	}
}
