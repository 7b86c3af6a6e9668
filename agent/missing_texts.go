package agent

import (
	"context"
	"fmt"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
)

// missingNotice lists the texts and files that this repository lacks, if there are any. The model gets a note
// in place of each.
func (e *turn) missingNotice(ctx context.Context) []string {
	count, first := 0, ""
	var of *conversation.Event
	for _, event := range e.history.stream.Events() {
		for _, p := range event.Payloads {
			switch p.Name {
			case conversation.PayloadTools, conversation.PayloadProvider, conversation.PayloadOutput:
				continue // the model gets a note only of the others
			}
			name := safetext.Show(p.Name)
			if p.Name == conversation.PayloadText || p.Name == conversation.PayloadArguments {
				name = "a text"
			}
			if !p.Absent { // loading checks only texts
				if _, there, err := e.run.repo.Store.Payload(ctx, p); there || err != nil || p.Name == conversation.PayloadText {
					continue
				}
			}
			if count++; of == nil {
				of, first = event, name
			}
		}
	}
	if of == nil {
		return nil
	}
	what := fmt.Sprintf("%s of @%d is", first, of.Seq)
	if count > 1 {
		what = fmt.Sprintf("%s and %d more are", what[:len(what)-len(" is")], count-1)
	}
	view := &repo.View{Repo: e.run.repo, ID: e.target.id, Events: e.history.stream.Events()}
	return []string{what + " missing in this repository; the model gets a note instead" + e.run.repo.BroughtBy(view.Source(of), "")}
}
