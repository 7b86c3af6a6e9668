package main

import (
	"context"
	"fmt"
	"sync/atomic"
)

// answerAll answers all questions: three of four by jp attach at a terminal, the
// others by jp answer; and waits for the ends.
func (s *soak) answerAll(ctx context.Context) error {
	var attached, answered atomic.Int64
	err := s.each(ctx, s.n, func(ctx context.Context, i int) error {
		if i%4 == 3 {
			answered.Add(1)
			return s.answerByWord(ctx, s.runners[i])
		}
		attached.Add(1)
		return s.answerAttached(ctx, s.runners[i])
	})
	s.table.count("answered by jp attach at a terminal / by jp answer", "%d / %d", attached.Load(), answered.Load())
	s.table.times("jp attach at a terminal, to its first byte", s.reached.all(), 0)
	if err != nil {
		return err
	}
	return s.ends(ctx)
}

func (s *soak) answerByWord(ctx context.Context, m *runner) error {
	_, err := s.arena.jp(ctx, 0, "answer", "-q", string(m.id), "y")
	return err
}

// answerAttached says yes at a terminal. The client ends with the turn.
func (s *soak) answerAttached(ctx context.Context, m *runner) error {
	c, err := s.attach(ctx, m, &s.reached)
	if err != nil {
		return err
	}
	if !c.shows(asks) {
		c.kill()
		return fmt.Errorf("attach to %s: it does not ask: %s", m.id, c.end())
	}
	if err := c.press("y"); err != nil {
		c.kill()
		return err
	}
	if exit := c.exit(); exit != 0 {
		return fmt.Errorf("attach to %s: exit %d: %s", m.id, exit, c.end())
	}
	return nil
}

// ends waits until all turns are complete and their processes have ended.
func (s *soak) ends(ctx context.Context) error {
	if _, err := s.arena.jp(ctx, 0, append([]string{"attach", "--wait", "-q", "--for", "idle"}, ids(s.runners)...)...); err != nil {
		return err
	}
	for _, m := range s.runners {
		exit, err := m.ended(ctx)
		if err != nil {
			return err
		}
		if exit != 0 {
			s.table.violation("the process of %s ended with %d", m.id, exit)
		}
	}
	return nil
}
