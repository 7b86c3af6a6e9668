package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

func failing(kind vendortest.FailureKind) vendortest.Reply {
	return vendortest.Reply{Fail: &vendortest.Failure{Kind: kind}}
}

// TestFailuresSayTheWayOut lets each vendor refuse, in its own words.
func TestFailuresSayTheWayOut(t *testing.T) {
	t.Parallel()
	for kind, says := range map[vendortest.FailureKind][]string{
		vendortest.BadKey:     {" refuses the key: ", "\n  The key is that of $", "jp continue "},
		vendortest.NoMoney:    {" says that the account has nothing left to spend: ", "jp continue "},
		vendortest.NoModel:    {" has no such model, or not for this account: ", "\n    jp models ", " -m PROVIDER/NAME"},
		vendortest.TooLong:    {" cannot read so much: ", "jp query --new ", " -m PROVIDER/NAME"},
		vendortest.BadRequest: {" refuses the request: ", "jp continue "},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			for _, v := range vendortest.Vendors() {
				s.Say(failing(kind), vendortest.Reply{Text: "After all."})
				s.Forget()
				out := p.jp("query", "--new", "-m", v.Asked(), "Hello")
				require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
				require.Contains(t, out.stderr, "\nError: "+v.Name+says[0])
				require.Contains(t, out.stderr, ". Your question is recorded.\n")
				for _, words := range says[1:] {
					require.True(t, v.KeyEnv() == "" || strings.Contains(out.stderr, words), out.stderr)
				}
				require.NotContains(t, out.stderr, "Post ")
				if v.Key() != "" {
					require.NotContains(t, out.stderr, v.Key())
				}
				if kind == vendortest.NoModel {
					_, model, _ := strings.Cut(v.Asked(), "/")
					require.Contains(t, p.helps(out.stderr, "models-of").stdout, model)
				}
				require.Equal(t, "After all.\n", p.jp("continue").stdout)
			}
			require.Zero(t, s.Left())
		})
	}
}

// The hint beside a request that is too long is a command that helps.
func TestAForkOfTheLastTurnsIsShortEnough(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	s.Loose()
	v := vendortest.VendorNamed("anthropic")
	for _, text := range []string{"One", "Two", "Three", "Four"} {
		s.Say(vendortest.Reply{Text: text})
		p.asks(v, text)
	}
	s.Say(failing(vendortest.TooLong))
	out := p.jp("query", "--cfg", "compaction.auto=false", "Five")
	require.Equal(t, problem.ExitProvider, out.exit)
	forked := p.helps(out.stderr, "fork-last")
	require.Zero(t, forked.exit, forked.stderr)
	s.Say(vendortest.Reply{Text: "Short enough."})
	out = p.jp("continue")
	require.Equal(t, "Short enough.\n", out.stdout, out.stderr)
	sent := s.Requests()
	last := string(sent[len(sent)-1].Body)
	require.Contains(t, last, `"text":"Three"`)
	require.NotContains(t, last, `"text":"One"`)
}

// TestVendorsAreAskedAgain lets jp ask again as long as that may help, and print the time to wait.
func TestVendorsAreAskedAgain(t *testing.T) {
	t.Parallel()
	wait := func(header map[string]string) vendortest.Reply {
		return vendortest.Reply{Fail: &vendortest.Failure{Kind: vendortest.RateLimit, Header: header}}
	}
	cut := func(c vendortest.Cut) vendortest.Reply {
		r := working()[0]
		r.Cut = &c
		return r
	}
	for name, tc := range map[string]struct {
		reply vendortest.Reply
		says  string
	}{
		"seconds":           {wait(map[string]string{"Retry-After": "7"}), "trying again in 7 s\n"},
		"a date":            {wait(map[string]string{"Date": "Sat, 21 Nov 2026 12:00:00 GMT", "Retry-After": "Sat, 21 Nov 2026 12:00:09 GMT"}), "trying again in 9 s\n"},
		"milliseconds":      {wait(map[string]string{"Retry-After-Ms": "250"}), "trying again in 250 ms\n"},
		"overloaded":        {failing(vendortest.Overloaded), "overloaded"},
		"broken":            {failing(vendortest.Broken), "overloaded"},
		"at once":           {cut(vendortest.Cut{}), "the stream ended before the answer did; trying again"},
		"behind a thought":  {cut(vendortest.Cut{Behind: vendortest.MarkReasoning}), "disconnect"},
		"behind the text":   {cut(vendortest.Cut{Behind: vendortest.MarkText}), "disconnect"},
		"as if whole":       {cut(vendortest.Cut{Behind: vendortest.MarkText, How: vendortest.End}), "trying again"},
		"an error event":    {cut(vendortest.Cut{Behind: vendortest.MarkText, How: vendortest.Fail}), "overloaded"},
		"silence":           {cut(vendortest.Cut{Behind: vendortest.MarkText, How: vendortest.Silent}), "timeout"},
		"silence, at once":  {cut(vendortest.Cut{How: vendortest.Silent}), "timeout"},
		"behind both calls": {cut(vendortest.Cut{Behind: vendortest.MarkCall}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			s.Loose()
			if tc.says == "timeout" { // elsewhere a slow machine is no silence
				p.environ = append(p.environ, "JP_CFG_LIMITS__MODEL_SILENCE=1s")
			}
			for _, v := range vendortest.Vendors() {
				s.Say(tc.reply, vendortest.Reply{Text: greeting})
				out := p.asks(v, "--new", "Hello")
				require.Equal(t, greeting+"\n", out.stdout)
				require.Contains(t, out.stderr, tc.says, v.Name)
			}
			require.Zero(t, s.Left())
		})
	}
}

