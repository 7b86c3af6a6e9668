package gitstore_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
)

// A write is tried again and again, failing at another operation each time. It tells the expected
// conversation, also when it fails.
type write struct {
	name string
	do   func(ctx context.Context, s *gitstore.Store, sc *scene) (outcome, error)
}

var writes = []write{
	{"append", appends(func(seq int) []*conversation.Event { return numbered(seq, say("one more")) })},
	{"append with payload", appends(func(seq int) []*conversation.Event {
		return numbered(seq, []*conversation.Event{attached(0, "a", []byte("new")), bigEvent(0, strings.Repeat("big\n", 20_000)), say("x")[0]})
	})},
	{"cycle", appends(cycle)},
	{"snapshot", appends(func(seq int) []*conversation.Event {
		e := bigEvent(0, "changed")
		e.Tree, e.Objects = files(fmt.Sprint(seq), 6)
		return numbered(seq, []*conversation.Event{e})
	})},
	{"create", func(ctx context.Context, s *gitstore.Store, sc *scene) (outcome, error) {
		id, events := sc.another(), say("zero", "one")
		_, err := s.Create(ctx, id, sc.has[source][2], events)
		return outcome{id: id, after: commits(events)}, err
	}},
	{"fork", func(ctx context.Context, s *gitstore.Store, sc *scene) (outcome, error) {
		id, shared := sc.another(), sc.has[source][:3]
		origin := &conversation.Event{
			Seq: 3, Turn: 1, Time: when, Body: &conversation.ForkOrigin{Conversation: source, Seq: 2, Commit: shared[2]},
		}
		_, err := s.Fork(ctx, source, conversation.Head(shared[2]), id, origin)
		return outcome{id: id, after: append(slices.Clone(shared), origin.Commit)}, err
	}},
	{"slice", func(ctx context.Context, s *gitstore.Store, sc *scene) (outcome, error) {
		id := sc.another()
		events, err := s.Load(ctx, conversation.Head(sc.head(bystander)))
		if err != nil {
			return outcome{}, err
		}
		copies := conversation.Select(events, conversation.Range{Last: 1})
		_, err = s.Create(ctx, id, "", copies)
		return outcome{id: id, after: commits(copies)}, err
	}},
}

// appends adds events to the source.
func appends(events func(seq int) []*conversation.Event) func(context.Context, *gitstore.Store, *scene) (outcome, error) {
	return func(ctx context.Context, s *gitstore.Store, sc *scene) (outcome, error) {
		before := sc.has[source]
		added := events(len(before))
		_, err := s.Append(ctx, source, conversation.Head(sc.head(source)), added)
		return outcome{id: source, after: append(slices.Clone(before), commits(added)...)}, err
	}
}

// numbered gives events the numbers from seq on.
func numbered(seq int, events []*conversation.Event) []*conversation.Event {
	for i, e := range events {
		e.Seq = seq + i
	}
	return events
}

// cycle are the events of one call of the model and its tools, which become durable at once.
func cycle(seq int) []*conversation.Event {
	events := append(say("I will look.", "And change it."), attached(0, "output", []byte(strings.Repeat("line\n", 100))))
	for i := range 2 {
		done := bigEvent(0, "done")
		done.Tree, done.Objects = files(fmt.Sprint(seq, " ", i), 2+i)
		events = append(events, done)
	}
	return numbered(seq, events)
}

// files is a tree of n files in a folder, with its objects.
func files(text string, n int) (tree string, objects []conversation.Object) {
	put := func(kind, data string) string {
		oid := string(odb.HashObject(testFormat, kind, []byte(data)))
		objects = append(objects, conversation.Object{Kind: kind, OID: oid, Data: []byte(data)})
		return oid
	}
	var entries string
	for i := range n {
		entries += fmt.Sprintf("100644 file-%d\x00%s", i, rawName(put("blob", fmt.Sprintf("%s %d\n", text, i))))
	}
	folder := put("tree", entries)
	return put("tree", "40000 folder\x00"+rawName(folder)), objects
}

// rawName is an object's name as trees have it.
func rawName(oid string) string {
	raw, err := hex.DecodeString(oid)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
