package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/conversation"
	"jp/doctor"
	"jp/internal/safetext"
	"jp/process"
)

// examined is the JSON output of jp doctor.
func (p *workspace) examined(args ...string) (c checkupJSON) {
	p.t.Helper()
	out := p.jp(append([]string{"doctor", "--json"}, args...)...)
	require.Empty(p.t, out.stderr)
	require.NoError(p.t, json.Unmarshal([]byte(out.stdout), &c))
	require.Equal(p.t, c.Counts.Fail > 0, out.exit == problem.ExitFailed)
	return c
}

// about are the findings of a topic, one a line.
func (c checkupJSON) about(topic string) string {
	var lines []string
	for _, f := range c.Findings {
		if f.Topic == topic {
			lines = append(lines, string(f.Level)+" "+f.Text+" → "+f.Advice)
		}
	}
	return strings.Join(lines, "\n")
}

// agedBy makes files older.
func agedBy(t *testing.T, by time.Duration, paths ...string) {
	t.Helper()
	for _, path := range paths {
		at := time.Now().Add(-by)
		require.NoError(t, os.Chtimes(path, at, at))
	}
}

// Doctor leaves a working jp alone, with all its files, however old they look.
func TestDoctorFixesNothingOfALivingJp(t *testing.T) {
	t.Parallel()
	b := waiting(t)
	seen := b.examined()
	require.Regexp(t, fmt.Sprintf(`^ok %s is held by pid %d for .*, which can be reached: jp attach `, b.id, b.cmd.Process.Pid), seen.about("locks"))
	require.Empty(t, seen.about("tools"), "the tool has its jp")
	require.Empty(t, seen.about("registry"))
	entry, ok := b.entry(b.id)
	require.True(t, ok)

	ref := filepath.Join(b.dir, ".git/refs/jp/conversations", string(b.id)+".lock")
	b.write(".git/refs/jp/conversations/"+string(b.id)+".lock", "")
	b.write(".jp-"+strings.Repeat("A7", 13), "half")
	locks, err := filepath.Glob(filepath.Join(b.dir, ".git/jp/locks/*"))
	require.NoError(t, err)
	require.Len(t, locks, 2, "the conversation's and the tool's")
	agedBy(t, 3*time.Hour, append(locks, ref, filepath.Join(b.dir, ".jp-"+strings.Repeat("A7", 13)))...)

	fixed := b.examined("--fix")
	require.Empty(t, fixed.Removed)
	if runtime.GOOS == "linux" {
		require.Contains(t, fixed.about("leftovers"), "it stays: it is in use: conversation "+string(b.id)+" is locked by pid")
		require.Contains(t, fixed.about("leftovers"), "it stays: it is in use: a jp changes files in this working tree")
	}
	still, ok := b.entry(b.id)
	require.True(t, ok)
	require.Equal(t, entry, still)
	for _, path := range append(locks, ref) {
		require.FileExists(t, path)
	}
	require.NoError(t, os.Remove(ref))
	require.NoError(t, os.Remove(filepath.Join(b.dir, ".jp-"+strings.Repeat("A7", 13))))
	b.write("go", "")
	require.Zero(t, b.ended().exit)
}

