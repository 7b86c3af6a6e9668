package attach

import (
	"bufio"
	"errors"
)

// listen reads a peer's messages until its connection ends.
func (s *Server) listen(p *peer) {
	defer s.leave(p)
	lines := frames(p.conn)
	for lines.Scan() {
		m, err := Decode(lines.Bytes())
		if err != nil {
			s.dismiss(p, err.Error())
			return
		}
		if m != nil && !s.take(p, m) {
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		s.dismiss(p, ErrTooLong.Error())
	}
}

// leave forgets a peer.
func (s *Server) leave(p *peer) {
	p.left()
	s.mu.Lock()
	delete(s.peers, p)
	s.mu.Unlock()
	s.release(p)
}

// dismiss says goodbye to a peer. Who hears that may take its place at once.
func (s *Server) dismiss(p *peer, reason string) {
	s.release(p)
	p.sayBye(Closing{Reason: reason})
}

// take acts on a peer's message. It is false to end the connection.
func (s *Server) take(p *peer, m Message) bool {
	switch m := m.(type) {
	case *Attach:
		return s.attach(p, m)
	case *Answer:
		s.answer(p, m)
	case *Interrupt:
		s.interrupt(p, m)
	case *Say:
		return s.say(p, m)
	case *Detach:
		s.dismiss(p, "detached")
		return false
	case *Shutdown:
		s.opts.Shutdown()
	}
	return true
}

// attach makes a peer the one who is asked.
func (s *Server) attach(p *peer, m *Attach) bool {
	if m.V != Version {
		s.dismiss(p, (&VersionError{Theirs: m.V}).reason())
		return false
	}
	s.mu.Lock()
	before := s.attached
	if before == nil {
		s.setAttached(p)
	}
	s.mu.Unlock()
	switch before {
	case nil:
		s.opts.Changed()
	case p:
	default:
		s.dismiss(p, "another terminal is attached already")
		return false
	}
	return true
}

// release frees the place of the one who is asked, if the peer has it.
func (s *Server) release(p *peer) {
	s.mu.Lock()
	was := s.attached == p
	if was {
		s.setAttached(nil)
	}
	s.mu.Unlock()
	if was {
		s.opts.Changed()
	}
}

// setAttached changes who is attached. The lock is held; Changed is to be called
// behind it.
func (s *Server) setAttached(p *peer) {
	s.attached = p
	close(s.moved)
	s.moved = make(chan struct{})
}

// say keeps a peer's message. Of a turn that is ending the peer hears the goodbye.
func (s *Server) say(p *peer, m *Say) bool {
	waiting, err := s.opts.Say(m.Text)
	switch {
	case errors.Is(err, ErrEnding):
		s.dismiss(p, err.Error())
		return false
	case err != nil:
		p.refuse(0, err.Error())
	default:
		p.send(&Queued{Waiting: waiting})
	}
	return true
}

func (s *Server) interrupt(p *peer, m *Interrupt) {
	if m.Action == "" {
		status := s.opts.Doing()
		status.Tool, status.Subject = cut(status.Tool, longestLine), cut(status.Subject, longestLine)
		p.send(&status)
		return
	}
	if err := s.opts.Interrupt(*m); err != nil {
		p.refuse(0, err.Error())
	}
}
