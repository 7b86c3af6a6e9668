package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// prefixVariable set to full makes TestEveryRequestExtendsTheOneBefore run 20 turns of 30 calls with each vendor.
const prefixVariable = "JP_PREFIX"

// A request begins with all of the one before, with anything between them: a new process, a kill, an
// answer, a fork. A compaction alone begins anew, and stands in the record.
func TestEveryRequestExtendsTheOneBefore(t *testing.T) {
	t.Parallel()
	turns, calls, vendors := 5, 3, []vendortest.Vendor{vendortest.VendorNamed("anthropic")}
	if os.Getenv(prefixVariable) == "full" {
		turns, calls, vendors = 20, 30, vendortest.Vendors()
	}
	for _, v := range vendors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			p.environ = append(p.environ, "JP_CFG_COMPACTION__AUTO=false")
			s.Loose() // it is unknown how much of a killed answer reached jp
			var lines strings.Builder
			for n := range turns*calls + 1 {
				fmt.Fprintf(&lines, "%d %s\n", n, strings.Repeat("long ", 2400/calls))
			}
			p.write("lines.txt", lines.String())
			p.git("add", ".")
			p.git("commit", "-q", "-m", "lines")
			number := 0
			read := func() vendortest.Reply {
				number++
				return vendortest.Reply{Reasoning: "Read on.", Text: "I read.", Calls: []vendortest.Call{
					{ID: fmt.Sprintf("call_%d", number), Name: "fs_read_file", Arguments: fmt.Sprintf(`{"path":"lines.txt","start_line":%d,"end_line":%d}`, number, number)},
				}}
			}
			asks := func(args ...string) {
				t.Helper()
				out := p.jp(append(args, "-m", v.Asked())...)
				require.Zero(t, out.exit, out.stderr)
			}
			var anew []int
			for turn := range turns {
				question := fmt.Sprintf("Question %d", turn)
				for range calls - 1 {
					s.Say(read())
				}
				switch turn % 5 {
				case 0: // nothing but a new process
					s.Say(vendortest.Reply{Text: "Read."})
					asks("query", "-y", question)
				case 1: // a kill while the model answers
					half := vendortest.Cut{Behind: vendortest.MarkReasoning, How: vendortest.Silent}
					s.Say(vendortest.Reply{Reasoning: "It is read.", Text: "It is read, and more.", Cut: &half}, read(), vendortest.Reply{Text: "Read."})
					cmd := p.command("query", "-y", "-m", v.Asked(), question)
					require.NoError(t, cmd.Start())
					<-s.FellSilent()
					require.NoError(t, cmd.Process.Kill())
					_ = cmd.Wait()
					asks("continue", "-y")
				case 2: // an answer from another process
					s.Say(vendortest.Reply{Text: "I make it.", Calls: []vendortest.Call{
						{ID: fmt.Sprintf("made_%d", turn), Name: "fs_create_file", Arguments: fmt.Sprintf(`{"path":"made%d.txt","content":"x"}`, turn)},
					}}, vendortest.Reply{Text: "Made."})
					out := p.jp("query", "--policy", "defer", "-m", v.Asked(), question)
					require.Equal(t, 3, out.exit, out.stderr)
					require.Zero(t, p.jp("answer", "y").exit)
					asks("continue")
				case 3: // a fork
					s.Say(vendortest.Reply{Text: "Read."})
					asks("query", "--fork", "-y", question)
				case 4: // a compaction
					asked := len(s.Requests())
					s.Say(vendortest.Reply{Text: "Read."})
					asks("query", "-y", question)
					s.Say(vendortest.Reply{Text: `{"items":[{"text":"Lines were read.","cites":[3,4,5,6]}]}`})
					out := p.jp("compact", "--keep", "1")
					require.Zero(t, out.exit, out.stderr)
					require.Contains(t, out.stdout, "summarised the events 0 to")
					require.Len(t, s.Requests(), asked+calls+1)
					anew = append(anew, asked+calls, asked+calls+1) // the request for the summary, and the one after it
				}
			}
			s.Say(vendortest.Reply{Text: "Over."})
			asks("query", "-y", "The last one")
			s.AppendOnly(anew...)
			t.Logf("%d requests: %d begin anew for a compaction, the others extend the one before", len(s.Requests()), len(anew))
			require.Zero(t, s.Left())
			require.Len(t, p.ofType("compaction"), len(anew)/2, "each break is on record")
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

// A mode changes the permissions. The definitions of the tools, and all else that a request begins
// with, stay byte for byte.
func TestEveryModeSendsTheSamePrefix(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			for _, mode := range [][]string{nil, {"-p", "plan"}, {"-p", "edits"}, {"--policy", "auto"}, {"-p", "plan", "-y"}, nil} {
				s.Say(vendortest.Reply{Text: "Well."})
				p.asks(v, append(mode, "Go on")...)
			}
			s.AppendOnly()
			var first map[string]json.RawMessage
			for i, r := range s.Requests() {
				var body map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(r.Body, &body))
				if first == nil {
					first = body
					require.Contains(t, string(body["tools"]), "fs_create_file")
				}
				for _, part := range []string{"tools", "system", "systemInstruction", "system_instruction", "instructions", "tool_choice", "toolConfig"} {
					require.Equal(t, string(first[part]), string(body[part]), "%s of request %d", part, i)
				}
			}
			require.Len(t, s.Requests(), 6)
		})
	}
}