// Leftovers of a killed jp are found, and go when they are old enough and the tool has ended.
func TestDoctorAfterAKill(t *testing.T) {
	t.Parallel()
	p := outlivedPlace(t)
	seen := p.examined()
	require.Equal(t, "ok no conversation is held → ", seen.about("locks"))
	require.Regexp(t, `^warn a tool of jp-c\S+ \(@\d+\) runs on without its jp → jp continue \w+ .*; jp kill \w+ ends it$`, seen.about("tools"))
	require.Regexp(t, `^note of 1 process that ended there are still an entry and a socket, .* → jp status`, seen.about("registry"))
	locks, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/locks/*.[0-9]*"))
	require.NoError(t, err)
	require.Len(t, locks, 1)
	agedBy(t, 3*time.Hour, locks...)

	fixed := p.examined("--fix")
	require.Len(t, fixed.Removed, 1, "the tool lives, and so does its lock")
	require.Equal(t, "entry", fixed.Removed[0].Kind)
	require.FileExists(t, locks[0])
	require.NoFileExists(t, fixed.Removed[0].Path)
	require.Empty(t, fixed.about("registry"))

	p.endSurvivor()
	agedBy(t, 3*time.Hour, locks...)
	seen = p.examined()
	require.Empty(t, seen.about("tools"))
	require.Contains(t, seen.about("leftovers"), "1 lock of a tool that ended with its jp")
	fixed = p.examined("--fix")
	require.Len(t, fixed.Removed, 1)
	require.Equal(t, doctor.RemovedJSON{Kind: "tool_lock", Path: locks[0], Age: fixed.Removed[0].Age}, fixed.Removed[0])
	require.Greater(t, fixed.Removed[0].Age, 3600.0)
	require.NoFileExists(t, locks[0])
	require.Zero(t, p.jp("continue", "-y", "--pending", "report", "-m", "script/../survivor.toml").exit)
}

// Doctor reports a silent holder of a conversation.
func TestDoctorOfASilentHolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Hello").exit)
	id := conversation.ID(p.jp("show", "--json").field(t, "id"))
	held, err := process.LocksIn(p.repository().CommonDir).Take(id, process.Holder{PID: os.Getpid()})
	require.NoError(t, err)
	defer held.Release()
	require.Regexp(t, `^warn jp-c\S+ is held by pid \d+, which cannot be reached: it has no socket here → jp kill`, p.examined().about("locks"))
	require.Empty(t, p.examined("--fix").Removed)
}

func TestDoctorFitsTheTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hostile := "evil\x1b[2J\u202etxt"
	p.write(hostile+"/.jp-"+strings.Repeat("A7", 13), "left")
	agedBy(t, time.Hour, filepath.Join(p.dir, hostile, ".jp-"+strings.Repeat("A7", 13)))
	for _, width := range []int{30, 80, 200} {
		s := p.sit(width, "doctor", "-v")
		require.Zero(t, s.exit())
		s.Wait("the sum", func() bool { return strings.HasSuffix(strings.TrimSpace(s.Text()), "failed.") })
		for _, line := range strings.Split(strings.Trim(s.Text(), "\n"), "\n") {
			require.LessOrEqual(t, safetext.Columns(line), width)
			require.Regexp(t, `^(ok|note|warn|fail|\d+ ok,|nothing|      )`, line)
		}
		require.Contains(t, s.Raw(), "evil")
		require.Empty(t, regexp.MustCompile(`\x1b\[[0-9;]*[^0-9;m]|\x1b[^\[]|\x{202e}`).FindString(s.Raw()))
		require.Contains(t, s.Raw(), "\x1b[32mok\x1b[39m")
	}
}

func TestDoctorAsksOverTheNetOnlyWhenTold(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var asked []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r)
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	}))
	defer server.Close()
	p.environ = append(p.environ, "WORK_KEY=sk-very-secret")
	flags := []string{"--cfg", "providers.work.base_url=" + server.URL + "/v1", "--cfg", "providers.work.api_key_env=WORK_KEY"}
	require.Regexp(t, `(?m)^ok work: key from WORK_KEY, 127\.0\.0\.1:\d+ answers`, p.examined(flags...).about("providers"))
	require.Len(t, asked, 1)
	require.Equal(t, "/v1", asked[0].URL.Path)
	for name, values := range asked[0].Header {
		require.NotContains(t, strings.Join(values, " "), "secret", name)
	}

	away := func(args ...string) checkupJSON {
		return p.examined(append(args, "--cfg", "providers.work.base_url=https://nowhere.invalid/v1", "--cfg", "providers.work.api_key_env=WORK_KEY")...)
	}
	require.Regexp(t, `(?m)^ok work: key from WORK_KEY, endpoint nowhere\.invalid`, away().about("providers"))
	require.NotEmpty(t, away().about("network"))
	p.environ = append(p.environ, "JP_CFG_PROVIDERS__WORK__BASE_URL=https://nowhere.invalid/v1", "JP_CFG_PROVIDERS__WORK__API_KEY_ENV=WORK_KEY")
	local := p.jp("doctor").stdout
	require.Contains(t, p.helps(local, "doctor-net").stdout, "nowhere.invalid does not answer: ")
	net := away("--net")
	require.Regexp(t, `(?m)^warn work: key from WORK_KEY, and nowhere\.invalid does not answer: `, net.about("providers"))
	require.Empty(t, net.about("network"))
}

// Doctor gives up an endpoint that takes connections and sends no answer.
func TestDoctorGivesUpASilentServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	p := newPlace(t)
	found := p.examined("--cfg", "providers.ollama.base_url=http://"+silent.Addr().String())
	require.Contains(t, found.about("providers"), "not running here: ollama")
}
