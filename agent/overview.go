package agent

import (
	"context"
	"errors"
	"slices"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
)

// An Overview helps a user who comes to a conversation.
type Overview struct {
	ID      conversation.ID       // "" for a new conversation
	Listing repo.Summary          // of the conversation; the zero value for a new one
	Turn    string                // its newest turn in words, "" if that is complete
	Last    []*conversation.Event // of its newest turn that is still in effect, within reach of [farthest]
	Others  []Stopped             // other interrupted turns of this working tree, the newest first
}

// Overview looks at the conversation that a word stands for, "" for the session's. A session
// without one has a new one.
func OverviewOf(ctx context.Context, r *repo.Repo, word string) (o Overview, err error) {
	if o.ID, err = conversationFor(ctx, r, word); err != nil {
		return o, err
	}
	o.Others = StoppedHere(ctx, r, o.ID)
	if o.ID == "" {
		return o, nil
	}
	info, err := r.Store.Info(ctx, o.ID)
	if err != nil {
		return o, repo.AboutConversation(err, o.ID)
	}
	o.Listing = r.States().List(ctx, info)
	asked, last, err := lastTurn(ctx, r, info.Head)
	if o.Last = last; o.Listing.Status.State != "idle" {
		o.Turn = turnName(asked, o.Listing)
	}
	return o, err
}

// farthest is how many events jp reads for the newest words. A turn may have thousands, and the user waits.
const farthest = 300

// lastTurn has the events of the newest turn that is still in effect, as far as it is read, and the text of
// its request.
func lastTurn(ctx context.Context, r *repo.Repo, head conversation.Head) (asked string, events []*conversation.Event, err error) {
	var discarded conversation.TurnDiscarded
	read := 0
	for e, err := range r.Store.Backward(ctx, head) {
		if err != nil {
			return "", nil, err
		}
		if read++; read > farthest {
			break
		}
		if discarded.ToSeq > 0 && discarded.FromSeq <= e.Seq && e.Seq <= discarded.ToSeq {
			continue
		}
		switch b := e.Body.(type) {
		case *conversation.TurnDiscarded:
			discarded = *b
			continue
		case *conversation.ChatRequest:
			if !b.Interrupt {
				asked = b.Content
			}
		}
		events = append(events, e)
		if e.Type() == conversation.TypeTurnStart {
			break
		}
	}
	slices.Reverse(events)
	return asked, events, nil
}

// conversationFor is the conversation that a word stands for, or the session's, "" if it has none.
func conversationFor(ctx context.Context, r *repo.Repo, word string) (conversation.ID, error) {
	if word != "" {
		return r.Find().Resolve(ctx, r.Env, word)
	}
	id, err := r.Find().Visited(ctx, r.Env, 0)
	var none *problem.Error
	if errors.As(err, &none) {
		return "", nil
	}
	return id, err
}

// LeftInQueue are the messages of an earlier process's queue that it has not recorded.
func LeftInQueue(ctx context.Context, r *repo.Repo, id conversation.ID, q *live.Queue) (texts []string) {
	waiting := q.Waiting()
	if len(waiting) == 0 {
		return nil
	}
	said := map[string]int{} // seq of the newest such request
	if v, err := r.Find().ViewBack(ctx, r.Env, string(id), func(back []*conversation.Event) bool {
		return back[len(back)-1].Seq <= waiting[0].After
	}); err == nil {
		for _, e := range v.Events {
			if b, ok := e.Body.(*conversation.ChatRequest); ok {
				said[b.Content] = e.Seq
			}
		}
	}
	recorded := func(text string, after int) bool {
		seq, ok := said[text]
		return ok && seq > after
	}
	conceal := r.Values.Concealer(id)
	for _, m := range waiting {
		if !recorded(m.Text, m.After) && !(conceal != nil && recorded(conceal(m.Text), m.After)) {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// RecentRequests are the user's recent requests in a conversation, the oldest first. Reading began with the
// event numbered from: if that is not 0, [EarlierRequests] may have more.
func RecentRequests(ctx context.Context, r *repo.Repo, id conversation.ID) (texts []string, from int, err error) {
	v, err := r.Find().ViewBack(ctx, r.Env, string(id), func(back []*conversation.Event) bool { return len(back) >= farthest })
	if err != nil || len(v.Events) == 0 {
		return nil, 0, err
	}
	return requestsIn(v.Events), v.Events[0].Seq, nil
}

// EarlierRequests are the user's requests in a conversation before an event, the oldest first.
func EarlierRequests(ctx context.Context, r *repo.Repo, id conversation.ID, before int) ([]string, error) {
	v, err := r.Find().View(ctx, r.Env, string(id))
	if err != nil {
		return nil, err
	}
	return requestsIn(v.Events[:min(before, len(v.Events))]), nil
}

func requestsIn(events []*conversation.Event) (texts []string) {
	for _, e := range events {
		if b, ok := e.Body.(*conversation.ChatRequest); ok {
			texts = append(texts, b.Content)
		}
	}
	return texts
}

// searchedConversations is how many conversations [SearchedRequests] reads besides the first one.
const searchedConversations = 20

// SearchedRequests are the user's requests, the newest first: those of a conversation, unless it is "", and
// then those of the most recently active others.
func SearchedRequests(ctx context.Context, r *repo.Repo, first conversation.ID) (texts []string) {
	if v, err := r.Find().View(ctx, r.Env, string(first)); err == nil && first != "" {
		texts = requestsIn(v.Events)
		slices.Reverse(texts)
	}
	infos, _ := r.Store.List(ctx, conversation.ScopeLive) // others are a help only
	slices.SortFunc(infos, func(a, b conversation.Info) int { return b.Summary.LastEventAt.Compare(a.Summary.LastEventAt) })
	for _, info := range infos[:min(len(infos), searchedConversations)] {
		if info.ID == first {
			continue
		}
		more, _, err := RecentRequests(ctx, r, info.ID)
		if err == nil {
			slices.Reverse(more)
			texts = append(texts, more...)
		}
	}
	return texts
}

// An AskedRequest is a request of the user's with the event before it, up to which a fork has everything but the request.
type AskedRequest struct {
	Text    string
	Before  int
	Changed bool // files changed since
}

// AskedRequests are the requests of a conversation, the newest first.
func AskedRequests(ctx context.Context, r *repo.Repo, id conversation.ID) (asked []AskedRequest, err error) {
	v, err := r.Find().View(ctx, r.Env, string(id))
	if err != nil {
		return nil, err
	}
	begun := -1 // the start of a turn still without a request
	tree := ""
	for _, e := range v.Events {
		if e.Tree != "" && e.Tree != tree {
			for i := range asked {
				asked[i].Changed = asked[i].Changed || tree != ""
			}
			tree = e.Tree
		}
		switch b := e.Body.(type) {
		case *conversation.TurnStart:
			begun = e.Seq
		case *conversation.ChatRequest:
			at := e.Seq
			if begun >= 0 {
				at, begun = begun, -1
			}
			asked = append(asked, AskedRequest{Text: b.Content, Before: at - 1})
		}
	}
	slices.Reverse(asked)
	return asked, nil
}
