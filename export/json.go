package export

import (
	"bufio"
	"encoding/json"
	"io"

	"jp/conversation"
)

// Version is that of the JSON.
const Version = 1

// EveryPayload is what the JSON needs of a conversation's payloads.
func EveryPayload(conversation.Payload) bool { return true }

// JSON writes the conversation as data that jp import jp reads: one object, with each event on
// a line of its own.
func (s *Source) JSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	head, err := json.Marshal(struct {
		Version int            `json:"jp_export"`
		ID      string         `json:"conversation"`
		Title   string         `json:"title"`
		Head    string         `json:"head"`
		Format  string         `json:"object_format"`
		Secrets map[string]int `json:"secrets"`
		Absent  int            `json:"absent_payloads"`
	}{Version, string(s.View.ID), s.summary.Title, string(s.View.Head), string(s.View.Repo.Git.Repository().ObjectFormat), s.outgoing.Rules(), s.Absent})
	if err != nil {
		return err
	}
	_, _ = out.Write(head[:len(head)-1]) // the writer keeps its first error for Flush
	_, _ = out.WriteString(`,"events":[`)
	for i, e := range s.Events {
		line, err := conversation.EncodeExchange(e)
		if err != nil {
			return err
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_ = out.WriteByte('\n')
		_, _ = out.Write(line)
	}
	_, _ = out.WriteString("\n]}\n")
	return out.Flush()
}
