package google

import (
	"io"
	"time"
)

// grace is how long the end of a stream may take once the answer is whole.
const grace = time.Second

// A silence ends a request for which nothing has come for too long. Only the
// time spent waiting counts, not what the caller does in between.
type silence struct {
	limit time.Duration // 0: none
	timer *time.Timer
}

func newSilence(limit time.Duration, end func()) *silence {
	timer := time.AfterFunc(time.Hour, end)
	timer.Stop()
	return &silence{limit: limit, timer: timer}
}

func (s *silence) begin() {
	if s.limit > 0 {
		s.timer.Reset(s.limit)
	}
}

func (s *silence) end() { s.timer.Stop() }

// shorten makes the limit that of an answer that has ended.
func (s *silence) shorten() {
	if s.limit == 0 || s.limit > grace {
		s.limit = grace
	}
}

// A timedReader reads within a silence.
type timedReader struct {
	io.Reader
	silence *silence
}

// Read waits no longer than the silence may last.
func (r timedReader) Read(p []byte) (int, error) {
	r.silence.begin()
	defer r.silence.end()
	return r.Reader.Read(p)
}
