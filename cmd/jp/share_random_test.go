package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A team is machines with a clone each, and the bare repository that they share. Ada has two of the machines.
type team struct {
	t        *testing.T
	hub      string
	machines []*machine
	random   *rand.Rand
	counts   map[string]int // of steps
}

type machine struct {
	*workspace
	owner string
	acked map[string]bool // heads of conversations after each command that succeeded here
}

func newTeam(t *testing.T, seed uint64) *team {
	first := newPlace(t)
	root := filepath.Dir(first.dir)
	team := &team{t: t, hub: filepath.Join(root, "hub.git"), random: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{}}
	first.git("init", "-q", "--bare", team.hub)
	for _, setting := range []string{"receive.fsckObjects", "receive.denyNonFastForwards"} {
		first.git("-C", team.hub, "config", setting, "true")
	}
	first.git("push", "-q", team.hub, "HEAD:refs/heads/main")
	first.git("-C", team.hub, "symbolic-ref", "HEAD", "refs/heads/main")
	replies := strings.Repeat("[[reply]]\nmessage = \"Yes.\"\n", 400)
	for i, owner := range []string{"ada", "ada", "bea", "cy"} {
		home := filepath.Join(root, fmt.Sprint("home", i))
		m := &machine{&workspace{t: t, dir: filepath.Join(root, fmt.Sprint("clone", i)), environ: childEnviron(home)}, owner, map[string]bool{}}
		require.NoError(t, fastStore(home))
		require.NoError(t, os.WriteFile(filepath.Join(home, ".local/state/jp/key"), bytes.Repeat(fmt.Appendf(nil, "%d%d", i, i), 32), 0o600))
		t.Cleanup(func() { endRunning(home) })
		require.NoError(t, os.Mkdir(m.dir, 0o777))
		m.git("clone", "-q", team.hub, ".")
		m.environ = append(m.environ, "JP_CFG_MODEL=script/../replies.toml")
		m.write("../replies.toml", replies)
		if owner != "cy" { // who has no key
			key := filepath.Join(root, owner)
			if _, err := os.Stat(key); err != nil {
				out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput()
				require.NoError(t, err, string(out))
			}
			m.git("config", "--global", "gpg.format", "ssh")
			m.git("config", "--global", "user.signingKey", key)
			added := m.jp("trust", "key", "add", "--yes")
			require.Zero(t, added.exit, added.stderr)
		}
		team.machines = append(team.machines, m)
	}
	return team
}

// heads are the heads of the conversations of a machine, by id.
func (m *machine) heads() map[string]string {
	heads := map[string]string{}
	for line := range strings.Lines(m.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/jp/conversations", "refs/jp/archive")) {
		name, head, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[filepath.Base(name)] = head
	}
	return heads
}

func (t *team) some(m *machine) string {
	for id := range m.heads() { // the order of a map, which no seed decides
		return id
	}
	return ""
}

