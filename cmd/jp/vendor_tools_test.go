package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// oddPlace is a place with an MCP server whose tools vendors refuse, all approved.
func oddPlace(t *testing.T, kind string, script ...vendortest.Reply) (*workspace, *vendortest.Server) {
	t.Helper()
	p, s := vendorPlace(t, script...)
	p.configure("[mcp.odd]\ncommand = [\"mcp-fake\", \"" + kind + "\", \"../log\"]\n")
	out := p.jp("trust", "--mcp", "odd", "-y")
	require.Zero(t, out.exit, out.stderr)
	return p, s
}

// TestToolsThatVendorsRefuse: jp adapts the definitions, a renamed parameter comes back to its own
// name, and only a tool that no definition fits is left out.
func TestToolsThatVendorsRefuse(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			key := "filter_id"
			if v.Name == "work" {
				key = "filter[id]" // the model may know it by its own name as well
			}
			p, s := oddPlace(t, "odd",
				vendortest.Reply{Reasoning: "Filter.", Calls: []vendortest.Call{{ID: "call_1", Name: "mcp__odd__filter", Arguments: `{"` + key + `":"a [1]"}`}}},
				vendortest.Reply{Calls: []vendortest.Call{{ID: "call_2", Name: "mcp__odd__either", Arguments: `{"file":"x"}`}}},
				vendortest.Reply{Text: "Over."}, vendortest.Reply{Text: "Once more."})
			out := p.asks(v, "Filter it")
			require.Equal(t, "Over.\n", out.stdout)
			require.Equal(t, 1, strings.Count(out.stderr, v.Name+" would refuse these tools, so they are left out: mcp__odd__lost (its parameters are not an object). jp trust --show --cfg model="+v.Asked()+" lists them."))
			require.Contains(t, string(s.Requests()[1].Body), `\"filter[id]\":\"a [1]\"`, "the server got the name that it knows")
			p.asks(v, "And now?")
			s.AppendOnly()
			requireKept(t, s.Items(v.Name), p.kept())

			shown := p.helps(out.stderr, "trust-show-for")
			require.Zero(t, shown.exit, shown.stderr)
			require.Contains(t, shown.stdout, v.Name+" would refuse these tools, so queries leave them out:\n  mcp__odd__lost: its parameters are not an object\n")
			require.Contains(t, p.jp("trust", "--show", "--json", "--cfg", "model="+v.Asked()).stdout, `"left_out":[{"tool":"mcp__odd__lost","why":"its parameters are not an object"}]`)
		})
	}
}

// TestMoreToolsThanAVendorTakes has 150 tools besides jp's own.
func TestMoreToolsThanAVendorTakes(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, _ := oddPlace(t, "many", vendortest.Reply{Text: "Over."})
			out := p.asks(v, "Go")
			require.Equal(t, "Over.\n", out.stdout)
			limited := map[string]bool{"openai": true, "work": true, "openrouter": true}[v.Name]
			require.Equal(t, limited, strings.Contains(out.stderr, "(it takes 128 tools at most)"), out.stderr)
			require.Equal(t, limited, strings.Contains(out.stderr, " more. jp trust --show --cfg model="+v.Asked()+" lists them."))
			if limited {
				require.Contains(t, p.helps(out.stderr, "trust-show-for").stdout, "it takes 128 tools at most")
			}
		})
	}
}
