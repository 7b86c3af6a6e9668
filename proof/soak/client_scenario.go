package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"jp/process/attach"
)

// A clientScenario is one way in which a client comes and goes.
type clientScenario struct {
	name string
	pay  func(*soak, context.Context, *runner) error
}

// visits are in the order in which each worker goes through them.
var visits = []clientScenario{
	{"attached, detached", (*soak).visitInOrder},
	{"terminal, client killed with -9", (*soak).visitKilled},
	{"half a message", say(`{"type":"answer","seq":`)},
	{"terminal, left by Ctrl+\\", (*soak).visitAndLeave},
	{"garbage", say("\x00\xff not a message\n")},
	{"attached, gone without a word", say(`{"type":"attach","v":1}` + "\n")},
	{"follower killed with -9", (*soak).followKilled},
	{"hello not waited for", (*soak).visitBriefly},
}

// patience is how long a visited process may take for its immediate reactions.
const patience = 20 * time.Second

// visitAll lets clients come and go at every visited member, spread over a time,
// a few at once, each at members of its own: a process has one attached client at
// a time.
func (s *soak) visitAll(ctx context.Context, when string, over time.Duration) error {
	gap := over / time.Duration(s.cycles/hands+1)
	var paid atomic.Int64
	err := s.each(ctx, hands, func(ctx context.Context, hand int) error {
		mine := share(s.visited(), hand)
		for i := hand; i < s.cycles && len(mine) > 0; i += hands {
			select {
			case <-ctx.Done():
				return fmt.Errorf("only %d of %d cycles in time: %w", i, s.cycles, context.Cause(ctx))
			case <-time.After(gap):
			}
			s.pay(ctx, visits[i/hands%len(visits)], mine[i/hands%len(mine)], when)
			paid.Add(1)
		}
		return nil
	})
	s.table.count(fmt.Sprintf("cycles of clients that come and go %s, of %d kinds", when, len(visits)), "%d", paid.Load())
	return err
}

// pay pays one visit.
func (s *soak) pay(ctx context.Context, v clientScenario, m *runner, when string) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := v.pay(s, limited, m); err != nil {
		s.table.violation("%s, %s at %s: %v", when, v.name, m.id, err)
	}
}

// visited are the members with visiting clients.
func (s *soak) visited() (visited []*runner) {
	for _, m := range s.runners {
		if m.visited {
			visited = append(visited, m)
		}
	}
	return visited
}

// share are the members of one hand.
func share(members []*runner, hand int) (mine []*runner) {
	for i := hand; i < len(members); i += hands {
		mine = append(mine, members[i])
	}
	return mine
}

// connect connects to a member's process and takes its hello.
func (s *soak) connect(ctx context.Context, m *runner) (*attach.Client, net.Conn, error) {
	conn, err := s.registry.Dial(ctx, m.id)
	if err != nil {
		return nil, nil, err
	}
	client, err := attach.Connect(ctx, conn)
	return client, conn, err
}

// visitInOrder attaches, detaches, and hears the goodbye. The process may first have to notice that an
// earlier client has gone.
func (s *soak) visitInOrder(ctx context.Context, m *runner) error {
	for {
		reason, err := s.attachOnce(ctx, m)
		if err != nil || reason == "detached" {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("not let in: %s", reason)
		}
	}
}

func (s *soak) attachOnce(ctx context.Context, m *runner) (reason string, err error) {
	client, _, err := s.connect(ctx, m)
	if err != nil {
		return "", err
	}
	defer client.Close()
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	err = errors.Join(client.Send(&attach.Attach{V: attach.Version}), client.Send(&attach.Detach{}))
	if err != nil && !errors.Is(err, attach.ErrGone) {
		return "", err
	}
	for {
		m, err := client.Next()
		if err != nil {
			return "", fmt.Errorf("no goodbye: %w", err)
		}
		if bye, ok := m.(*attach.Closing); ok {
			return bye.Reason, nil
		}
	}
}

// say is a visit that says something, and goes without waiting for an answer.
func say(words string) func(*soak, context.Context, *runner) error {
	return func(s *soak, ctx context.Context, m *runner) error {
		_, conn, err := s.connect(ctx, m)
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte(words))
		return errors.Join(err, conn.Close())
	}
}

// visitBriefly connects and goes.
func (s *soak) visitBriefly(ctx context.Context, m *runner) error {
	conn, err := s.registry.Dial(ctx, m.id)
	if err != nil {
		return err
	}
	return conn.Close()
}

// visitKilled attaches at a terminal, and kills the client.
func (s *soak) visitKilled(ctx context.Context, m *runner) error {
	c, err := s.attach(ctx, m, nil)
	if err != nil {
		return err
	}
	c.kill()
	return s.visitInOrder(ctx, m) // the process goes on, and lets the next one in
}

// visitAndLeave attaches at a terminal, and leaves by a key at once.
func (s *soak) visitAndLeave(ctx context.Context, m *runner) error {
	c, err := s.attach(ctx, m, nil)
	if err != nil {
		return err
	}
	if exit := c.leave(); exit != 0 {
		return fmt.Errorf("jp attach ends with %d: %s", exit, c.end())
	}
	return nil
}

// followKilled follows without a terminal, and kills the client at its first
// line.
func (s *soak) followKilled(ctx context.Context, m *runner) error {
	cmd := s.arena.command(ctx, "attach", "--json", string(m.id))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = out.Read(make([]byte, 1))
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // it was killed
	return err
}
