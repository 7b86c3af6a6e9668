package attach

import (
	"bufio"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// A peer is one connection of a server. What it is sent waits in a queue, so that
// nobody waits for it.
type peer struct {
	conn net.Conn

	mu     sync.Mutex
	queue  [][]byte
	unsent int
	limit  int           // of unsent; what a peer does not take beyond it ends the connection
	news   chan struct{} // something is in the queue, or nothing more will be
	ending bool          // the connection ends when the queue is empty
}

func newPeer(conn net.Conn) *peer {
	return &peer{conn: conn, limit: 1 << 30, news: make(chan struct{}, 1)}
}

// greeted bounds the queue from now on, besides what is in it already.
func (p *peer) greeted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = p.unsent + maxUnsent
}

// send queues a message.
func (p *peer) send(m Message) {
	if line, err := Encode(m); err == nil {
		p.put(line)
	}
}

// put queues a line. A peer that is too slow is cut off.
func (p *peer) put(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending {
		return
	}
	if p.unsent+len(line) > p.limit {
		p.ending, p.queue = true, nil
		p.conn.Close()
	} else {
		p.queue = append(p.queue, line)
		p.unsent += len(line)
	}
	p.wake()
}

func (p *peer) wake() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// sayBye queues the last message; the connection ends behind it, or when that
// takes too long.
func (p *peer) sayBye(bye *Bye) {
	p.send(bye)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending = true
	_ = p.conn.SetDeadline(time.Now().Add(farewell))
	p.wake()
}

// write sends what is queued until the connection ends.
func (p *peer) write() {
	defer p.conn.Close()
	for range p.news {
		for {
			p.mu.Lock()
			batch, ending := slices.Concat(p.queue...), p.ending
			p.queue = nil
			p.mu.Unlock()
			if len(batch) == 0 {
				if ending {
					return
				}
				break
			}
			if _, err := p.conn.Write(batch); err != nil {
				p.stop()
				return
			}
			p.mu.Lock()
			p.unsent -= len(batch)
			p.mu.Unlock()
		}
	}
}

// stop ends the connection at once.
func (p *peer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending, p.queue = true, nil
	p.conn.Close()
	p.wake()
}

// listen takes what a peer says until its connection ends.
func (s *Server) listen(p *peer) {
	defer s.leave(p)
	lines := bufio.NewScanner(p.conn)
	lines.Buffer(nil, MaxFrame)
	for lines.Scan() {
		m, err := Decode(lines.Bytes())
		if err != nil {
			p.sayBye(&Bye{Reason: err.Error()})
			return
		}
		if m != nil && !s.take(p, m) {
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		p.sayBye(&Bye{Reason: ErrTooLong.Error()})
	}
}

// leave forgets a peer.
func (s *Server) leave(p *peer) {
	p.mu.Lock()
	said := p.ending
	p.mu.Unlock()
	if !said {
		p.stop()
	}
	s.mu.Lock()
	delete(s.peers, p)
	was := s.attached == p
	if was {
		s.setAttached(nil)
	}
	s.mu.Unlock()
	if was {
		s.opts.Changed()
	}
}

// take does what a peer says; false ends the connection.
func (s *Server) take(p *peer, m Message) bool {
	switch m := m.(type) {
	case *Attach:
		return s.attach(p, m)
	case *Answer:
		s.answer(p, m)
	case *Interrupt:
		s.interrupt(p, m)
	case *Detach:
		p.sayBye(&Bye{Reason: "detached"})
		return false
	case *Shutdown:
		s.opts.Shutdown()
	}
	return true
}

// attach makes a peer the one who is asked.
func (s *Server) attach(p *peer, m *Attach) bool {
	if m.V != Version {
		p.sayBye(&Bye{Reason: (&VersionError{Theirs: m.V}).reason()})
		return false
	}
	s.mu.Lock()
	taken := s.attached != nil && s.attached != p
	if !taken && s.attached == nil {
		s.setAttached(p)
	}
	s.mu.Unlock()
	if taken {
		p.sayBye(&Bye{Reason: "somebody is attached already"})
		return false
	}
	s.opts.Changed()
	return true
}

func (s *Server) interrupt(p *peer, m *Interrupt) {
	if m.Action == "" {
		status := s.opts.Doing()
		status.Subject = cut(status.Subject, longestLine)
		p.send(&status)
		return
	}
	if err := s.opts.Interrupt(*m); err != nil {
		p.send(&Refused{Reason: err.Error()})
	}
}
