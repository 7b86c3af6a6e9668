package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/process"
)

// titled is a place with conversations of these titles.
func titled(t *testing.T, titles ...string) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	for _, title := range titles {
		require.Zero(t, p.jp("query", "--new", "--title", title, "-m", "script/../talk.toml", "Hello").exit)
	}
	return p
}

// named is the id of the conversation with a title.
func (p *workspace) named(title string) string {
	p.t.Helper()
	return p.jp("show", "--json", title).field(p.t, "id")
}

func TestFollowOnATerminal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		leave func(*sitting)
		exit  int
	}{
		"q":       {func(s *sitting) { s.Type("q") }, 0},
		"Esc":     {func(s *sitting) { s.Type("\x1b") }, 0},
		"Ctrl+C":  {func(s *sitting) { s.Type("\x03") }, 0},
		"SIGINT":  {func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGINT) }, 0},
		"SIGTERM": {func(s *sitting) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := titled(t, "The first", hostileTitle)
			p.environ = append(p.environ, "JP_PAGER=sed s/^/paged:/")
			s := p.sit(80, "ls", "--follow")
			s.WaitFor("2 conversations · q leaves")
			s.WaitFor("The first")
			require.Zero(t, p.jp("edit", "--title=Another name").exit)
			s.WaitFor("Another name")
			require.NotContains(t, s.Text(), "evil")
			require.Zero(t, p.jp("rm", "-y", p.named("The first")).exit)
			s.WaitFor("1 conversation · q leaves")
			s.Wait("a head, a conversation, a foot", func() bool { return strings.Count(s.Text(), "\n") == 2 })
			tt.leave(s)
			require.Equal(t, tt.exit, s.exit())
			s.Wait("the screen as it was", func() bool { return strings.Contains(s.Raw(), "\x1b[?25h\x1b[?1049l") })
			require.NotContains(t, s.Raw(), "paged:")
		})
	}
}

func TestFollowFitsTheTerminal(t *testing.T) {
	t.Parallel()
	p := titled(t, "The source")
	for range 30 {
		require.Zero(t, p.jp("fork", "--title", "A fork").exit)
	}
	s := p.sit(80, "ls", "--follow", "--sort", "title", "--descending")
	s.WaitFor("31 conversations (9 above) · q leaves")
	require.Equal(t, 24, strings.Count(s.Text(), "\n")+1)
	s.Resize(40, 10)
	s.WaitFor("31 conversations (23 above) · q leaves")
	require.LessOrEqual(t, strings.Count(s.Text(), "\n")+1, 10)
	s.Type("q")
	require.Zero(t, s.exit())
}

// followed is a jp ls --follow that is piped, and its lines.
func (p *workspace) followed(args ...string) (wait func() int, interrupt func(), lines *bufio.Scanner, hangUp func() error) {
	p.t.Helper()
	cmd := p.command(append([]string{"ls", "--follow"}, args...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(p.t, err)
	require.NoError(p.t, cmd.Start())
	p.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	interrupt = func() { require.NoError(p.t, cmd.Process.Signal(syscall.SIGINT)) }
	return func() int { return exitOf(p.t, cmd.Wait()) }, interrupt, bufio.NewScanner(out), out.Close
}

func TestFollowAsJSON(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"--json", "--format=jsonl"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p := titled(t, "One", "Two")
			wait, interrupt, lines, _ := p.followed(format, "--sort", "title")
			next := func() (l map[string]any) {
				require.True(t, lines.Scan())
				require.NoError(t, json.Unmarshal(lines.Bytes(), &l), lines.Text())
				return l
			}
			require.Equal(t, "One", next()["title"])
			two := next()
			require.Equal(t, "Two", two["title"])
			require.Zero(t, p.jp("edit", two["short_id"].(string), "--label", "team=auth").exit)
			// A command that changes a conversation holds it meanwhile, which may be seen as well.
			until := func(is func(l map[string]any) bool) {
				for seen := false; !seen; {
					l := next()
					require.Equal(t, two["id"], l["id"])
					seen = is(l)
				}
			}
			in := func(state string) func(l map[string]any) bool {
				return func(l map[string]any) bool {
					status, ok := l["status"].(map[string]any)
					return ok && status["state"] == state
				}
			}
			until(func(l map[string]any) bool { return reflect.DeepEqual(l["labels"], map[string]any{"team": "auth"}) })
			held, err := process.LocksIn(filepath.Join(p.dir, ".git")).Take(conversation.ID(two["id"].(string)), process.Holder{PID: os.Getpid()})
			require.NoError(t, err)
			until(in("running"))
			require.NoError(t, held.Release())
			until(in("idle"))
			require.Zero(t, p.jp("rm", "-y", p.named("Two")).exit)
			until(func(l map[string]any) bool { return l["gone"] == true })
			interrupt()
			require.False(t, lines.Scan(), "nothing else was listed")
			require.Zero(t, wait())
		})
	}
}

