package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// A codexThread is the part of a rollout behind one place at which the user discarded turns. It leaves the
// thread before it.
type codexThread struct {
	parent  int
	started time.Time
	first   int64 // line
	upTo    int64 // the parent's first unshared line
	asked   []int64
}

// maxAsked bounds how many turns can be taken back at once.
const maxAsked = 1 << 16

// Threads implements [Threaded]. The session itself is the part before the first discarded turn. The rest is
// a branch, which leaves it before that turn.
func (c codex) Threads(file io.ReadSeeker, path string) ([]Thread, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	found, spawned := []*codexThread{{parent: -1}}, codexSpawns{}
	lines := linesOf(file)
	for n := int64(0); ; n++ {
		line, refused, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		now := found[len(found)-1]
		if refused == "" {
			spawned.note(line)
		}
		switch {
		case refused != "":
		case bytes.Contains(line, []byte(`"thread_rolled_back"`)):
			if b := rolledBack(line, now, len(found)-1, n); b != nil && len(found) < maxThreads {
				found = append(found, b)
			}
		case bytes.Contains(line, []byte(`"user"`)) && codexAsks(line) && len(now.asked) < maxAsked:
			now.asked = append(now.asked, n)
		}
	}
	var threads []Thread
	for i, t := range found {
		thread := Thread{Started: t.started, Decode: func(s *Session, yield func(Record) error) error {
			return decodeCodex(file, found, i, spawned, s, yield)
		}}
		if i > 0 {
			thread.Key = fmt.Sprintf("rollback-%d", i)
		}
		if t.parent > 0 {
			thread.Parent = fmt.Sprintf("rollback-%d", t.parent)
		}
		threads = append(threads, thread)
	}
	if len(spawned) == 0 || path == "" {
		return threads, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	session, _, err := identify(c, file, path)
	if err != nil {
		return nil, err
	}
	return codexSides(threads, path, session.ID, spawned), nil
}

// rolledBack is the thread that begins at a line, nil if the line discards no turns.
func rolledBack(line []byte, now *codexThread, at int, n int64) *codexThread {
	var l codexLine
	if !l.read(line) || l.Type != "event_msg" {
		return nil
	}
	var event struct {
		Type  string `json:"type"`
		Turns int    `json:"num_turns"`
	}
	started := parseTime(l.Timestamp)
	if json.Unmarshal(l.Payload, &event) != nil || event.Type != "thread_rolled_back" || event.Turns < 1 || len(now.asked) == 0 || started.IsZero() {
		return nil
	}
	keep := max(0, len(now.asked)-event.Turns)
	return &codexThread{parent: at, started: started, first: n, upTo: now.asked[keep], asked: slices.Clone(now.asked[:keep])}
}

// codexAsks reports whether a line has the user's words.
func codexAsks(line []byte) bool {
	var l codexLine
	if !l.read(line) {
		return false
	}
	payload := l.Payload
	if len(payload) == 0 {
		payload = line
	} else if l.Type != "response_item" {
		return false
	}
	var item codexItem
	if json.Unmarshal(payload, &item) != nil || item.Type != "message" || item.Role != "user" {
		return false
	}
	text := (&codexDecoder{session: new(Session)}).texts(item.Content)
	return text != "" && !codexContext(item, text)
}

// decodeCodex gives the records of a thread.
func decodeCodex(file io.ReadSeeker, all []*codexThread, thread int, spawned codexSpawns, s *Session, yield func(Record) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	shared := map[int]int64{} // threads that it leaves, and the end of the shared part
	for at, upTo := all[thread].parent, all[thread].upTo; at >= 0; at, upTo = all[at].parent, min(upTo, all[at].upTo) {
		shared[at] = upTo
	}
	d := codexDecoder{session: s, yield: yield, spawned: spawned}
	lines, owner := linesOf(file), 0
	for n := int64(0); ; n++ {
		line, refused, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for owner+1 < len(all) && all[owner+1].first <= n {
			if owner++; owner == thread {
				if err := yield(Record{Kind: KindBranch}); err != nil {
					return err
				}
			}
		}
		if upTo, shares := shared[owner]; owner > thread {
			return nil
		} else if owner != thread && !(shares && n < upTo) {
			continue
		}
		if refused != "" {
			count(&s.Refused, refused)
			continue
		}
		if err := d.line(line); err != nil {
			return err
		}
	}
}
