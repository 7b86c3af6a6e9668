package live

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/safefile"
)

// Text that a tool writes among the drafts counts neither as the user's nor as the model's.
func TestForgedDrafts(t *testing.T) {
	t.Parallel()
	const id = conversation.ID("jp-c17957779804-n03p")
	events := []*conversation.Event{{Seq: 1, Body: &conversation.ChatRequest{Content: "?"}}}
	for kind, c := range map[string]struct {
		forged string
		read   func(own safefile.StateDir) string
	}{
		"query":  {"forged\n", func(own safefile.StateDir) string { text, _ := RequestDraft(own, id); return text }},
		"answer": {`{"seq":2,"call":1,"text":"forged"}` + "\n", func(own safefile.StateDir) string { return StreamedAnswer(own, id, events) }},
		"queue":  {`{"text":"forged","after":1}` + "\n", func(own safefile.StateDir) string { return fmt.Sprint(NewQueue(own, id).Waiting()) }},
		"unsent": {`{"p":"forged"}`, func(own safefile.StateDir) string { return Unsent{Dir: own, ID: id}.Text("p") }},
	} {
		t.Run(kind, func(t *testing.T) {
			told := 0
			own := safefile.StateDir{
				GitDir: t.TempDir(), Key: func() ([]byte, error) { return []byte("k"), nil }, Told: func(*safefile.SealError) { told++ },
			}
			folder := filepath.Join(own.GitDir, "jp", "drafts")
			require.NoError(t, os.MkdirAll(folder, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(folder, string(id)+"."+kind), []byte(c.forged), 0o600))
			require.NotContains(t, c.read(own), "forged")
			require.NotZero(t, told)
		})
	}
	own := safefile.StateDir{GitDir: t.TempDir()}
	_, slot := TakeSlot(own)
	require.Empty(t, slot)
}