func TestFollowAsText(t *testing.T) {
	t.Parallel()
	p := titled(t, "One")
	wait, _, lines, hangUp := p.followed()
	require.True(t, lines.Scan())
	require.Regexp(t, `^\*\tjp-c[0-9a-z-]+\tidle\t1\tnow\tOne$`, lines.Text())
	require.Zero(t, p.jp("edit", "--pin").exit)
	require.True(t, lines.Scan())
	require.Regexp(t, `\t\(pinned\) One$`, lines.Text())
	require.NoError(t, hangUp())
	require.Zero(t, wait(), "nobody reads any more")
}

// A counter counts the events that are read of conversations.
type counter struct {
	repo.TipReader
	one, all int
}

func (c *counter) Info(ctx context.Context, id conversation.ID) (conversation.Info, error) {
	c.one++
	return c.TipReader.Info(ctx, id)
}

func (c *counter) List(ctx context.Context, scope conversation.Scope) ([]conversation.Info, error) {
	c.all++
	return c.TipReader.List(ctx, scope)
}

func TestWatchReadsWhatHasChanged(t *testing.T) {
	t.Parallel()
	var titles []string
	for n := range repo.ManyChanged + 1 {
		titles = append(titles, fmt.Sprint("talk ", n))
	}
	p := titled(t, titles...)
	e := ui.NewEnv(&repo.Host{Dir: p.dir, Environ: p.environ, Now: ui.SystemEnv().Now}, nil, nil, os.Stderr)
	r, err := repo.Open(t.Context(), e.Host)
	require.NoError(t, err)
	defer r.Close()
	w := repo.NewWatch(r, conversation.ScopeLive, "")
	reads := &counter{TipReader: r.Store}
	w.Tips = reads
	look := func(changed bool, conversations, one, all int) []*repo.Summary {
		t.Helper()
		got, err := w.Changed(t.Context())
		require.NoError(t, err)
		require.Equal(t, changed, got)
		list := w.List()
		require.Len(t, list, conversations)
		require.Equal(t, [2]int{one, all}, [2]int{reads.one, reads.all})
		return list
	}
	look(true, len(titles), 0, 1)
	look(false, len(titles), 0, 1)
	require.Zero(t, p.jp("edit", "--title=changed").exit)
	list := look(true, len(titles), 1, 1)
	look(false, len(titles), 1, 1)
	held, err := r.Locks.Take(conversation.ID(list[0].ID), process.Holder{PID: 4711})
	require.NoError(t, err)
	running := 0
	for _, l := range look(true, len(titles), 1, 1) {
		if l.Status.State == "running" {
			running++
			require.Equal(t, list[0].ID, l.ID)
			require.Equal(t, 4711, *l.Status.PID)
		}
	}
	require.Equal(t, 1, running)
	require.NoError(t, held.Release())
	// A child that another test starts has the lock, too, until it is its own program.
	require.Eventually(t, func() bool {
		_, still := r.Locks.Held(conversation.ID(list[0].ID))
		return !still
	}, time.Minute, time.Millisecond)
	for _, l := range look(true, len(titles), 1, 1) {
		require.Equal(t, "idle", l.Status.State)
	}
	p.git("pack-refs", "--all")
	look(false, len(titles), 1, 1)
	require.Zero(t, p.jp("rm", "-y", p.named("changed")).exit)
	look(true, len(titles)-1, 1, 1)
	p.write(".git/refs/jp/conversations/jp-c17952552000-zzzz", "not a ref\n")
	unreadable := 0
	for _, l := range look(true, len(titles), 2, 1) {
		if l.Err != nil {
			unreadable++
		}
	}
	require.Equal(t, 1, unreadable)
	look(false, len(titles), 2, 1)
	require.NoError(t, os.Remove(filepath.Join(p.dir, ".git/refs/jp/conversations/jp-c17952552000-zzzz")))
	look(true, len(titles)-1, 2, 1)
}

// A row is conversations of which only the heads are read.
type row struct {
	repo.TipReader
	infos []conversation.Info
}

func (r row) Heads(conversation.Scope) ([]conversation.Info, error) { return r.infos, nil }

func TestWatchedRemotes(t *testing.T) {
	t.Parallel()
	seen := func(o listOptions, remotes ...string) (watched []string) {
		var r row
		for _, remote := range remotes {
			r.infos = append(r.infos, conversation.Info{Remote: remote, Ref: remote})
		}
		heads, err := (&repo.Watch{Scope: o.scope(), Remote: o.remote, Tips: r}).Heads()
		require.NoError(t, err)
		return slices.Sorted(maps.Keys(heads))
	}
	require.Equal(t, []string{""}, seen(listOptions{}, ""))
	require.Equal(t, []string{"origin", "team/fork"}, seen(listOptions{remote: repo.AnyRemote}, "", "origin", "team/fork"))
	require.Equal(t, []string{"team/fork"}, seen(listOptions{remote: "team/fork"}, "origin", "team/fork"))
}
