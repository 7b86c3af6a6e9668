package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/terminaltest"
	"jp/internal/testing/vendortest"
)

// numbered is a text of so many lines.
func numbered(lines int) string {
	var out strings.Builder
	for i := range lines {
		fmt.Fprintf(&out, "line %d of a file that is long\n", i)
	}
	return out.String()
}

// Each protocol has its own words for a request that is too long: jp compacts, and asks once more.
// This holds for a model with an unknown window.
func TestEveryVendorsTooLongIsCompacted(t *testing.T) {
	t.Parallel()
	vendors := vendortest.Vendors()
	for _, v := range vendors {
		v.Model = v.Model[:strings.Index(v.Model+"-", "-")] + "-of-unknown-context"
		vendors = append(vendors, v)
	}
	for _, v := range vendors {
		t.Run(v.Asked(), func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			s.Loose()
			p.write("long.txt", numbered(800))
			s.Say(
				vendortest.Reply{Reasoning: "Read it.", Calls: []vendortest.Call{{ID: "call_1", Name: "fs_read_file", Arguments: `{"path":"long.txt"}`}}},
				vendortest.Reply{Reasoning: "It is read.", Text: "It has 800 lines."}, vendortest.Reply{Text: "Yes."},
				failing(vendortest.TooLong),
				vendortest.Reply{
					Text:  `{"items":[{"text":"long.txt has 800 lines.","cites":[4]}]}`,
					Calls: []vendortest.Call{{ID: "call_2", Name: "fs_create_file", Arguments: `{"path":"made.txt","content":"x"}`}},
				},
				vendortest.Reply{Text: "After all."},
			)
			p.asks(v, "Read long.txt.")
			p.asks(v, "All of it?")
			out := p.jp("query", "-y", "And now?")
			require.Equal(t, "After all.\n", out.stdout, out.stderr)
			require.Contains(t, out.stderr, "· compacted 0–")
			require.NoFileExists(t, filepath.Join(p.dir, "made.txt"), "a call in a summary is never run")
			require.Zero(t, s.Left())
			sent := s.Requests()
			asks, then := string(sent[4].Body), string(sent[5].Body)
			require.Contains(t, asks, "[SUMMARISE]")
			require.Contains(t, asks, "@5 fs_read_file long.txt: 800 lines")
			require.Contains(t, then, "[COMPACTED]")
			require.Contains(t, then, "Read long.txt.")
			require.Contains(t, then, "long.txt has 800 lines.")
			require.NotContains(t, then, "line 799 of a file")
			require.NotContains(t, then, "call_2")
			require.Equal(t, "ok: 1 conversation of 1, "+fmt.Sprint(p.eventCount())+" events\n", p.jp("verify").stdout)
		})
	}
}

// eventCount is how many events the place's conversation has.
func (p *workspace) eventCount() int {
	var shown struct {
		Events int `json:"events_count"`
	}
	require.NoError(p.t, json.Unmarshal([]byte(p.jp("show", "--json").stdout), &shown))
	return shown.Events
}

// jp asks a server that refuses also the shorter request no third time.
func TestTooLongIsCompactedOnce(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	s.Loose()
	v := vendortest.VendorNamed("anthropic")
	for _, text := range []string{"One", "Two", "Three"} {
		s.Say(vendortest.Reply{Text: strings.Repeat(text+" ", 2000)})
		p.asks(v, text)
	}
	s.Say(failing(vendortest.TooLong), vendortest.Reply{Text: `{"items":[{"text":"One was said.","cites":[3]}]}`}, failing(vendortest.TooLong))
	out := p.jp("query", "Four")
	require.Equal(t, 7, out.exit, out.stderr)
	require.Contains(t, out.stderr, "prompt is too long: 210000 tokens")
	require.NotContains(t, out.stderr, "jp compact ", "it was done")
	require.Zero(t, s.Left())
}

// fillingScript reads a long file in pieces, one each call.
func fillingScript(window, calls int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "context = %d\n", window)
	for i := range calls {
		fmt.Fprintf(&out, "[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"long.txt\", start_line = %d, end_line = %d }\n", 1+i*500, 500+i*500)
	}
	out.WriteString("[[reply]]\nmessage = \"All read.\"\n[[summary]]\ntimes = 1000\nmessage = '''" +
		`{"items":[{"text":"The file is read in pieces of 500 lines.","cites":[2,3]}]}'''` + "\n")
	return out.String()
}

// A task whose tools write ten times the model's window comes to its end without a person, and each
// request fits the window: else the script fails.
func TestATaskOfTenWindowsEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("long.txt", numbered(30_000))
	p.write("../fill.toml", fillingScript(20_000, 55))
	out := p.jp("query", "-y", "-m", "script/../fill.toml", "Read long.txt.")
	require.Equal(t, "All read.\n", out.stdout, out.stderr)
	require.Greater(t, strings.Count(out.stderr, "· compacted "), 5)
	require.NotContains(t, out.stderr, "too long")
	require.Contains(t, p.jp("verify").stdout, "ok: ")
}

// The output of jp compact breaks between words on a terminal.
func TestCompactFitsTheTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("long.txt", numbered(4_000))
	p.write("../fill.toml", fillingScript(20_000, 7))
	require.Zero(t, p.jp("query", "-y", "-m", "script/../fill.toml", "Read all of long.txt, piece by piece, and say then what it says.").exit)
	for _, args := range [][]string{{"compact", "--show", "--no-pager"}, {"compact", "--dry-run", "--keep", "0"}} {
		roomy := p.jp(args...)
		require.Zero(t, roomy.exit, roomy.stderr)
		for _, columns := range []int{80, 48, 40} {
			s := p.sit(columns, args...)
			require.Zero(t, s.exit())
			terminaltest.RequireWrapped(t, roomy.stdout, s.Raw(), columns)
		}
	}
}

// A kill while the model writes a summary leaves the conversation as it was, and the next resume
// compacts it.
func TestKilledWhileCompacting(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("long.txt", numbered(8_000))
	script := fillingScript(20_000, 8)
	p.write("../fill.toml", strings.Replace(script, "[[summary]]\n", "[[summary]]\nhang = true\n", 1))
	cmd := p.command("query", "-y", "-m", "script/../fill.toml", "Read long.txt.")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return strings.Count(p.jp("log").stdout, "call read") >= 3 }, time.Minute, 20*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.NotContains(t, p.jp("log").stdout, "compacted")
	require.Contains(t, p.jp("verify").stdout, "ok: ")
	p.write("../fill.toml", script)
	out := p.jp("continue", "-y")
	require.Equal(t, "All read.\n", out.stdout, out.stderr)
	require.Contains(t, out.stderr, "· compacted 0–")
}
