package live_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/live"
	"jp/agent/repo"
	"jp/conversation"
	"jp/process"
	"jp/process/attach"
)

// A machine has one repository, whose conversations the test runs as processes do.
type machine struct {
	t    *testing.T
	repo *repo.Repo
	runs map[int]*run
}

// A run is a process: a lock, an entry and a socket.
type run struct {
	lock   *process.Lock
	server *attach.Server
}

func newMachine(t *testing.T) (*machine, *live.Board) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	for _, folder := range []string{work, filepath.Join(dir, "home")} {
		require.NoError(t, os.Mkdir(folder, 0o700))
	}
	environ := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
	}
	git := exec.Command("git", "init", "-q")
	git.Dir, git.Env = work, environ
	out, err := git.CombinedOutput()
	require.NoError(t, err, "%s", out)
	host := func(dir string) *repo.Host {
		return &repo.Host{Environ: environ, Dir: dir, Now: time.Now, Random: rand.Reader}
	}
	m := &machine{t: t, runs: map[int]*run{}}
	m.repo, err = repo.Open(t.Context(), host(work))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.repo.Close()) })
	here, err := repo.Find(t.Context(), host(work))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, here.Close()) })
	board := live.NewBoard(host, here, here.Paths.DataDir)
	t.Cleanup(func() {
		for n := range m.runs {
			m.end(n)
		}
	})
	return m, board
}

func boardID(n int) conversation.ID {
	return conversation.ID(fmt.Sprintf("jp-c1796014000%d-aa%02d", n%10, n))
}

// create begins a conversation: a request without an answer.
func (m *machine) create(n int) {
	m.record(n, "", 0, &conversation.TurnStart{Model: "script/x", JP: "0"}, &conversation.ChatRequest{Content: fmt.Sprintf("Request %d", n)})
}

func (m *machine) add(n int, bodies ...conversation.Body) {
	info, err := m.repo.Store.Info(m.t.Context(), boardID(n))
	require.NoError(m.t, err)
	m.record(n, info.Head, info.Summary.Events, bodies...)
}

func (m *machine) record(n int, head conversation.Head, seq int, bodies ...conversation.Body) {
	var events []*conversation.Event
	for i, body := range bodies {
		e := &conversation.Event{Seq: seq + i, Turn: 1, Time: time.Now().UTC(), Body: body, Model: "script/x", Subject: fmt.Sprint(body.Type())}
		events = append(events, e)
	}
	var err error
	if head == "" {
		_, err = m.repo.Store.Create(m.t.Context(), boardID(n), "", events)
	} else {
		_, err = m.repo.Store.Append(m.t.Context(), boardID(n), head, events)
	}
	require.NoError(m.t, err)
	if r := m.runs[n]; r != nil {
		r.server.Recorded(events)
	}
}

func (m *machine) answer(n int) {
	end := conversation.CallEnd{Finish: conversation.FinishStop, Usage: &conversation.Usage{Input: 3, Output: 2}}
	m.add(n, &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "First.\nLast.\n", CallEnd: end}, &conversation.TurnDone{})
}

// ask lets a process ask whether a tool may run.
func (m *machine) ask(n int) {
	m.add(n,
		&conversation.ToolCallRequest{Call: 1, ID: "c1", Name: "shell_run", Arguments: []byte(`{}`), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}},
		&conversation.InquiryRequest{For: 2, Kind: conversation.KindRunTool, Question: conversation.Question{Text: "Run it?"}})
	m.runs[n].server.Ask(attach.Inquiry{Conversation: boardID(n), Seq: 3, Kind: conversation.KindRunTool, Text: "Run it?"})
}

func (m *machine) allow(n int) {
	m.add(n, &conversation.InquiryResponse{For: 3, Outcome: conversation.OutcomeAnswered, Answer: []byte(`"run"`), By: conversation.ByUser})
}

