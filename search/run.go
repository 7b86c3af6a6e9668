package search

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"jp/conversation"
)

// A Source gives the events of a conversation that a prefilter passes, in order, and all its discards; others
// may be among them. If the conversation is damaged, the events before the damage come with the error. It may
// be called concurrently.
type Source interface {
	Scan(ctx context.Context, of conversation.Info, s conversation.Prefilter) ([]*conversation.Event, error)
}

// A Result has the findings in one conversation. Err is the reason if a part of it could not be searched.
type Result struct {
	Info    conversation.Info
	Lines   []Line
	Matches int // lines that match
	Err     error
}

// Conversations searches conversations, several at a time, and yields the findings in each, in the given
// order. It leaves out a conversation without findings, unless its search failed.
func Conversations(ctx context.Context, from Source, infos []conversation.Info, q *Query) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		w := &workers{ahead: make(chan struct{}, 4*runtime.GOMAXPROCS(0)), results: make([]chan Result, len(infos))}
		for i := range w.results {
			w.results[i] = make(chan Result, 1)
		}
		w.start(ctx, func(i int) Result {
			info := infos[i]
			r := Result{Info: info, Err: info.Err}
			var events []*conversation.Event
			if (len(q.scopes) > 1 || !q.scopes[Title]) && info.Head != "" {
				var err error
				if events, err = from.Scan(ctx, info, q.filter); err != nil {
					r.Err = err
				}
			}
			found := q.look(info.Summary.Title, events)
			r.Lines, r.Matches = found.lines, found.matches
			return r
		})
		defer w.wait.Wait() // all reading has ended when this returns
		defer cancel()
		for _, found := range w.results {
			select {
			case r := <-found:
				<-w.ahead
				if (r.Matches > 0 || r.Err != nil) && !yield(r) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// workers fill results, a bounded number of them before they are taken.
type workers struct {
	results []chan Result
	ahead   chan struct{}
	wait    sync.WaitGroup
}

func (w *workers) start(ctx context.Context, search func(i int) Result) {
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		w.wait.Go(func() {
			for i := range next {
				w.results[i] <- search(i)
			}
		})
	}
	w.wait.Go(func() {
		defer close(next)
		for i := range w.results {
			select {
			case w.ahead <- struct{}{}:
				next <- i
			case <-ctx.Done():
				return
			}
		}
	})
}