// TestProgressBeginsTheTriesAnew fails four times before each of two answers, and
// then for good.
func TestProgressBeginsTheTriesAnew(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	four := []vendortest.Reply{failing(vendortest.Overloaded), failing(vendortest.Overloaded), failing(vendortest.Overloaded), failing(vendortest.Overloaded)}
	replies := working()
	s.Say(append(append(four, replies[0]), append(four, replies[2])...)...)
	v := vendortest.VendorNamed("openai")
	require.Equal(t, greeting+"\n", p.asks(v, "Hello").stdout)
	s.Say(append(four, four[0])...)
	out := p.jp("query", "And now?")
	require.Equal(t, problem.ExitProvider, out.exit)
	require.Contains(t, out.stderr, "openai is overloaded or out of order: HTTP 503: Our servers are currently overloaded. Please try again later; gave up after 5 tries. Your")
	s.Say(vendortest.Reply{Text: "At last."})
	require.Equal(t, "At last.\n", p.jp("continue").stdout)
	s.AppendOnly()
	bodies := s.Requests()
	require.Equal(t, string(bodies[len(bodies)-2].Body), string(bodies[len(bodies)-1].Body), "what failed is sent again as it was")
	require.Zero(t, s.Left())
}

// TestInterruptsWhileAVendorIsAsked ends jp while it waits: for the time to ask
// again, for the first word, and for the next one.
func TestInterruptsWhileAVendorIsAsked(t *testing.T) {
	t.Parallel()
	late := vendortest.Reply{Fail: &vendortest.Failure{Kind: vendortest.RateLimit, Header: map[string]string{"Retry-After": "60"}}}
	silent := func(mark vendortest.Mark) vendortest.Reply {
		return vendortest.Reply{Reasoning: "Hm.", Text: "Half of", Cut: &vendortest.Cut{Behind: mark, How: vendortest.Silent}}
	}
	for name, reply := range map[string]vendortest.Reply{
		"before the next try": late, "before the first word": silent("nothing"), "in the midst": silent(vendortest.MarkText),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t, reply)
			s.Loose()
			p.environ = append(p.environ, hasteVariable+"=") // it waits as it does for a user
			cmd := p.command("query", "-m", vendortest.VendorNamed("google").Asked(), "Hello")
			said := &watched{until: "trying again in 60 s", seen: make(chan struct{})}
			cmd.Stderr = said
			require.NoError(t, cmd.Start())
			if reply.Fail != nil {
				<-said.seen
			} else {
				<-s.FellSilent()
			}
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			require.Equal(t, problem.ExitInterrupted, exitOf(t, cmd.Wait()))
			s.Say(vendortest.Reply{Text: "At last."})
			require.Equal(t, "At last.\n", p.jp("continue").stdout)
		})
	}
}

// A watched is a writer that tells when a text was written.
type watched struct {
	until string
	seen  chan struct{}
	text  strings.Builder
	done  bool
}

// Write implements [io.Writer].
func (w *watched) Write(p []byte) (int, error) {
	w.text.Write(p)
	if !w.done && strings.Contains(w.text.String(), w.until) {
		w.done = true
		close(w.seen)
	}
	return len(p), nil
}

func TestNothingAnswers(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	address := s.Listener.Addr().String()
	s.Close()
	for _, v := range vendortest.Vendors() {
		out := p.jp("query", "--new", "-m", v.Asked(), "Hello")
		require.Equal(t, problem.ExitProvider, out.exit)
		require.Contains(t, out.stderr, "Error: "+v.Name+" cannot be reached, or its answer broke off: nothing answers at "+address+"; gave up after 5 tries. Your")
		require.NotContains(t, out.stderr, "dial")
	}
}

// jp does not advise a fork that leaves no turn out.
func TestTooLongForAFewTurns(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	v := vendortest.Vendors()[0]
	for turns, says := range []string{"", " --last 1 -a  ", " --last 2 -a  ", " --last 3 -a  ", " --last 3 -a  "} {
		s.Say(failing(vendortest.TooLong), vendortest.Reply{Text: "After all."})
		out := p.jp("query", "-m", v.Asked(), "Hello")
		require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
		require.Contains(t, out.stderr, "jp query --new ")
		require.Contains(t, out.stderr, says)
		require.Equal(t, turns > 0, strings.Contains(out.stderr, "jp fork "), out.stderr)
		require.Equal(t, "After all.\n", p.jp("continue").stdout)
	}
}

// The end of an answer decides jp's exit.
func TestEndsOfAnswers(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t)
	for _, v := range vendortest.Vendors() {
		for finish, exit := range map[vendortest.Finish]int{vendortest.FinishLength: 0, vendortest.FinishFiltered: 1, vendortest.FinishRefusal: 1} {
			s.Loose()
			s.Say(vendortest.Reply{Text: "Half an ans", Finish: finish})
			out := p.jp("query", "--new", "-m", v.Asked(), "Hello")
			require.Equal(t, exit, out.exit, "%s, %s: %s", v.Name, finish, out.stderr)
			s.Say(vendortest.Reply{Text: "Over."})
			require.Equal(t, "Over.\n", p.asks(v, "Go on").stdout)
		}
	}
}
