package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/process"
)

const waitScript = `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "while test -e README.md && ! test -e go; do sleep 0.01; done"] }
[[reply]]
message = "Over."
`

// A busy jp runs a tool until the file go exists, or the test is over.
type busy struct {
	*workspace
	id     conversation.ID
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stderr strings.Builder
}

// waiting is a jp whose tool has started.
func waiting(t *testing.T) *busy {
	t.Helper()
	b := &busy{workspace: newPlace(t)}
	b.write("../wait.toml", waitScript)
	b.cmd = b.command("query", "-y", "--json", "-m", "script/../wait.toml", "Wait")
	b.cmd.Stderr = &b.stderr
	stdout, err := b.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, b.cmd.Start())
	t.Cleanup(func() { _ = os.WriteFile(b.dir+"/go", nil, 0o666) })
	b.lines = bufio.NewReader(stdout)
	for {
		line, err := b.lines.ReadString('\n')
		require.NoError(t, err)
		var e struct {
			Type         string
			Conversation conversation.ID
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if b.id = e.Conversation; e.Type == "tool_started" {
			return b
		}
	}
}

// ended waits for the end, and is the output since.
func (b *busy) ended() result {
	b.t.Helper()
	rest := new(strings.Builder)
	_, err := b.lines.WriteTo(rest)
	require.NoError(b.t, err)
	exit := exitOf(b.t, b.cmd.Wait())
	return result{stdout: rest.String(), stderr: b.stderr.String(), exit: exit}
}

// finish lets the tool come to its end.
func (b *busy) finish() result {
	b.t.Helper()
	b.write("go", "")
	return b.ended()
}

func (p *workspace) repository() gitcmd.Repository {
	p.t.Helper()
	repository, err := gitcmd.Locate(p.t.Context(), p.dir, gitcmd.Options{Environ: p.environ})
	require.NoError(p.t, err)
	return repository
}

func TestABusyConversation(t *testing.T) {
	t.Parallel()
	p := waiting(t)
	busy := p.jp("query", "And now?")
	require.Equal(t, 4, busy.exit)
	require.Regexp(t, `^Error: Conversation `+string(p.id)+` is locked by pid \d+ \(running \d+ s\)\.\n`, busy.stderr)
	require.Contains(t, p.jp("query", "--json", "And now?").stderr, `"code":"locked"`)
	require.Regexp(t, `running \(pid \d+\)`, p.jp("ls").stdout)
	require.Contains(t, p.jp("print").stdout, "… — running\n")
	require.Zero(t, p.jp("verify").exit)
	require.Zero(t, p.finish().exit)
	require.Contains(t, p.jp("ls").stdout, "idle")
	require.NotEqual(t, 4, p.jp("query", "And now?").exit)
}

func TestALockNamesItsHolder(t *testing.T) {
	t.Parallel()
	p := waiting(t)
	require.Zero(t, p.finish().exit)
	locks := process.LocksIn(p.repository().CommonDir)
	lock, err := locks.Take(p.id, process.Holder{PID: 4711, Started: time.Now()})
	require.NoError(t, err)
	out := p.jp("query", "And now?")
	require.Contains(t, out.stderr, "is locked by pid 4711 (running 1 s).")
	p.write("../talk.toml", "[[reply]]\ntimes = 9\nmessage = \"Hi.\"\n")
	helped := p.helps(out.stderr, "ask-in-fork", "…=And now?", "+ -m script/../talk.toml")
	require.Equal(t, "Hi.\n", helped.stdout, helped.stderr)
	require.Zero(t, p.jp("use", "-").exit)
	require.Contains(t, p.jp("ls").stdout, "running (pid 4711)")
	require.NoError(t, lock.Release())
	require.Contains(t, p.jp("ls").stdout, "idle")
	require.Equal(t, 7, p.jp("query", "And now?").exit, "the script has no third reply")
}

// TestASecondWriter appends to a conversation whose lock another jp holds: both keep all their events,
// and jp gives up.
func TestASecondWriter(t *testing.T) {
	t.Parallel()
	p := waiting(t)
	key := []byte(strings.Repeat("\xab", 32))
	store, err := gitstore.Open(p.repository(), gitstore.Options{Key: key})
	require.NoError(t, err)
	defer store.Close()
	head := appendTitle(t, store, p.id, "By the second")
	first := p.finish()
	require.Equal(t, 1, first.exit, first.stderr)
	require.Contains(t, first.stderr, "moved on")
	require.NotContains(t, first.stdout, "tool_call_response")
	after, err := store.Head(t.Context(), p.id)
	require.NoError(t, err)
	require.Equal(t, head, after)
	require.Zero(t, p.jp("verify").exit)
	require.Contains(t, p.jp("ls").stdout, "By the second")
	require.Empty(t, p.git("fsck", "--strict", "--no-dangling"))
}

// appendTitle adds one event to a conversation, as another process would.
func appendTitle(t *testing.T, store *gitstore.Store, id conversation.ID, title string) conversation.Head {
	t.Helper()
	head, err := store.Head(t.Context(), id)
	require.NoError(t, err)
	events, err := store.Load(t.Context(), head)
	require.NoError(t, err)
	stream := conversation.JoinTail(conversation.SplitTail(events))
	err = stream.Append(func(events []*conversation.Event) (err error) {
		head, err = store.Append(context.WithoutCancel(t.Context()), id, head, events)
		return err
	}, &conversation.Event{Body: &conversation.Metadata{Title: &title, TitleSource: "user"}})
	require.NoError(t, err)
	return head
}

func TestASignalWhileAToolRuns(t *testing.T) {
	t.Parallel()
	for sig, exit := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGQUIT: 131} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := waiting(t)
			require.NoError(t, p.cmd.Process.Signal(sig))
			out := p.ended()
			require.Equal(t, exit, out.exit, out.stderr)
			lines := strings.Split(strings.TrimSpace(out.stdout), "\n")
			require.Contains(t, lines[len(lines)-1], `"type":"result"`)
			require.Contains(t, lines[len(lines)-1], `"status":"incomplete"`)
			require.Contains(t, out.stderr, `"code":"interrupted"`)
			require.Contains(t, p.jp("ls").stdout, "interrupted")
			require.Contains(t, p.jp("print").stdout, "⏳ Incomplete turn")
			require.Equal(t, 3, p.jp("query", "And now?").exit)
			require.Zero(t, p.jp("verify").exit)
		})
	}
}
