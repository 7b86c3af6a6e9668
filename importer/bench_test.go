package importer

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// BenchmarkDryRun reads a session as jp import --dry-run does: the file in JP_SESSION, or the
// records of a small one many times.
func BenchmarkDryRun(b *testing.B) {
	for _, name := range []string{"claude_tools.jsonl", "codex_rollout.jsonl"} {
		b.Run(name, func(b *testing.B) {
			f := formatOf(name)
			session := strings.Repeat(fixture(b, name), 500)
			if path := os.Getenv("JP_SESSION"); path != "" {
				text, err := os.ReadFile(path)
				require.NoError(b, err)
				session = string(text)
			}
			b.SetBytes(int64(len(session)))
			for b.Loop() {
				var file io.ReadSeeker = strings.NewReader(session)
				rep := &Report{Format: f.Name(), DryRun: true}
				im := &importing{ctx: b.Context(), rep: rep, test: &testJournal{emit: func(conversation.ID, *conversation.Event) {}}}
				require.NoError(b, im.session(f, file, ""))
			}
		})
	}
}