func (m *machine) start(n int) {
	lock, err := m.repo.Locks.Take(boardID(n), process.Holder{PID: os.Getpid(), Started: time.Now()})
	require.NoError(m.t, err)
	registry, err := m.repo.Processes().Registry()
	require.NoError(m.t, err)
	listener, err := registry.Listen(boardID(n))
	require.NoError(m.t, err)
	info, err := m.repo.Store.Info(m.t.Context(), boardID(n))
	require.NoError(m.t, err)
	r := &run{lock: lock, server: attach.NewServer(attach.Options{Conversation: boardID(n), PID: os.Getpid(), Head: info.Head, Seq: info.Summary.Events - 1})}
	r.server.Serve(listener)
	m.runs[n] = r
	require.NoError(m.t, registry.Put(process.Entry{
		ConversationID: boardID(n), PID: os.Getpid(), Start: process.StartOf(os.Getpid()), Worktree: m.repo.At.TopLevel,
		StartedAt: time.Now().UTC(), Status: process.StatusRunning,
	}))
}

func (m *machine) end(n int) {
	r := m.runs[n]
	delete(m.runs, n)
	registry, err := m.repo.Processes().Registry()
	require.NoError(m.t, err)
	require.NoError(m.t, registry.Remove(boardID(n)))
	r.server.Close(attach.Closing{Reason: "ended"})
	require.NoError(m.t, r.lock.Release())
}

// held lets a command without an entry, such as jp edit, hold a conversation while it does something.
func (m *machine) held(n int, do func(info conversation.Info)) {
	lock, err := m.repo.Locks.Take(boardID(n), process.Holder{PID: os.Getpid(), Started: time.Now()})
	require.NoError(m.t, err)
	info, err := m.repo.Store.Info(m.t.Context(), boardID(n))
	require.NoError(m.t, err)
	do(info)
	require.NoError(m.t, lock.Release())
}

// A shownRow has the fields of a row that a test compares.
type shownRow struct {
	Title string
	Group live.Group
	Runs  bool
	Asks  bool
	Last  string
}

func shownRows(b *live.Board) map[conversation.ID]shownRow {
	shown := map[conversation.ID]shownRow{}
	for _, r := range b.Rows() {
		shown[r.ID] = shownRow{r.Title, r.Group, r.PID != 0, r.Question != nil, r.Last}
	}
	return shown
}

// awaits waits for the board to show rows: it hears of each change by itself.
func awaits(t *testing.T, b *live.Board, want map[conversation.ID]shownRow) {
	t.Helper()
	for late := time.After(20 * time.Second); ; {
		if got := shownRows(b); fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		select {
		case <-b.News():
		case <-late:
			for id, row := range shownRows(b) {
				require.Equal(t, want[id], row, id)
			}
			require.Len(t, shownRows(b), len(want))
		}
	}
}

