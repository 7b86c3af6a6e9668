package export

import (
	"context"
	"encoding/json"

	"jp/conversation"
)

// Version is that of the JSON.
const Version = 1

// EveryPayload selects the payloads for the JSON: all of a conversation's.
func EveryPayload(conversation.Payload) bool { return true }

// JSON is the conversation as data that jp import jp reads: one object, with each event on
// a line of its own.
func (s *Source) JSON(ctx context.Context) (*Document, error) {
	var d *Document
	between := "\n"
	_, err := s.body(ctx, func(begun *Document) { d, between = begun, "\n" }, func(events []*conversation.Event) error {
		for _, e := range events {
			line, err := conversation.EncodeExchange(e)
			if err == nil {
				err = d.add(append([]byte(between), line...))
			}
			if err != nil {
				return err
			}
			between = ",\n"
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(struct {
		Version int            `json:"jp_export"`
		ID      string         `json:"conversation"`
		Title   string         `json:"title"`
		Head    string         `json:"head"`
		Format  string         `json:"object_format"`
		Secrets map[string]int `json:"secrets"`
		Absent  int            `json:"absent_payloads"`
	}{Version, string(s.View.ID), s.summary.Title, string(s.View.Head), string(s.View.Repo.Git.Repository().ObjectFormat), s.outgoing.Rules(), s.Absent})
	d.head, d.foot = append(head[:max(0, len(head)-1)], `,"events":[`...), []byte("\n]}\n")
	return d, err
}
