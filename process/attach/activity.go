package attach

import (
	"slices"
	"time"
)

// maxActivities is how many of them a server keeps for peers that come later.
const maxActivities = 64

// most is how much a peer may have left unread to be told of activities still.
const most = 4 << 10

type ongoing struct {
	Activity
	at time.Time // when it was told
}

// begun tells a new peer about it.
func (o ongoing) begun(now time.Time) *Activity {
	a := o.Activity
	a.SinceMS += now.Sub(o.at).Milliseconds()
	return &a
}

// Working tells the peers about an activity. A peer with a long queue is left out.
func (s *Server) Working(a Activity) {
	a.Name, a.Argument, a.Writing = cut(a.Name, longestLine), cut(a.Argument, longestLine), cut(a.Writing, longestLine)
	a.Hook, a.Tail, a.Progress = cut(a.Hook, longestLine), cut(a.Tail, longestLine), cut(a.Progress, longestLine)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ongoing = slices.DeleteFunc(s.ongoing, func(b ongoing) bool {
		return b.Conversation == a.Conversation && b.Seq == a.Seq && b.Name == a.Name
	})
	if !a.Over && len(s.ongoing) < maxActivities {
		s.ongoing = append(s.ongoing, ongoing{a, time.Now()})
	}
	if len(s.peers) == 0 {
		return
	}
	line, err := Encode(&a)
	if err != nil {
		return
	}
	for p := range s.peers {
		p.offer(line)
	}
}