// step does one thing on one machine. A command may fail, as at a lock, a question or a remote that is down. All that it has
// acknowledged has to stay.
func (t *team) step() {
	m := t.machines[t.random.IntN(len(t.machines))]
	id := t.some(m)
	steps := map[string]func(){
		"ask":  func() { m.jp("query", "--new", "A question") },
		"more": func() { m.jp("query", "--id="+id, "More") },
		"fork": func() { m.jp("fork", id+"@2") },
		"edit": func() {
			m.write(fmt.Sprint("file", t.random.IntN(3)), strconv.Itoa(t.random.Int()))
			m.git("add", ".")
		},
		"commit":  func() { m.git("commit", "-q", "--allow-empty", "-am", "work") },
		"squash":  func() { m.git("commit", "-q", "--amend", "--allow-empty", "-m", "squashed") },
		"rename":  func() { _ = os.Rename(filepath.Join(m.dir, "file0"), filepath.Join(m.dir, "file1")) },
		"push":    func() { m.jp("push", "--all", "--yes", "--with-history") },
		"fetch":   func() { m.jp("fetch", "--own") },
		"sync":    func() { m.jp("sync", "--own", "--yes", "--with-history") },
		"archive": func() { m.jp("archive", id) },
		"back":    func() { m.jp("archive", "--undo", id) },
		"gc":      func() { m.git("gc", "-q", "--prune=now") },
		"gc hub":  func() { m.git("-C", t.hub, "gc", "-q", "--prune=now") },
		"down": func() {
			require.NoError(t.t, os.Rename(t.hub, t.hub+".away"))
			require.NotZero(t.t, m.jp("sync", "--own", "--yes", "--with-history").exit)
			require.NoError(t.t, os.Rename(t.hub+".away", t.hub))
		},
		"kill": func() {
			words := [][]string{{"sync", "--own", "--yes", "--with-history"}, {"push", "--all", "--yes", "--with-history"}, {"query", "--id=" + id, "Killed"}}[t.random.IntN(3)]
			cmd := m.command(words...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its git dies with it: a half push
			require.NoError(t.t, cmd.Start())
			end := time.AfterFunc(time.Duration(t.random.IntN(120))*time.Millisecond, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
			_ = cmd.Wait()
			end.Stop()
		},
	}
	names := []string{"ask", "more", "more", "more", "fork", "edit", "commit", "squash", "rename", "push", "push", "fetch", "sync", "sync", "archive", "back", "gc", "gc hub", "down", "kill", "kill"}
	name := names[t.random.IntN(len(names))]
	if id == "" && (name == "more" || name == "fork" || name == "archive" || name == "back") {
		name = "ask"
	}
	t.counts[name]++
	steps[name]()
	for _, head := range m.heads() {
		m.acked[head] = true
	}
}

// settle lets all machines sync until nothing moves, and checks what has to hold then.
func (t *team) settle() {
	for range 4 {
		for _, m := range t.machines {
			_ = os.Remove(filepath.Join(m.dir, ".git", "index.lock"))
			out := m.jp("sync", "--own", "--yes", "--with-history")
			require.Zero(t.t, out.exit, out.stderr)
		}
	}
	hub := &machine{&workspace{t: t.t, dir: t.hub, environ: t.machines[0].environ}, "", nil}
	for i, m := range t.machines {
		out := m.jp("verify", "--all")
		require.Zero(t.t, out.exit, "machine %d: %s%s", i, out.stdout, out.stderr)
		reachable := map[string]bool{}
		for line := range strings.Lines(m.git("rev-list", "--glob=refs/jp/conversations", "--glob=refs/jp/archive")) {
			reachable[strings.TrimSpace(line)] = true
		}
		there := map[string]bool{}
		for line := range strings.Lines(hub.git("rev-list", "--all")) {
			there[strings.TrimSpace(line)] = true
		}
		for head := range m.acked {
			require.True(t.t, reachable[head], "machine %d of %s lost %s", i, m.owner, head)
			require.True(t.t, there[head], "the remote lacks %s of machine %d", head, i)
		}
		var list []struct {
			ID    string
			Local bool
		}
		for _, scope := range [][]string{{"ls", "--json"}, {"ls", "--archived", "--json"}} {
			require.NoError(t.t, json.Unmarshal([]byte(m.jp(scope...).stdout), &list))
			for _, l := range list {
				require.True(t.t, l.Local, "machine %d of %s: %s is a stranger's", i, m.owner, l.ID)
			}
		}
	}
	ada := [2]map[string]string{t.machines[0].heads(), t.machines[1].heads()}
	require.Equal(t.t, ada[0], ada[1], "Ada's machines differ")
	require.Empty(t.t, hub.git("fsck", "--strict", "--no-dangling"))
}

// TestTeam lets four machines of three people work at random over one remote. JP_SHARE_STEPS is the number of steps.
func TestTeam(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is missing; it comes with OpenSSH")
	}
	t.Parallel()
	steps, _ := strconv.Atoi(os.Getenv("JP_SHARE_STEPS"))
	steps = max(steps, 60)
	seed, _ := strconv.ParseUint(os.Getenv("JP_SEED"), 10, 64)
	team := newTeam(t, seed)
	for n := range steps {
		team.step()
		if n%200 == 199 {
			team.settle()
		}
	}
	team.settle()
	t.Logf("seed %d, %d steps: %v", seed, steps, team.counts)
}