func TestBoardHearsOfChanges(t *testing.T) {
	working := shownRow{Title: "Request 1", Group: live.Working, Runs: true, Last: "chat_request"}
	ready := shownRow{Title: "Request 1", Group: live.Ready, Last: "Last."}
	stopped := shownRow{Title: "Request 1", Group: live.NeedsYou, Last: "interrupted (pending LLM response)"}
	asks := shownRow{Title: "Request 1", Group: live.NeedsYou, Runs: true, Asks: true, Last: "Run it?"}
	running := func(m *machine) { m.create(1); m.start(1) }
	ended := func(m *machine) { running(m); m.answer(1); m.end(1) }
	another := "Another"
	retitle := func(m *machine) {
		m.held(1, func(conversation.Info) { m.add(1, &conversation.Metadata{Title: &another, TitleSource: "user"}) })
	}
	retitled := shownRow{Title: another, Group: live.Ready, Last: "Last."}
	for name, tt := range map[string]struct {
		before func(*machine)
		first  map[conversation.ID]shownRow // shown before the change
		change func(*machine)
		then   map[conversation.ID]shownRow
	}{
		"a conversation starts": {func(*machine) {}, nil, running, map[conversation.ID]shownRow{boardID(1): working}},
		"it asks":               {running, map[conversation.ID]shownRow{boardID(1): working}, func(m *machine) { m.ask(1) }, map[conversation.ID]shownRow{boardID(1): asks}},
		"it is answered": {func(m *machine) {
			running(m)
			m.ask(1)
		}, map[conversation.ID]shownRow{boardID(1): asks}, func(m *machine) { m.allow(1) }, map[conversation.ID]shownRow{boardID(1): {Title: "Request 1", Group: live.Working, Runs: true, Last: "tool_call_request"}}},
		"it says something": {running, map[conversation.ID]shownRow{boardID(1): working}, func(m *machine) {
			m.runs[1].server.Streamed(attach.Delta{Seq: 2, Call: 1, Part: conversation.PartMessage, Text: "One.\nTwo"})
		}, map[conversation.ID]shownRow{boardID(1): {Title: "Request 1", Group: live.Working, Runs: true, Last: "Two"}}},
		"it ends": {running, map[conversation.ID]shownRow{boardID(1): working}, func(m *machine) { m.answer(1); m.end(1) }, map[conversation.ID]shownRow{boardID(1): ready}},
		"it is killed": {running, map[conversation.ID]shownRow{boardID(1): working}, func(m *machine) {
			m.end(1)
		}, map[conversation.ID]shownRow{boardID(1): stopped}},
		"it gets another title":                    {ended, map[conversation.ID]shownRow{boardID(1): ready}, retitle, map[conversation.ID]shownRow{boardID(1): retitled}},
		"the first of its repository gets another": {func(*machine) {}, nil, func(m *machine) { ended(m); retitle(m) }, map[conversation.ID]shownRow{boardID(1): retitled}},
		"it is archived": {ended, map[conversation.ID]shownRow{boardID(1): ready}, func(m *machine) {
			m.held(1, func(info conversation.Info) {
				at := conversation.OptionalTime{Time: time.Now()}
				_, err := m.repo.Store.Archive(m.t.Context(), info.ID, info.Head, repo.Record(info, &conversation.Metadata{ArchivedAt: &at}, at.Time), true)
				require.NoError(m.t, err)
			})
		}, map[conversation.ID]shownRow{}},
		"it is removed": {ended, map[conversation.ID]shownRow{boardID(1): ready}, func(m *machine) {
			m.held(1, func(info conversation.Info) { require.NoError(m.t, m.repo.States().Delete(m.t.Context(), info)) })
		}, map[conversation.ID]shownRow{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, b := newMachine(t)
			tt.before(m)
			follow(t, b)
			if tt.first == nil {
				tt.first = map[conversation.ID]shownRow{}
			}
			awaits(t, b, tt.first)
			tt.change(m)
			awaits(t, b, tt.then)
		})
	}
}

// follow keeps a board up to date until the test ends.
func follow(t *testing.T, b *live.Board) {
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Follow(ctx) }()
	t.Cleanup(func() {
		end()
		require.ErrorIs(t, <-done, context.Canceled)
		b.Close()
	})
}

// All of many conversations that begin at once are shown, those that ask first, and each of them ends.
func TestBoardOfMany(t *testing.T) {
	t.Parallel()
	const many = 64
	m, b := newMachine(t)
	want := map[conversation.ID]shownRow{}
	follow(t, b)
	for n := range many {
		m.create(n)
		m.start(n)
		want[boardID(n)] = shownRow{Title: fmt.Sprintf("Request %d", n), Group: live.Working, Runs: true, Last: "chat_request"}
	}
	awaits(t, b, want)
	m.ask(7)
	want[boardID(7)] = shownRow{Title: "Request 7", Group: live.NeedsYou, Runs: true, Asks: true, Last: "Run it?"}
	awaits(t, b, want)
	require.Equal(t, boardID(7), b.Rows()[0].ID)
	for n := range many {
		if want[boardID(n)] = (shownRow{Title: fmt.Sprintf("Request %d", n), Group: live.Ready, Last: "Last."}); n != 7 {
			m.answer(n)
		}
		m.end(n)
	}
	want[boardID(7)] = shownRow{Title: "Request 7", Group: live.NeedsYou, Last: "run asks: Run it?"}
	awaits(t, b, want)
}
