package front

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/fork"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/mcptest"
	"jp/process"
	"jp/process/attach"
	"jp/sandbox"
)

// serverVariable is set if the test's program is to be an MCP server.
const serverVariable = "JP_TEST_SERVER"

// Main runs the tests of a package apart from the host's git configuration and home, so that
// they can be parallel. A package's TestMain calls it. The test's program is also the child that confines a
// tool's program, and the server of [Scratch.Server].
func Main(m *testing.M) {
	if code, asked := sandbox.RunChild(os.Args); asked {
		os.Exit(code)
	}
	if os.Getenv(serverVariable) != "" {
		mcptest.Main()
		return
	}
	home, err := os.MkdirTemp("", "front")
	if err != nil {
		panic(err)
	}
	os.Setenv("TMPDIR", home)
	for _, pair := range gitenv.Env(home) {
		name, value, _ := strings.Cut(pair, "=")
		os.Setenv(name, value)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// A Scratch is a repository with one commit, a home and a clock of its own.
type Scratch struct {
	Dir     string // the working tree; a test may name another one
	First   string // the working tree that New made
	Home    string
	Environ []string // variables besides those that each scratch has

	t      testing.TB
	random source

	mu    sync.Mutex
	now   time.Time
	notes []string
}

// New makes a repository. The store keeps its events without waiting for the disk.
func New(t testing.TB) *Scratch {
	t.Helper()
	dir := gitenv.Repo(t)
	s := &Scratch{Dir: dir, First: dir, Home: folder(t), t: t, now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	s.random.from = rand.NewChaCha8([32]byte{})
	gitenv.Env(s.Home) // writes the configuration
	s.write(filepath.Join(s.Home, ".config/jp/config.toml"), "[store]\ndurability = \"off\"\n")
	return s
}

// Configure adds to the user's configuration.
func (s *Scratch) Configure(text string) {
	s.t.Helper()
	path := filepath.Join(s.Home, ".config/jp/config.toml")
	before, err := os.ReadFile(path)
	require.NoError(s.t, err)
	s.write(path, string(before)+text)
}

// Server is the command line and the environment of an MCP server of mcptest.
func (s *Scratch) Server(args ...string) (argv []string, environ map[string]string) {
	self, err := os.Executable()
	require.NoError(s.t, err)
	return append([]string{self}, args...), map[string]string{serverVariable: "1"}
}

// Read is the text of a file of the working tree, or "".
func (s *Scratch) Read(path string) string {
	text, err := os.ReadFile(filepath.Join(s.Dir, path))
	if !os.IsNotExist(err) {
		require.NoError(s.t, err)
	}
	return string(text)
}

// Git runs git in the working tree, and returns its output. Its commits are of an hour before the scratch's
// time.
func (s *Scratch) Git(args ...string) string {
	s.t.Helper()
	at := s.Now().Add(-time.Hour).Format(time.RFC3339)
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.Dir, append(gitenv.Env(s.Home), "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, "git %s: %s", args, out)
	return strings.TrimSuffix(string(out), "\n")
}

// Commit commits all files of the working tree.
func (s *Scratch) Commit() {
	s.t.Helper()
	s.Git("add", "-A")
	s.Git("commit", "-q", "-m", "files")
}

// Write makes a file of the working tree.
func (s *Scratch) Write(path, text string) { s.write(filepath.Join(s.Dir, path), text) }

// WriteOwn makes a file of the user's home.
func (s *Scratch) WriteOwn(path, text string) { s.write(filepath.Join(s.Home, path), text) }

func (s *Scratch) write(path, text string) {
	s.t.Helper()
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
}

// Exists reports whether the working tree has a file.
func (s *Scratch) Exists(path string) bool {
	_, err := os.Stat(filepath.Join(s.Dir, path))
	return err == nil
}

// folder makes a folder with a short name. Main removes files that a program of the background still writes
// there.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Model names the model that answers with a script of provider/script.
func (s *Scratch) Model(script string) string {
	path := filepath.Join(folder(s.t), "talk.toml")
	s.write(path, script)
	return "script/" + path
}

// Now is the time of the scratch's clock.
func (s *Scratch) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Notes are the lines that jp said beside results.
func (s *Scratch) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.notes...)
}

func (s *Scratch) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, line)
}

// Tick moves the clock.
func (s *Scratch) Tick(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(by)
}

// Host is the system as jp sees it in the scratch.
func (s *Scratch) Host() *repo.Host {
	return &repo.Host{
		Environ: append(append(gitenv.Env(s.Home), "JP_SESSION=test", "CI=true"), s.Environ...), Dir: s.Dir, Now: s.Now, Random: &s.random,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Notify: s.note,
	}
}

// Open opens the repository as each command of jp does.
func (s *Scratch) Open() *repo.Repo {
	s.t.Helper()
	r, err := repo.Open(s.t.Context(), s.Host())
	require.NoError(s.t, err)
	return r
}

