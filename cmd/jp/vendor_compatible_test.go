package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// ownIDs are ids as a server gives them.
var ownIDs = map[string][3]string{
	"kimi":    {"functions.fs_read_file:0", "functions.git_status:1", "functions.fs_create_file:2"},
	"mistral": {"D681PevKs", "a1B2c3D4e", "000000000"},
	"litellm": {"call_" + strings.Repeat("f", 59), "call/é+1=", "jp7"},
	"azure":   {"call_1", "call_1", "call_1"}, // made unique
}

// TestASessionWithEachCompatibleServer works with servers that speak Chat Completions
// in a way of their own, goes on with another provider, and comes back. Each request
// is judged by the rules of the server that gets it, to which its own ids come back.
func TestASessionWithEachCompatibleServer(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Compatible() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			script := working()
			if ids, ok := ownIDs[v.Name]; ok {
				script[0].Calls[0].ID, script[0].Calls[1].ID, script[1].Calls[0].ID = ids[0], ids[1], ids[2]
			}
			p, s := vendorPlace(t, script...)
			p.environ = append(p.environ, s.Env(vendortest.Compatible()...)...)
			require.Equal(t, greeting+"\n", p.asks(v, "Make it").stdout)
			require.Equal(t, "ä\n", p.read("größe.txt"))

			other := vendortest.VendorNamed("anthropic")
			s.Say(vendortest.Reply{Text: "I see.", Calls: []vendortest.Call{{ID: "toolu_1", Name: "fs_read_file", Arguments: `{"path":"README.md"}`}}}, vendortest.Reply{Text: "Over."})
			require.Contains(t, p.asks(other, "And now?").stdout, "Over.\n")
			s.Say(vendortest.Reply{Text: "Over and out."})
			require.Equal(t, "Over and out.\n", p.asks(v, "And then?").stdout)
			s.AppendOnly()
			require.Zero(t, s.Left())
			require.Zero(t, p.jp("verify").exit)
		})
	}
}
