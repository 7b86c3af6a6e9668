package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

// said is the model of each answer of the place's conversation, by its commit's author, oldest first.
func (p *workspace) authors() (authors []string) {
	p.t.Helper()
	for line := range strings.Lines(p.git("log", "--reverse", "--format=%an|%ae|%s", strings.TrimSpace(p.jp("show", "--ref").stdout))) {
		name, rest, _ := strings.Cut(line, "|")
		if strings.HasPrefix(rest, "assistant@") && !strings.Contains(rest, "thinks") {
			authors = append(authors, name)
		}
	}
	return authors
}

// TestAnotherModelAnswers asks the models of model_fallback in order, for failures that another model may not have.
func TestAnotherModelAnswers(t *testing.T) {
	t.Parallel()
	openai, work := vendortest.VendorNamed("openai").Asked(), vendortest.VendorNamed("work").Asked()
	for kind, tries := range map[vendortest.FailureKind]int{
		vendortest.Overloaded: 5, vendortest.Broken: 5, vendortest.RateLimit: 5, vendortest.NoMoney: 1, vendortest.NoModel: 1,
		vendortest.BadRequest: 0, vendortest.BadKey: 0,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			v := vendortest.VendorNamed("anthropic")
			s.Say(vendortest.Reply{Reasoning: "At first.", Text: "First."})
			p.asks(v, "Hello")
			p.environ = append(p.environ, `JP_CFG_MODEL_FALLBACK=["`+v.Asked()+`","nobody/m","`+openai+`","`+work+`"]`)
			for range max(tries, 1) {
				s.Say(failing(kind))
			}
			if tries == 0 { // the request or the key is wrong
				require.Equal(t, problem.ExitProvider, p.jp("query", "Again").exit)
				require.Len(t, s.Requests(), 2)
				return
			}
			s.Say(vendortest.Reply{Reasoning: "Now I.", Text: "I look.", Calls: []vendortest.Call{{ID: "call_1", Name: "git_status", Arguments: `{}`}}}, vendortest.Reply{Text: "It works."})
			out := p.jp("query", "-y", "Again")
			require.Zero(t, out.exit, out.stderr)
			require.Equal(t, "It works.\n", out.stdout[strings.LastIndex(out.stdout, "It works."):])
			require.Contains(t, out.stderr, "; asking "+openai+" for the rest of the turn")
			require.Contains(t, out.stderr, "model_fallback: nobody/m cannot be asked")
			sent := s.Requests()
			require.Len(t, sent, 1+tries+2)
			require.NotContains(t, string(sent[len(sent)-1].Body), "signature", "what another vendor cannot read is not sent")

			// The next turn begins with the conversation's model.
			s.Say(vendortest.Reply{Text: "Mine again."})
			out = p.jp("query", "And now?")
			require.Equal(t, "Mine again.\n", out.stdout, out.stderr)
			require.Equal(t, "anthropic", s.Requests()[len(sent)].Vendor)
			require.Equal(t, []string{v.Asked(), openai, openai, openai, v.Asked()}, p.authors())
			require.Contains(t, p.jp("usage", "--by", "model").stdout, openai)
			require.Contains(t, p.git("log", "--format=raw", strings.TrimSpace(p.jp("show", "--ref").stdout)), `"fallback":{"model":"`+v.Asked()+`","reason":"`)
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

// TestAllModelsFail ends with the words of the last one.
func TestAllModelsFail(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t, failing(vendortest.NoMoney), failing(vendortest.NoMoney), vendortest.Reply{Text: "After all."})
	v := vendortest.VendorNamed("openai")
	out := p.jp("query", "-m", v.Asked(), "--cfg", `model_fallback=["work/gpt-5.1"]`, "Hello")
	require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
	require.Contains(t, out.stderr, "Your question is recorded.")
	require.Equal(t, "After all.\n", p.jp("continue").stdout)
	require.Equal(t, "openai", s.Requests()[2].Vendor)
}

// TestARetiredModelIsReplaced offers the newest model of the family: with one key on a terminal, and as a command
// elsewhere. The request stays the same but for the model.
func TestARetiredModelIsReplaced(t *testing.T) {
	t.Parallel()
	v := vendortest.VendorNamed("anthropic") // whose server lists claude-sonnet-4-5
	const old = "anthropic/claude-sonnet-4-5-20250101"
	same := func(t *testing.T, s *vendortest.Server) {
		sent := s.Requests()
		require.Len(t, sent, 2)
		var bodies [2]map[string]json.RawMessage
		for i := range bodies {
			require.NoError(t, json.Unmarshal(sent[i].Body, &bodies[i]))
		}
		require.Equal(t, `"claude-sonnet-4-5"`, string(bodies[1]["model"]))
		require.Equal(t, strings.ReplaceAll(string(sent[0].Body), "claude-sonnet-4-5-20250101", "claude-sonnet-4-5"), string(sent[1].Body))
	}
	t.Run("command", func(t *testing.T) {
		t.Parallel()
		p, s := vendorPlace(t, failing(vendortest.NoModel), vendortest.Reply{Text: "Here."})
		out := p.jp("query", "-m", old, "Hello")
		require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
		require.Contains(t, out.stderr, " -m "+v.Asked())
		require.Equal(t, "Here.\n", p.helps(out.stderr, "continue-named").stdout)
		same(t, s)
	})
	t.Run("terminal", func(t *testing.T) {
		t.Parallel()
		p, s := vendorPlace(t, failing(vendortest.NoModel), vendortest.Reply{Text: "Here."}, vendortest.Reply{Text: "Still here."})
		sits := p.sit(100, "query", "-m", old, "Hello")
		sits.WaitFor("ask " + v.Asked())
		sits.Type("m")
		sits.WaitFor("Here.")
		require.Zero(t, sits.exit())
		same(t, s)
		require.Equal(t, "Still here.\n", p.jp("query", "Again").stdout, "the conversation keeps it")
		require.Zero(t, p.jp("verify").exit)
	})
	t.Run("wrong address", func(t *testing.T) {
		t.Parallel()
		p, _ := vendorPlace(t)
		p.environ = append(p.environ, "JP_CFG_PROVIDERS__ANTHROPIC__BASE_URL=http://127.0.0.1:1")
		out := p.jp("query", "-m", old, "Hello")
		require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
		require.NotContains(t, out.stderr, " -m "+v.Asked())
	})
}

// TestALimitHoldsForCostsThatTheProviderStates needs no price of the model.
func TestALimitHoldsForCostsThatTheProviderStates(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t, working()...)
	out := p.jp("query", "-y", "-m", vendortest.VendorNamed("openrouter").Asked(), "--cfg", "limits.cost_usd=0.015", "Make it")
	require.Equal(t, problem.ExitFailed, out.exit, out.stderr)
	require.Contains(t, out.stderr, "the turn cost $0.02")
	require.Len(t, s.Requests(), 2)
	out = p.jp("query", "--new", "-m", vendortest.VendorNamed("ollama").Asked(), "--cfg", "limits.cost_usd=0.015", "Make it")
	require.Equal(t, problem.ExitUsage, out.exit, out.stderr)
}
