package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/vendortest"
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
