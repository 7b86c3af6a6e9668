package importer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func acpRecords(t *testing.T, text string, live bool) (records []string, s Session) {
	t.Helper()
	s.live = live
	require.NoError(t, ACP.Decode(strings.NewReader(text), &s, func(r Record) error {
		line, err := json.Marshal(r)
		records = append(records, string(line))
		return err
	}))
	return records, s
}

// The records of a running session are a beginning of those that its whole log has.
func TestACPRecords(t *testing.T) {
	text := fixture(t, "acp/session.jsonl")
	all, s := acpRecords(t, text, false)
	got := strings.Join(all, "\n") + fmt.Sprintf("\n%s in %s, left out %v, refused %v\n", s.ID, s.Dir, s.LeftOut, s.Refused)
	rep, events := build(t, ACP, text, nil)
	require.Empty(t, conversation.Audit(events))
	got += fmt.Sprintf("%d turns, %d calls, %d results, %d unknown\n%s", rep.Turns, rep.Calls, rep.Results, rep.Unknowns, tell(events))
	golden := filepath.Join("acp", "records.txt")
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", golden), []byte(got), 0o644))
	}
	require.Equal(t, fixture(t, golden), got)
	lines := strings.SplitAfter(text, "\n")
	for n := range lines {
		live, _ := acpRecords(t, strings.Join(lines[:n], ""), true)
		require.Equal(t, strings.Join(all[:len(live)], "\n"), strings.Join(live, "\n"), "%d lines", n)
	}
}
