package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// followed is how many conversations are followed from their start.
const followed = 4

// A heard is an event that a follower was told of: from then on it counts as
// durable.
type heard struct {
	Seq    *int      `json:"seq"`
	Type   string    `json:"type"`
	Commit string    `json:"commit"`
	Time   time.Time `json:"time"`
}

// follow runs jp attach --json on a member until ctx ends, and keeps its output: the commit of each event.
// From the second line on it times how long after its event a line comes.
func (s *soak) follow(ctx context.Context, m *runner) (map[int]string, error) {
	cmd := s.arena.command(ctx, "attach", "--json", string(m.id))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	told := map[int]string{}
	last := -1
	for lines := bufio.NewScanner(out); lines.Scan(); {
		now := time.Now()
		var h heard
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			break // cut off by the end of the follower
		}
		if h.Type == "attached" && h.Seq != nil {
			last = *h.Seq // earlier events are read instead of heard
		}
		if h.Commit == "" || h.Seq == nil {
			continue
		}
		told[*h.Seq] = h.Commit
		if *h.Seq > last {
			s.lags.add(now.Sub(h.Time))
		}
	}
	err = cmd.Wait()
	if ctx.Err() == nil {
		return told, fmt.Errorf("the follower of %s ended: %v", m.id, err)
	}
	return told, nil
}
