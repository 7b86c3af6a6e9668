package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/vendortest"
)

// TestACallThatAVendorReportsTwiceRunsOnce lets each vendor give one call twice in
// an answer, and two calls that only look like one.
func TestACallThatAVendorReportsTwiceRunsOnce(t *testing.T) {
	t.Parallel()
	call := func(id, word string) vendortest.Call {
		return vendortest.Call{ID: id, Name: "shell_run", Arguments: `{"argv":["sh","-c","echo ` + word + ` >>log.txt"]}`}
	}
	for name, tc := range map[string]struct {
		calls  []vendortest.Call
		log    string
		noted  bool
		vendor string // "": all
	}{
		"the same":             {calls: []vendortest.Call{call("c1", "ran"), call("c1", "ran")}, log: "ran\n", noted: true},
		"the same, not behind": {calls: []vendortest.Call{call("c1", "ran"), call("c2", "too"), call("c1", "ran")}, log: "ran\ntoo\n", noted: true},
		"other arguments":      {calls: []vendortest.Call{call("c1", "ran"), call("c1", "too")}, log: "ran\ntoo\n"},
		"another id":           {calls: []vendortest.Call{call("c1", "ran"), call("c2", "ran")}, log: "ran\nran\n"},
		"no ids":               {calls: []vendortest.Call{call("", "ran"), call("", "ran")}, log: "ran\nran\n", vendor: "google"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			log := filepath.Join(p.dir, "log.txt")
			for _, v := range vendortest.Vendors() {
				if tc.vendor != "" && tc.vendor != v.Name {
					continue
				}
				for _, verbose := range []bool{false, true} {
					s.Forget()
					s.Say(vendortest.Reply{Calls: tc.calls}, vendortest.Reply{Text: "Done."})
					args := []string{"--new", "Go"}
					if verbose {
						args = append(args, "-v")
					}
					out := p.asks(v, args...)
					require.Equal(t, "Done.\n", out.stdout)
					written, err := os.ReadFile(log)
					require.NoError(t, err)
					require.Equal(t, tc.log, string(written), v.Name)
					require.NoError(t, os.Remove(log))
					if tc.noted && verbose {
						require.Contains(t, out.stderr, "The answer has the call c1 of shell_run twice; jp runs it once.")
					} else {
						require.NotContains(t, out.stderr, "twice")
					}
				}
			}
			require.Zero(t, s.Left())
		})
	}
}

// TestAToolNameThatIsNearlyRightRuns lets each vendor write a name in a damaged way. The next request
// has the right one, and the damaged one is on record.
func TestAToolNameThatIsNearlyRightRuns(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	s.Loose() // its judge wants the call back as it was sent
	for _, v := range vendortest.Vendors() {
		for _, name := range []string{" fs_read_file", "functions.fs_read_file", "FS_READ_FILE", "fs_read_file<|channel|>commentary"} {
			s.Forget()
			s.Say(vendortest.Reply{Calls: []vendortest.Call{{ID: "c1", Name: name, Arguments: `{"path":"README.md"}`}}}, vendortest.Reply{Text: "Read."})
			out := p.jp("query", "--new", "--json", "-m", v.Asked(), "Read")
			require.Zero(t, out.exit, out.stderr)
			require.Contains(t, out.stdout, `"name":"fs_read_file","arguments":{"path":"README.md"},"repaired":true`)
			require.Contains(t, out.stdout, "A repository")
			sent := s.Requests()
			body := string(sent[len(sent)-1].Body)
			require.NotContains(t, body, "FS_READ_FILE")
			require.NotContains(t, body, "functions.fs_read_file")
			require.NotContains(t, body, "channel")
			require.NotContains(t, body, `" fs_read_file`)
			written, err := json.Marshal(name)
			require.NoError(t, err)
			require.Contains(t, p.git("log", "--format=raw", strings.TrimSpace(p.jp("show", "--ref").stdout)), `"name":`+string(written))
		}
	}
	require.Zero(t, s.Left())
}
