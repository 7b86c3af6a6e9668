package repo

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/redacttest"
	"jp/redact"
)

func newSecrets(dir string) *secrets {
	return &secrets{
		redactor: redact.New([]byte("k")), dir: dir, log: slog.New(slog.DiscardHandler),
		vaults: map[conversation.ID]*redact.Vault{}, found: map[string]string{},
	}
}

func TestWhatIsFoundLaterKeepsIdsTogether(t *testing.T) {
	s, id := newSecrets(t.TempDir()), conversation.ID("jp-c17528832001-k3f9")
	call := (&redacttest.Planter{Random: rand.New(rand.NewPCG(5, 6))}).Letters(redacttest.Base62, 24)
	asked := &conversation.Event{Body: &conversation.ToolCallRequest{ID: call, Name: "x", Arguments: []byte("{}")}}
	s.rewrite(id, []*conversation.Event{asked})
	s.rewrite(id, []*conversation.Event{{Body: &conversation.Note{Content: "api_key = \"" + call + "\""}}})
	answered := &conversation.Event{Body: &conversation.ToolCallResponse{ID: asked.Body.(*conversation.ToolCallRequest).ID, Content: "of " + call}}
	s.rewrite(id, []*conversation.Event{answered})
	require.Equal(t, call, answered.Body.(*conversation.ToolCallResponse).ID)
	require.Contains(t, answered.Body.(*conversation.ToolCallResponse).Content, "[secret:generic-api-key:")
}

// A line that is cut off within a secret, and stands before it.
func TestCutLinesKeepNoBeginning(t *testing.T) {
	secrets := &redacttest.Planter{Random: rand.New(rand.NewPCG(3, 4))}
	token := secrets.Token()
	title := "Look at " + token[:14] + "…"
	events := []*conversation.Event{
		{Body: &conversation.Metadata{Title: &title}, Subject: "title: Look at " + token[:15] + "…"},
		{Body: &conversation.ChatRequest{Content: "Look at " + token}},
	}
	newSecrets(t.TempDir()).rewrite("jp-c17528832001-k3f9", events)
	require.Equal(t, "title: Look at [secret:…", events[0].Subject)
	require.Equal(t, "Look at [secret:…", *events[0].Body.(*conversation.Metadata).Title)
}

// BenchmarkSecretsOfAnEvent is the cost of an event of 1.4 KB on its way into the store.
func BenchmarkSecretsOfAnEvent(b *testing.B) {
	text, err := os.ReadFile("secrets.go")
	require.NoError(b, err)
	s := newSecrets(b.TempDir())
	for b.Loop() {
		e := &conversation.Event{Body: &conversation.ToolCallResponse{ID: "call_1", Name: "fs_read_file", Content: string(text[:1400])}, Subject: "fs_read_file secrets.go: 50 lines"}
		s.rewrite("jp-c17528832001-k3f9", []*conversation.Event{e})
	}
}
