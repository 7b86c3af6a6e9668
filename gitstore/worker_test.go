package gitstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/journaltest"
)

// workerEnv makes the test binary a process that works in a repository: with
// "DIR|ROLE|NUMBER|COUNT" as its value. It prints a line for each event that was
// acknowledged: the conversation, and the commit.
const workerEnv = "GITSTORE_TEST_WORKER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(workerEnv); spec != "" {
		if err := work(context.Background(), spec, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A worker is one process beside others.
type worker struct {
	*gitstore.Store
	dir    string
	out    io.Writer
	number int
	made   int // conversations
}

func work(ctx context.Context, spec string, in io.Reader, out io.Writer) error {
	fields := strings.Split(spec, "|")
	number, _ := strconv.Atoi(fields[2])
	count, _ := strconv.Atoi(fields[3])
	w := &worker{dir: fields[0], out: out, number: number}
	err := w.open(ctx)
	if err != nil {
		return err
	}
	switch fields[1] {
	case "own":
		err = w.ownConversations(ctx, count)
	case "shared":
		err = w.sharedConversation(ctx, count)
	case "reader":
		err = w.reads(ctx, in)
	}
	return errors.Join(err, w.Close())
}

func (w *worker) open(ctx context.Context) error {
	repo, err := gitcmd.Locate(ctx, w.dir, gitcmd.Options{})
	if err != nil {
		return err
	}
	w.Store, err = gitstore.Open(repo, gitstore.Options{
		Key: []byte("0123456789abcdef0123456789abcdef"), Zone: time.UTC,
		User: func() gitstore.Person { return gitstore.Person{Name: "Ada Lovelace", Email: "ada@example.com"} },
	})
	return err
}

// pruned reports whether an error may come from a prune by git a moment ago: an event looks damaged, or
// gone, until its writer writes it again.
func pruned(err error) bool {
	return errors.Is(err, conversation.ErrDamaged) || errors.Is(err, conversation.ErrNotFound)
}

// id is the next conversation that only this worker writes to.
func (w *worker) id() conversation.ID {
	w.made++
	return journaltest.ID(1000*(w.number+1) + w.made)
}

// acked tells of durable events. It must be right.
func (w *worker) acked(id conversation.ID, events ...*conversation.Event) {
	for _, e := range events {
		fmt.Fprintln(w.out, id, e.Commit)
	}
}

// ownConversations makes n conversations; each grows, is forked, archived, and
// brought back.
func (w *worker) ownConversations(ctx context.Context, n int) error {
	for range n {
		id, events := w.id(), say("zero", fmt.Sprint("from ", w.number))
		head, err := w.Create(ctx, id, "", events)
		if err != nil {
			return err
		}
		w.acked(id, events...)
		for seq := 2; seq < 8; seq += 2 {
			more := numbered(seq, append([]*conversation.Event{attached(0, "a", fmt.Append(nil, id, seq))}, say("x")...))
			if head, err = w.Append(ctx, id, head, more); err != nil {
				return err
			}
			w.acked(id, more...)
		}
		if err := w.forks(ctx, id, head); err != nil {
			return err
		}
		if head, err = w.files(ctx, id, head, 8, true); err != nil {
			return err
		}
		if _, err = w.files(ctx, id, head, 9, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) forks(ctx context.Context, from conversation.ID, head conversation.Head) error {
	id := w.id()
	origin := &conversation.Event{Seq: 8, Turn: 1, Time: when, Body: &conversation.ForkOrigin{Conversation: from, Seq: 7, Commit: string(head)}}
	if _, err := w.Fork(ctx, from, head, id, origin); err != nil {
		return err
	}
	w.acked(id, origin)
	return nil
}

// files archives a conversation, or takes it back. If another git holds the lock on the packed refs for
// long, git fails, and the conversation stays in place.
func (w *worker) files(ctx context.Context, id conversation.ID, head conversation.Head, seq int, archived bool) (conversation.Head, error) {
	body := &conversation.Metadata{}
	if archived {
		body.ArchivedAt = &conversation.OptionalTime{Time: when}
	}
	for tries := 0; ; tries++ {
		record := &conversation.Event{Seq: seq, Turn: 1, Time: when, Body: body}
		next, err := w.Archive(ctx, id, head, record, archived)
		if err == nil {
			w.acked(id, record)
			return next, nil
		}
		if !errors.Is(err, odb.ErrRefLocked) || tries == 20 {
			return "", err
		}
	}
}

// sharedConversation wins n times against all others that add to conversation 1. Without a lock of the
// conversation, the compare-and-swap decides.
func (w *worker) sharedConversation(ctx context.Context, n int) error {
	patience := time.Now().Add(time.Minute)
	for won := 0; won < n; {
		events, err := w.extend(ctx, journaltest.ID(1), fmt.Sprint(w.number, " ", won))
		switch {
		case err == nil:
			w.acked(journaltest.ID(1), events...)
			won++
			patience = time.Now().Add(time.Minute)
		case pruned(err) && time.Now().Before(patience): // as if jp were started again
			if err := errors.Join(w.Close(), w.open(ctx)); err != nil {
				return err
			}
		case !errors.Is(err, conversation.ErrHeadMoved) && !errors.Is(err, odb.ErrRefLocked):
			return err
		}
	}
	return nil
}

// extend adds two events to a conversation as it is now.
func (w *worker) extend(ctx context.Context, id conversation.ID, text string) ([]*conversation.Event, error) {
	info, err := w.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	events := numbered(info.Tip.Seq+1, say(text, "x"))
	_, err = w.Append(ctx, id, info.Head, events)
	return events, err
}

// reads reads everything again and again, until its input ends. It meets pruned objects again in the next
// round; any other fault is an error.
func (w *worker) reads(ctx context.Context, in io.Reader) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = bufio.NewReader(in).ReadString(0)
	}()
	for loads, early := 0, 0; ; {
		n, err := w.readAll(ctx)
		loads += n
		switch {
		case pruned(err):
			early++
		case err != nil:
			return err
		}
		select {
		case <-ended:
			fmt.Fprintln(w.out, "read", loads)
			fmt.Fprintln(w.out, "early", early)
			return nil
		default:
		}
	}
}

// readAll reads every conversation, and counts them.
func (w *worker) readAll(ctx context.Context) (n int, err error) {
	var missing error
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		infos, err := w.List(ctx, scope)
		if err != nil {
			return n, err
		}
		for _, info := range infos {
			err := info.Err
			if err == nil {
				_, err = w.Load(ctx, info.Head)
			}
			switch {
			case pruned(err):
				missing = err
			case err != nil:
				return n, fmt.Errorf("%s: %w", info.ID, err)
			}
			n++
		}
	}
	return n, missing
}