// Ask runs one request in a repository that is opened for it.
func (s *Scratch) Ask(f *Front, request agent.Request) error {
	s.t.Helper()
	r := s.Open()
	defer r.Close()
	s.Await(r, conversation.ID(request.Target.ID))
	return agent.Ask(s.t.Context(), r, request, f)
}

// Await waits until the lock of a conversation is free, if it is not "". A program that another test starts
// has a copy of every lock of this process until it is executed. Await keeps programs from starting
// meanwhile.
func (s *Scratch) Await(r *repo.Repo, id conversation.ID) {
	s.t.Helper()
	if id == "" {
		return
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		held, err := r.Locks.Take(id, process.Holder{})
		if err == nil {
			require.NoError(s.t, held.Release())
			return
		}
		require.ErrorIs(s.t, err, process.ErrLocked)
		select {
		case <-again.C:
		case <-s.t.Context().Done():
			return
		}
	}
}

// Request is a request for a new conversation.
func (s *Scratch) Request(script, text string) agent.Request {
	return agent.Request{Target: agent.Target{New: true}, Input: agent.Input{Text: []string{text}}, Turn: agent.TurnOptions{Model: s.Model(script)}}
}

// Over is the end of a script: the model's last answer.
const Over = "[[reply]]\nmessage = \"Over.\"\ntimes = 9\n"

// Calls is a script of one reply with tool calls, each as NAME ARGUMENTS, and then [Over].
func Calls(all ...string) string {
	text := "[[reply]]\n"
	for _, c := range all {
		name, arguments, _ := strings.Cut(c, " ")
		text += "[[reply.tool_call]]\nname = \"" + name + "\"\narguments = " + arguments + "\n"
	}
	return text + Over
}

// Bodies are those of one type among events.
func Bodies[B conversation.Body](events []*conversation.Event) (all []B) {
	for _, e := range events {
		if b, is := e.Body.(B); is {
			all = append(all, b)
		}
	}
	return all
}

// Next is a request in a conversation.
func Next(id conversation.ID, text string) agent.Request {
	return agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{Text: []string{text}}}
}

// Resume is a request that goes on with an interrupted turn.
func Resume(id conversation.ID) agent.Request {
	return agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{None: true}, Resume: agent.ResumeOptions{Continue: true}}
}

// Discard is a request that takes an interrupted turn back.
func Discard(id conversation.ID) agent.Request {
	return agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{None: true}, Resume: agent.ResumeOptions{Discard: true}}
}

// Answer records a word, or true or false, as the answer to the question with which a conversation waits.
func (s *Scratch) Answer(id conversation.ID, word any) error {
	s.t.Helper()
	r := s.Open()
	defer r.Close()
	s.Await(r, id)
	_, _, err := agent.AnswerRecorded(s.t.Context(), &Front{}, r, id, -1, func(_ context.Context, i attach.Inquiry) (attach.Answer, error) {
		s.Await(r, id) // it is free while the user is asked
		value, err := json.Marshal(word)
		return attach.Answer{Conversation: i.Conversation, Seq: i.Seq, Outcome: conversation.OutcomeAnswered, Value: value}, err
	})
	return err
}

// Compact compacts a conversation.
func (s *Scratch) Compact(f *Front, request agent.CompactRequest) (agent.Compacted, error) {
	s.t.Helper()
	r := s.Open()
	defer r.Close()
	s.Await(r, conversation.ID(request.ID))
	return agent.Compact(s.t.Context(), r, request, f)
}

// Fork makes a fork of a conversation that ends at an event.
func (s *Scratch) Fork(id conversation.ID, until int) conversation.ID {
	s.t.Helper()
	return s.ForkAs(id, fork.ForkCut{Until: strconv.Itoa(until)})
}

// ForkAs makes a fork of a part of a conversation.
func (s *Scratch) ForkAs(id conversation.ID, cut fork.ForkCut) conversation.ID {
	s.t.Helper()
	r := s.Open()
	defer r.Close()
	v, err := cut.View(s.t.Context(), r, string(id))
	require.NoError(s.t, err)
	f, err := fork.New(v, cut)
	require.NoError(s.t, err)
	place, err := snapshot.Here(s.t.Context(), r)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Create(s.t.Context(), place))
	return f.ID
}

// Load reads all events of a conversation.
func (s *Scratch) Load(id conversation.ID) []*conversation.Event {
	s.t.Helper()
	r := s.Open()
	defer r.Close()
	v, err := r.Find().View(s.t.Context(), r.Env, string(id))
	require.NoError(s.t, err)
	return v.Events
}

// A source gives the same bytes in each run of a test.
type source struct {
	mu   sync.Mutex
	from *rand.ChaCha8
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from.Read(p)
}
