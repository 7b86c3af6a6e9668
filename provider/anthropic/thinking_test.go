package anthropic

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

func TestThinkingFitsTheModel(t *testing.T) {
	const shown, plain, none = `{"type":"adaptive","display":"summarized"}`, `{"type":"adaptive"}`, "null"
	tests := []struct {
		model            string
		effort           Effort
		thinking, output string
	}{
		{"claude-3-5-haiku-20241022", EffortHigh, none, none},
		{"claude-3-7-sonnet-20250219", EffortAuto, `{"type":"enabled","budget_tokens":8192}`, none},
		{"claude-sonnet-4-5-20250929", EffortLow, `{"type":"enabled","budget_tokens":2048}`, none},
		{"claude-sonnet-4-5", EffortHigh, `{"type":"enabled","budget_tokens":16000}`, none},
		{"claude-haiku-4-5", EffortMax, `{"type":"enabled","budget_tokens":16000}`, none},
		{"claude-opus-4-5", EffortOff, none, none},
		{"claude-opus-4-6", EffortAuto, plain, none},
		{"claude-sonnet-4-6", EffortMax, plain, `{"effort":"high"}`},
		{"claude-opus-4-7", EffortXHigh, shown, `{"effort":"xhigh"}`},
		{"claude-opus-4-8", EffortOff, none, none},
		{"claude-opus-5", EffortOff, `{"type":"disabled"}`, none},
		{"claude-sonnet-5", EffortMedium, shown, `{"effort":"medium"}`},
		{"claude-opus-5-5", EffortOff, shown, `{"effort":"low"}`},
		{"claude-fable-5-1", EffortOff, shown, `{"effort":"low"}`},
		{"claude-haiku-9", EffortAuto, shown, none},
		{"anthropic/claude-opus-4.8", EffortAuto, shown, none},
		{"us.anthropic.claude-opus-5-5-v1:0", EffortAuto, shown, none},
		{"kimi-k3", EffortMax, none, none},
	}
	for _, test := range tests {
		t.Run(test.model+" "+string(test.effort), func(t *testing.T) {
			r := &provider.Request{Model: test.model, Messages: []provider.Message{user("a")}}
			o := Options{Thinking: test.effort}
			require.JSONEq(t, test.thinking, part(t, r, o, "thinking"))
			require.JSONEq(t, test.output, part(t, r, o, "output_config"))
		})
	}
}

func TestThinkingWithinATurn(t *testing.T) {
	asked := []provider.Message{user("a")}
	tests := []struct {
		name     string
		messages []provider.Message
		thinks   bool
	}{
		{"at its start", asked, true},
		{"an answer with thinking", []provider.Message{user("a"), assistant(thought(signed), call("1", "{}")), tools(result("1", "x", false))}, true},
		{"redacted thinking", []provider.Message{user("a"), assistant(thought(`{"type":"redacted_thinking","data":"x"}`), call("1", "{}")), tools(result("1", "x", false))}, true},
		{"an answer without", []provider.Message{user("a"), assistant(call("1", "{}")), tools(result("1", "x", false))}, false},
		{"an answer whose thinking is lost", []provider.Message{user("a"), assistant(thought(`{"type":"thinking","thinking":"x"}`), call("1", "{}")), tools(result("1", "x", false)), user("go on")}, false},
		{"thinking that comes too late", []provider.Message{user("a"), assistant(text("b"), thought(signed), call("1", "{}")), tools(result("1", "x", false))}, false},
		{"a pause without thinking", []provider.Message{user("a"), assistant(text("b"))}, false},
		{"the next turn", []provider.Message{user("a"), assistant(call("1", "{}")), tools(result("1", "x", false)), assistant(text("b")), user("c")}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &provider.Request{Model: oldModel, Messages: test.messages}
			require.Equal(t, test.thinks, part(t, r, Options{}, "thinking") != "null")
			if !test.thinks {
				require.NotContains(t, part(t, r, Options{}, "messages"), "signature", "no thinking in the newest answer")
			}
			r.Model = newModel
			require.Contains(t, part(t, r, Options{}, "thinking"), "adaptive", "only a budget asks for it")
		})
	}
}

func TestThinkingThatIsOffLeavesOldThinkingAlone(t *testing.T) {
	last := assistant(thought(signed), text("b"))
	r := &provider.Request{Model: newModel, Messages: []provider.Message{user("a"), assistant(thought(signed), text("b")), user("c"), last, user("d")}}
	body := part(t, r, Options{Thinking: EffortOff}, "messages")
	require.Equal(t, 1, strings.Count(body, signed))
	require.Less(t, strings.Index(body, signed), strings.Index(body, `"c"`))
	require.Len(t, last.Blocks, 2, "the request itself does not change")
}

func TestLimitsAndSampling(t *testing.T) {
	half := 0.5
	tests := []struct {
		model               string
		options             Options
		tokens, temperature string
	}{
		{oldModel, Options{Temperature: &half}, "32000", "null"},
		{oldModel, Options{Temperature: &half, Thinking: EffortOff, MaxTokens: 1e6}, "64000", "0.5"},
		{oldModel, Options{Temperature: &half, MaxTokens: 2000}, "2000", "0.5"},
		{newModel, Options{Temperature: &half, Thinking: EffortOff}, "32000", "null"},
		{"claude-3-haiku-20240307", Options{}, "4096", "null"},
		{"kimi-k3", Options{Temperature: &half}, "8192", "0.5"},
		{"kimi-k3", Options{MaxTokens: 99999}, "99999", "null"},
	}
	for _, test := range tests {
		r := &provider.Request{Model: test.model, Messages: []provider.Message{user("a")}}
		require.Equal(t, test.tokens, part(t, r, test.options, "max_tokens"), test.model)
		require.Equal(t, test.temperature, part(t, r, test.options, "temperature"), test.model)
	}
}
