package gitstore_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/gitstore/packing"
	"jp/internal/testing/crashtest/row"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// processes are workers in one repository, with the acknowledgements that they got.
type processes struct {
	t     *testing.T
	dir   string
	wg    sync.WaitGroup
	mu    sync.Mutex
	acks  map[conversation.ID][]string
	read  int // conversations
	early int // rounds in which an object was missing for a moment
}

// start starts a worker; the function closes its input.
func (p *processes) start(role string, number, count int) (stop func()) {
	cmd := exec.CommandContext(p.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d|%d", workerEnv, p.dir, role, number, count))
	in, err := cmd.StdinPipe()
	require.NoError(p.t, err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, cmd.Start())
	p.wg.Go(func() {
		text, _ := io.ReadAll(out)
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("%s %d: %v: %s", role, number, err, stderr.String())
		}
		p.told(string(text))
	})
	return func() { in.Close() }
}

func (p *processes) told(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range strings.Lines(text) {
		id, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.Atoi(what)
		switch id {
		case "read":
			p.read += n
		case "early":
			p.early += n
		default:
			p.acks[conversation.ID(id)] = append(p.acks[conversation.ID(id)], what)
		}
	}
}

// A chore is the work of another program in the repository meanwhile.
type chore struct {
	name string
	do   func() error
}

// repeat does one after the other until it is told to stop, and counts them.
func repeat(all []chore, stop <-chan struct{}) (runs, refused map[string]int) {
	runs, refused = map[string]int{}, map[string]int{}
	for {
		for _, m := range all {
			select {
			case <-stop:
				return runs, refused
			default:
			}
			runs[m.name]++
			if m.do() != nil { // git may well refuse beside a writer
				refused[m.name]++
			}
		}
	}
}

// maintain is all that git, and jp itself, may do in a repository.
func maintain(t *testing.T, dir string) []chore {
	other := gitenv.Repo(t)
	commit := 0
	git := func(dir string, args ...string) error {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		return cmd.Run()
	}
	located, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	at := gitcmd.At(located, gitcmd.Options{})
	db, err := odb.Open(filepath.Join(dir, ".git"), odb.Options{Format: testFormat, Git: at})
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return []chore{
		{"pack-refs --all", func() error { return git(dir, "pack-refs", "--all") }},
		{"gc --prune=now", func() error { return git(dir, "gc", "-q", "--prune=now") }},
		{"repack -ad", func() error { return git(dir, "repack", "-adq") }},
		{"fetch", func() error {
			commit++
			return errors.Join(git(other, "commit", "-q", "--allow-empty", "-m", fmt.Sprint(commit)),
				git(dir, "fetch", "-q", other, "+refs/heads/*:refs/remotes/other/*"))
		}},
		{"jp pack", func() error {
			_, err := packing.New(db, at).Pack(t.Context())
			return err
		}},
	}
}

// Several processes write, fork, archive and read while git maintains the repository; two of them add to
// one conversation, without a lock.
func TestProcessesBesideGitMaintenance(t *testing.T) {
	f := newFixture(t)
	start := say("start")
	f.create(1, start)
	f.git("branch", "topic")
	f.git("tag", "v1")
	users := f.git("for-each-ref", "refs/heads", "refs/tags")
	p := &processes{t: t, dir: f.dir, acks: map[conversation.ID][]string{journaltest.ID(1): nil}}
	stop := make(chan struct{})
	var maintaining sync.WaitGroup
	var runs, refused map[string]int
	all := maintain(t, f.dir)
	maintaining.Go(func() { runs, refused = repeat(all, stop) })
	began := time.Now()
	endReader := p.start("reader", 9, 0)
	writers := &processes{t: t, dir: f.dir, acks: p.acks}
	for i := range 2 {
		writers.start("own", i, row.Of(2, 12, 120))
		writers.start("shared", 2+i, row.Of(8, 60, 600))
	}
	writers.wg.Wait()
	endReader()
	p.wg.Wait()
	close(stop)
	maintaining.Wait()

	n := requireAcknowledged(t, f, writers.acks, start[0].Commit)
	require.Equal(t, users, f.git("for-each-ref", "refs/heads", "refs/tags"))
	require.Positive(t, p.read)
	fsck(t, f.dir)
	var note []string
	for _, m := range slices.Sorted(maps.Keys(runs)) {
		note = append(note, fmt.Sprintf("%d × %s (%d refused)", runs[m], m, refused[m]))
	}
	row.Log(t, row.Row{
		Class: "d", Name: "5 processes beside git: events acknowledged", Points: n,
		Note: fmt.Sprintf("%s; %d loads, %d early; %v", strings.Join(note, ", "), p.read, p.early, time.Since(began).Round(time.Second)),
	})
}

// requireAcknowledged asserts that each conversation has exactly its acknowledged events, in order, and
// counts it. The acknowledgements of two processes for one conversation have no order.
func requireAcknowledged(t *testing.T, f *fixture, acks map[conversation.ID][]string, first string) (n int) {
	t.Helper()
	after := f.again()
	infos := map[conversation.ID]bool{}
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		list, err := after.List(t.Context(), scope)
		require.NoError(t, err)
		for _, info := range list {
			infos[info.ID] = true
		}
	}
	require.Len(t, infos, len(acks))
	for id, want := range acks {
		head, err := after.Head(t.Context(), id)
		require.NoError(t, err)
		events, err := after.Load(t.Context(), head)
		require.NoError(t, err)
		got := commits(events)
		switch {
		case id == journaltest.ID(1):
			require.ElementsMatch(t, append([]string{first}, want...), got)
		case len(want) == 1: // a fork, behind the shared events
			require.Equal(t, want[0], got[len(got)-1])
		default:
			require.Equal(t, want, got)
		}
		v, err := after.Verify(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, conversation.Audit(events), v.Problems)
		n += len(want)
	}
	return n
}
