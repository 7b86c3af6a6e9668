package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"jp/conversation"
	"jp/process"
)

// fewest is how many conversations there must be: see [soak.checkKilled].
const fewest = 8

// hands is how many commands a user would run at once.
const hands = 4

// A soak is one run.
type soak struct {
	options
	arena    *environment
	log      io.Writer
	table    *table
	runners  []*runner
	besides  []*plainConversation
	registry process.Registry

	told    map[*runner]map[int]string // by those who were followed
	appends timings
	lags    timings
	begun   timings // jp query --detach
	reached timings // jp attach on a terminal, to its first byte
}

func newSoak(o options, a *environment, log io.Writer) *soak {
	return &soak{options: o, arena: a, log: log, table: &table{}, told: map[*runner]map[int]string{}}
}

// run runs all steps. An impossible step is an error. A lost or left thing is a violation.
func (s *soak) run(ctx context.Context) error {
	phases := []struct {
		name string
		do   func(context.Context) error
	}{
		{"start", s.startAll}, {"work, while clients come and go", s.load}, {"measure those that wait", s.measure},
		{"let clients come and go while all wait", s.visitWaiting}, {"list", s.compareLists}, {"kill some that wait", s.checkKilled},
		{"answer", s.answerAll}, {"look what is left", s.check},
	}
	for _, p := range phases {
		fmt.Fprintf(s.log, "%s: %s\n", time.Now().Format(time.TimeOnly), p.name)
		if err := p.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// startAll starts the conversations, a few at once.
func (s *soak) startAll(ctx context.Context) error {
	s.runners = make([]*runner, s.n)
	err := s.each(ctx, s.n, func(ctx context.Context, i int) (err error) {
		start := time.Now()
		s.runners[i], err = s.arena.start(ctx, i, s.length)
		s.begun.since(start)
		return err
	})
	s.table.count("conversations in the background at once", "%d", s.n)
	s.table.times("jp query --detach, until it returns", s.begun.all(), 0)
	if err != nil {
		return err
	}
	s.registry, err = s.arena.registry()
	return err
}

// each does n pieces of work with a few hands.
func (s *soak) each(ctx context.Context, n int, do func(context.Context, int) error) error {
	next := make(chan int)
	errs := make([]error, n)
	var group sync.WaitGroup
	for range hands {
		group.Go(func() {
			for i := range next {
				errs[i] = do(ctx, i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
	return errors.Join(errs...)
}

// load lets the conversations work until all wait, while this process appends,
// follows and visits.
func (s *soak) load(ctx context.Context) error {
	beside, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var appended, visited error
	group.Go(func() { appended = s.appendBeside(beside) })
	var mu sync.Mutex
	for _, m := range s.runners[:followed] {
		group.Go(func() {
			told, err := s.follow(beside, m)
			mu.Lock()
			defer mu.Unlock()
			if s.told[m] = told; err != nil {
				s.table.violation("%v", err)
			}
		})
	}
	group.Go(func() { visited = s.visitAll(ctx, "under load", s.length*2/3) })
	waited := s.awaitQuestions(ctx, s.runners)
	stop()
	group.Wait()
	s.table.times(fmt.Sprintf("durable append of one event, %d conversations of the soak's own beside them", besides), s.appends.all(), 100*time.Millisecond)
	s.table.times(fmt.Sprintf("from an event's time to the line of jp attach --json, %d conversations", followed), s.lags.all(), 0)
	return errors.Join(waited, appended, visited)
}

// awaitQuestions waits until conversations wait for an answer.
func (s *soak) awaitQuestions(ctx context.Context, members []*runner) error {
	_, err := s.arena.jp(ctx, 3, append([]string{"attach", "--wait", "-q"}, ids(members)...)...)
	return err
}

func ids(members []*runner) (ids []string) {
	for _, m := range members {
		ids = append(ids, string(m.id))
	}
	return ids
}

// end ends every process that was started.
func (s *soak) end() {
	for _, m := range s.runners {
		if m != nil {
			_ = m.process.Kill() // it may have ended
			<-m.over
		}
	}
	for range 10 { // a child's children become this process's when it ends
		children, _ := childrenOf(os.Getpid())
		for _, pid := range children {
			endChild(pid)
		}
	}
}

// endChild ends a child that no code waits for. Its number is its own until then.
func endChild(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_, _ = p.Wait()
	}
}

// A listing is a conversation in the output of jp ls.
type listing struct {
	ID     conversation.ID `json:"id"`
	Status struct {
		State string `json:"state"`
		Tool  string `json:"tool"`
		PID   *int   `json:"pid"`
	} `json:"status"`
}

// listed asks jp ls, by id.
func (s *soak) listed(ctx context.Context) (map[conversation.ID]listing, error) {
	var list []listing
	if err := s.arena.jpJSON(ctx, &list, "ls"); err != nil {
		return nil, err
	}
	found := map[conversation.ID]listing{}
	for _, l := range list {
		found[l.ID] = l
	}
	return found, nil
}
