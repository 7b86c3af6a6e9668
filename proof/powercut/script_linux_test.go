package powercut_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/journaltest"
)

// A step is one thing that a store is asked to do.
type step struct {
	kind   string // "create", "append", "fork", "archive" or "unarchive"
	id     conversation.ID
	from   conversation.ID // of a fork
	events []*conversation.Event
}

// maxConversations bounds how many a script makes.
const maxConversations = 9

// A writer makes a script. Its work depends on its seed alone.
type writer struct {
	rng      *rand.Rand
	next     map[conversation.ID]int // the next event's number
	live     []conversation.ID
	archived []conversation.ID
}

// script is n steps, whose commits are the same in every place.
func script(seed uint64, n int) []step {
	w := &writer{rng: rand.New(rand.NewPCG(seed, 0)), next: map[conversation.ID]int{}}
	steps := []step{w.create()}
	for len(steps) < n {
		steps = append(steps, w.step())
	}
	return steps
}

func (w *writer) step() step {
	switch roll := w.rng.IntN(100); {
	case roll < 5 && len(w.next) < maxConversations:
		return w.create()
	case roll < 12 && len(w.next) < maxConversations:
		return w.fork()
	case roll < 16 && len(w.live) > 1:
		id := w.live[len(w.live)-1]
		w.live, w.archived = w.live[:len(w.live)-1], append(w.archived, id)
		return step{kind: "archive", id: id, events: w.events(id, 1)}
	case roll < 20 && len(w.archived) > 0:
		id := w.archived[0]
		w.live, w.archived = append(w.live, id), w.archived[1:]
		return step{kind: "unarchive", id: id, events: w.events(id, 1)}
	}
	id := w.live[w.rng.IntN(len(w.live))]
	return step{kind: "append", id: id, events: w.events(id, 1+w.rng.IntN(5))}
}

func (w *writer) create() step {
	id := journaltest.ID(len(w.next) + 1)
	w.live = append(w.live, id)
	return step{kind: "create", id: id, events: w.events(id, 1+w.rng.IntN(3))}
}

func (w *writer) fork() step {
	id, from := journaltest.ID(len(w.next)+1), w.live[w.rng.IntN(len(w.live))]
	w.live = append(w.live, id)
	w.next[id] = w.next[from]
	return step{kind: "fork", id: id, from: from, events: w.events(id, 1)}
}

// events are the next n of a conversation: mostly small, some large enough to be
// compressed, some with payload beside the commit.
func (w *writer) events(id conversation.ID, n int) []*conversation.Event {
	var events []*conversation.Event
	for range n {
		seq := w.next[id]
		w.next[id]++
		text := fmt.Sprintf("event %d of %s: %s", seq, id, strings.Repeat(fmt.Sprintf("%x ", w.rng.Uint64()), w.rng.IntN(40)))
		if w.rng.IntN(12) == 0 {
			text += strings.Repeat(fmt.Sprintf("\n%x", w.rng.Uint64()), 1000)
		}
		e := &conversation.Event{
			Seq: seq, Turn: 1, Time: time.Unix(1_752_883_200+int64(seq), 0).UTC(), Model: "script/fixed",
			Body: &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: text},
		}
		if w.rng.IntN(10) == 0 {
			e.Payloads = []conversation.Payload{{Name: "a.txt", MediaType: "text/plain", Data: fmt.Append(nil, "beside ", text)}}
		}
		events = append(events, e)
	}
	return events
}

// openStore opens the store of a repository, as the user that all scripts have.
func openStore(repo string, o gitstore.Options) (*gitstore.Store, error) {
	o.Zone, o.Key = time.UTC, []byte("0123456789abcdef0123456789abcdef")
	o.User = func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} }
	return gitstore.Open(repositoryIn(repo), o)
}

func repositoryIn(repo string) gitcmd.Repository {
	return gitcmd.Repository{GitDir: repo + "/.git", CommonDir: repo + "/.git", TopLevel: repo, ObjectFormat: "sha1"}
}

// A player does the steps of a script.
type player struct {
	store *gitstore.Store
	heads map[conversation.ID]conversation.Head
}

func (p *player) play(ctx context.Context, s step) (err error) {
	head := p.heads[s.id]
	switch s.kind {
	case "create":
		head, err = p.store.Create(ctx, s.id, "", s.events)
	case "append":
		head, err = p.store.Append(ctx, s.id, head, s.events)
	case "fork":
		head, err = p.store.Fork(ctx, s.from, p.heads[s.from], s.id, s.events[0])
	default:
		head, err = p.store.Archive(ctx, s.id, head, s.events[0], s.kind == "archive")
	}
	p.heads[s.id] = head
	return err
}

// refsOf are the refs of jp's in a repository.
func refsOf(repo string) (map[string]string, error) {
	db, err := odb.Open(repo+"/.git", odb.Options{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	list, err := db.ListRefs("refs/jp/")
	refs := map[string]string{}
	for _, r := range list {
		refs[r.Name] = string(r.OID)
	}
	return refs, err
}

// line says an event in full: which commit, which text, which payload.
func line(commit string, e *conversation.Event, payload func(conversation.Payload) []byte) string {
	text, _ := e.Text()
	out := fmt.Sprintf("%d %s %q", e.Seq, commit, text)
	for _, p := range e.Payloads {
		out += fmt.Sprintf(" %s=%x", p.Name, payload(p))
	}
	return out
}
