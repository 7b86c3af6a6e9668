package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest"
	crash "jp/internal/testing/crashtest/row"
	"jp/internal/testing/vendortest"
)

// A compacting command makes one event that changes the content of the next request.
type compacting struct {
	before string // a command that comes before it
	args   string
	adds   string // the type of its event
	turn   bool   // it is a turn, which makes room on its own
}

var compactings = map[string]compacting{
	"by hand":   {args: "compact --keep 1 --json", adds: "compaction"},
	"a trim":    {args: "compact --keep 1 --trim-only --json", adds: "compaction"},
	"an undo":   {before: "compact --keep 1", args: "compact --undo --json", adds: "compaction_undone"},
	"in a turn": {args: "query --format jsonl Next?", adds: "compaction", turn: true},
}

// TestKillsOfCompactions kills jp at the points at which it compacts, or undoes a compaction. The
// conversation then has the event or not. The server takes the next request, with the event or without
// it.
func TestKillsOfCompactions(t *testing.T) {
	t.Parallel()
	for name, c := range compactings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCompactingScene(t, c)
			points := s.whole()
			chosen := evenly(allMoments(points), crash.Of(2, 8, len(points)*2))
			for i, move := range evenly(refMoves(points), crash.Of(1, 4, len(points))) {
				chosen = append(chosen, moment{n: move, after: i%2 == 0}, moment{n: move, after: i%2 != 0})
			}
			violations, with := 0, 0
			for _, m := range chosen {
				had, err := s.try(m)
				if err != nil {
					violations++
					t.Errorf("%s: killed at %v: %v", name, m, err)
				}
				if had {
					with++
				}
			}
			crash.Log(t, crash.Row{
				Class: "b", Name: "a compaction, " + name + ", killed once", Points: len(chosen), Violations: violations,
				Note: fmt.Sprintf("%d left the event, %d did not", with, len(chosen)-with),
			})
		})
	}
}

// A compactingScene is a conversation of three turns, and a command that compacts it.
type compactingScene struct {
	*scene
	does          compacting
	server        *vendortest.Server
	events        int    // at the beginning
	without, with string // the next request: without the command, and after it
}

func newCompactingScene(t *testing.T, c compacting) *compactingScene {
	t.Helper()
	s := &compactingScene{scene: newScene(t, &tally{began: time.Now()}), does: c, server: vendortest.New(t)}
	s.server.Loose() // it is unknown how much reached a killed jp
	s.environ = append(append(s.environ, hasteVariable+"=1"), s.server.Env()...)
	v := vendortest.VendorNamed("anthropic")
	if c.turn {
		s.write("../home/.config/jp/config.toml", fmt.Sprintf("[models.%q]\ncontext = 10000\n", v.Asked()))
	}
	s.write("long.txt", numbered(800))
	s.git("add", ".")
	s.git("commit", "-q", "-m", "lines")
	number := 0
	for turn := range 3 {
		for range 2 {
			number++
			s.server.Say(vendortest.Reply{Reasoning: "Read on.", Text: "I read.", Calls: []vendortest.Call{{
				ID: fmt.Sprintf("call_%d", number), Name: "fs_read_file",
				Arguments: fmt.Sprintf(`{"path":"long.txt","start_line":%d,"end_line":%d}`, 1+number*100, 100+number*100),
			}}})
		}
		s.server.Say(vendortest.Reply{Text: "Read.", Usage: vendortest.Usage{Input: 7000 + turn*1000, Output: 100}})
		s.must(s.at(turn, "query", "-y", "-m", v.Asked(), "--cfg", "compaction.keep_cycles=1", fmt.Sprintf("Question %d", turn)))
	}
	// The server sends a summary if the request asks for one, else an answer.
	s.server.Always(vendortest.Reply{Text: `{"items":[{"text":"Lines were read.","cites":[3,4,5,6]}]}`})
	if c.before != "" {
		s.must(s.at(3, strings.Fields(c.before)...))
	}
	s.copy(s.root, s.begun)
	return s
}

