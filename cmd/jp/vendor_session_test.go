package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

// vendorPlace is a place whose models are those of a server with a script. There jp asks a model again
// without a wait.
func vendorPlace(t *testing.T, script ...vendortest.Reply) (*workspace, *vendortest.Server) {
	t.Helper()
	p := newPlace(t)
	s := vendortest.New(t, script...)
	p.environ = append(append(p.environ, hasteVariable+"=1"), s.Env()...)
	return p, s
}

// asks starts a turn with a vendor's model, which must come to an answer.
func (p *workspace) asks(v vendortest.Vendor, args ...string) result {
	p.t.Helper()
	out := p.jp(append([]string{"query", "-y", "-m", v.Asked()}, args...)...)
	require.Zero(p.t, out.exit, out.stderr)
	return out
}

// kept is the data of the place's conversation for providers: the items, oldest first.
func (p *workspace) kept() (items []json.RawMessage) {
	p.t.Helper()
	for line := range strings.Lines(p.git("log", "--reverse", "--format=raw", strings.TrimSpace(p.jp("show", "--ref").stdout))) {
		rest, found := strings.CutPrefix(line, "jp-provider ")
		var state struct{ Item json.RawMessage }
		if found && json.Unmarshal([]byte(rest), &state) == nil && state.Item != nil {
			items = append(items, state.Item)
		}
	}
	return items
}

const greeting = "Grüße! Es geht: <done> & \"ready\" 🎉"

// A turn with reasoning, two calls that only read, one that changes a file, and
// an answer.
func working() []vendortest.Reply {
	usage := vendortest.Usage{Input: 1000, Output: 100, Cached: 400, Cost: "0.01"}
	return []vendortest.Reply{
		{Reasoning: "Look first. 思考", Text: "I look around.", Usage: usage, Calls: []vendortest.Call{
			{ID: "call_1", Name: "fs_read_file", Arguments: `{"path":"README.md"}`}, {ID: "call_2", Name: "git_status", Arguments: `{}`}}},
		{Reasoning: "Now make it.", Usage: usage, Calls: []vendortest.Call{{ID: "call_3", Name: "fs_create_file", Arguments: `{"path":"größe.txt","content":"ä\n"}`}}},
		{Reasoning: "Say so.", Text: greeting, Usage: usage},
	}
}

// costs of one such model call, if jp knows a price.
var costs = map[string]string{
	"anthropic":  "0.01026", // 3 calls of 600·$3 + 400·$0.30 + 100·$15, in millions
	"google":     "0.00744",
	"openai":     "0.0054",
	"openrouter": "0.03",
}

func TestASessionWithEachVendor(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t, working()...)
			require.Equal(t, greeting+"\n", p.asks(v, "Make it").stdout)
			require.Equal(t, "ä\n", p.read("größe.txt"))
			p.requireUsage(costs[v.Name])

			s.Say(vendortest.Reply{Reasoning: "Easy.", Text: "Over."})
			require.Equal(t, "Over.\n", p.asks(v, "And now?").stdout)
			s.AppendOnly()
			require.Zero(t, s.Left())
			requireKept(t, s.Items(v.Name), p.kept())
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

// requireUsage checks the usage of three such model calls: as the vendor counted, with the cost, "" if
// jp knows no price.
func (p *workspace) requireUsage(cost string) {
	p.t.Helper()
	var shown struct{ Usage map[string]any }
	require.NoError(p.t, json.Unmarshal([]byte(p.jp("show", "--json").stdout), &shown))
	want := map[string]any{"input": 3000., "output": 300., "cost_usd": nil}
	if cost != "" {
		want["cost_usd"] = cost
	}
	require.Equal(p.t, want, shown.Usage)
	for _, e := range p.events() {
		if used, counted := e["usage"].(map[string]any); counted {
			require.Equal(p.t, 400., used["cache_read"], used)
		}
	}
}

// requireKept requires that the items that a vendor wants back are kept: both in canonical JSON, in
// this order. More may be kept.
func requireKept(t *testing.T, wanted, kept []json.RawMessage) {
	t.Helper()
	at := 0
	for _, item := range wanted {
		for at < len(kept) && !holdsItem(kept[at], item) {
			at++
		}
		require.Less(t, at, len(kept), "%s is not kept, at its place:\n%s", item, kept)
	}
}

// holdsItem reports whether an item is kept as it is, or as the details of one.
func holdsItem(kept, item json.RawMessage) bool {
	var a, b any
	if json.Unmarshal(kept, &a) != nil || json.Unmarshal(item, &b) != nil {
		return false
	}
	if o, ok := a.(map[string]any); ok && o["reasoning_details"] != nil {
		a = o["reasoning_details"]
	}
	if all, ok := a.([]any); ok {
		for _, part := range all {
			if sameJSON(part, b) {
				return true
			}
		}
	}
	return sameJSON(a, b)
}

func sameJSON(a, b any) bool {
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	return string(left) == string(right)
}

// everyPair are vendors in an order in which each follows each, itself included.
func everyPair(all []vendortest.Vendor) (order []vendortest.Vendor) {
	for i, v := range all {
		order = append(order, v, v)
		for _, other := range all[i+1:] {
			order = append(order, other, v)
		}
	}
	return order
}

// TestAConversationWithEveryVendor asks one vendor's model after the other's, in one conversation:
// each request has the data that this vendor may read, and no more.
func TestAConversationWithEveryVendor(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	for i, v := range everyPair(vendortest.Vendors()[:5]) {
		call := vendortest.Call{ID: fmt.Sprintf("call_%d", i), Name: "fs_read_file", Arguments: `{"path":"README.md"}`}
		s.Say(vendortest.Reply{Reasoning: "Look.", Text: "I look.", Calls: []vendortest.Call{call}},
			vendortest.Reply{Reasoning: "Seen.", Text: greeting})
		require.Equal(t, greeting+"\n", p.asks(v, "Look").stdout, "turn %d, %s", i+1, v.Name)
		if t.Failed() {
			return
		}
	}
	s.AppendOnly()
	require.Zero(t, s.Left())
}

// TestGoingOnWithAnotherVendor breaks a stream behind a tool call, and then lets
// another model go on.
func TestGoingOnWithAnotherVendor(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	s.Loose() // only the client knows the received part of an answer that broke
	order := everyPair(vendortest.Vendors())
	for i, v := range order[1:] {
		broken := vendortest.Reply{
			Reasoning: "Look.", Text: "I look.", Cut: &vendortest.Cut{Behind: vendortest.MarkCall},
			Calls: []vendortest.Call{{ID: "call_1", Name: "fs_read_file", Arguments: `{"path":"README.md"}`}, {ID: "call_2", Name: "git_status", Arguments: `{}`}},
		}
		refused := vendortest.Reply{Fail: &vendortest.Failure{Kind: vendortest.BadRequest}}
		s.Say(broken, refused, vendortest.Reply{Reasoning: "Seen.", Text: greeting})
		out := p.jp("query", "-y", "-m", order[i].Asked(), "Look")
		require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
		out = p.jp("continue", "-y", "-m", v.Asked())
		require.Zero(t, out.exit, out.stderr)
		require.Equal(t, greeting+"\n", out.stdout)
		if t.Failed() {
			return
		}
	}
	require.Zero(t, s.Left())
	require.Zero(t, p.jp("verify").exit)
}