// at runs a jp that must succeed. Its clock begins some minutes later for each step, on the same day in all trials.
func (s *compactingScene) at(step int, args ...string) error {
	p := *s.workspace
	p.environ = s.clock(step)
	if out := p.jp(args...); out.exit != 0 {
		return fmt.Errorf("jp %s: exit %d: %s", strings.Join(args, " "), out.exit, out.stderr)
	}
	return nil
}

func (s *compactingScene) clock(step int) []string {
	start, err := time.Parse(time.RFC3339, epoch)
	s.must(err)
	return append(s.environ[:len(s.environ):len(s.environ)], clockVariable+"="+start.Add(time.Duration(step)*10*time.Minute).Format(time.RFC3339))
}

// reset brings back the beginning.
func (s *compactingScene) reset() {
	s.t.Helper()
	s.scene.reset()
	begun, err := s.readChain()
	s.must(err)
	s.chain, s.events = begun, len(begun.events)
}

// whole runs the command without a kill, and returns its points.
func (s *compactingScene) whole() []crashtest.Point {
	s.t.Helper()
	var err error
	if s.reset(); !s.does.turn {
		s.without, err = s.next()
		s.must(err)
	}
	s.reset()
	traced := s.compact(moment{})
	s.must(s.look(""))
	require.Equal(s.t, 1, s.added())
	s.with, err = s.next()
	s.must(err)
	require.NotEqual(s.t, s.without, s.with)
	return traced.Points
}

// compact runs the command, and kills it at a moment.
func (s *compactingScene) compact(m moment) crashtest.Result {
	s.t.Helper()
	cmd := s.workspace.command(strings.Fields(s.does.args)...)
	cmd.Env = s.clock(4)
	traced, err := crashtest.Run(s.t.Context(), cmd, m.kill())
	if errors.Is(err, crashtest.ErrUnsupported) {
		// Without tracing the test cannot choose the system call at which it kills jp.
		crash.Skip(s.t, "b", "a compaction, killed once", err.Error())
	}
	s.must(err)
	if traced.Killed == nil {
		require.Zero(s.t, traced.Exit)
	}
	return traced
}

// added is how many events of the command's kind there are since the beginning.
func (s *compactingScene) added() (n int) {
	for _, e := range s.chain.events[s.events:] {
		if e.Type == s.does.adds {
			n++
		}
	}
	return n
}

// next is the next request: that of a new turn, or the last one of a resumed turn.
func (s *compactingScene) next() (string, error) {
	args := []string{"query", "-y", "Next?"}
	if s.does.turn && len(s.chain.events) > s.events {
		args = []string{"continue", "-y"} // which does nothing if the turn is complete
	}
	if err := s.at(5, args...); err != nil {
		return "", err
	}
	requests := s.server.Requests()
	return string(requests[len(requests)-1].Body), nil
}

// try kills the command, and checks the result. It reports whether the event is there.
func (s *compactingScene) try(m moment) (had bool, err error) {
	s.reset()
	s.compact(m)
	if err := s.look(""); err != nil {
		return false, err
	}
	had = s.added() == 1
	if more := len(s.chain.events) - s.events; !s.does.turn && (more > 1 || more == 1 != had) {
		return had, fmt.Errorf("%d events are new", more)
	}
	s.passTime()
	request, err := s.next()
	if err == nil {
		err = s.look("")
	}
	switch {
	case err != nil:
		return had, err
	case s.does.turn && s.added() != 1:
		return had, fmt.Errorf("the turn compacted %d times", s.added())
	case s.does.turn && !strings.Contains(request, "[COMPACTED]"):
		return had, fmt.Errorf("the last request has no compaction: %s", request)
	case !s.does.turn && request != map[bool]string{true: s.with, false: s.without}[had]:
		return had, fmt.Errorf("with the event: %v, and the next request is %s", had, request)
	}
	return had, nil
}
