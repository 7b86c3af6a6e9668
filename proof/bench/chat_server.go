package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"

	"jp/gitcmd"
)

// Targets of asking a model.
const (
	wordTarget = 0.005 // seconds, from the server to the terminal
	askTarget  = 0.060 // seconds, from the start to the request at the server
)

// askedFiles is how many files the repository has in which a model is asked.
const askedFiles = 10_000

// spokenWords is how many words a model says, each when the one before is seen.
const spokenWords = 300

// A chatServer is a server of Chat Completions that answers with the given words, one by one; without words
// it refuses.
type chatServer struct {
	*httptest.Server
	asked chan time.Time // when requests came
	words chan string    // nil: it refuses
}

func newSpeaker(words chan string) *chatServer {
	s := &chatServer{asked: make(chan time.Time, 1), words: words}
	s.Server = httptest.NewServer(s)
	return s
}

// ServeHTTP implements [http.Handler].
func (s *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked <- time.Now()
	if s.words == nil {
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush() // else the head waits for a word
	for word := range s.words {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s \"}}]}\n\n", word)
		_ = http.NewResponseController(w).Flush() // the measurement shows if the client has gone
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// environ is the environment of a jp that asks the server.
func (s *chatServer) environ() []string {
	return append(os.Environ(), "TERM=xterm", "JP_CFG_PROVIDERS__SPEAKER__BASE_URL="+s.URL+"/v1", "JP_CFG_MODEL=speaker/m")
}

// measureAsking measures jp query from its start to the request, and from a word
// that the model says to the terminal.
func measureAsking(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	jp, err := b.buildJP(ctx)
	if err != nil {
		return nil, err
	}
	if err := keepStoreKey(); err != nil {
		return nil, err
	}
	repo, err := b.newRepo(ctx, b.scratch)
	if err != nil {
		return nil, err
	}
	if err := commitMany(ctx, repo, askedFiles); err != nil {
		return nil, err
	}
	start, err := b.startRow(ctx, jp, repo)
	if err != nil {
		return nil, err
	}
	words, err := wordRows(ctx, jp, repo)
	return append(words, start...), err
}

// commitMany commits small files.
func commitMany(ctx context.Context, repo gitcmd.Repository, n int) error {
	for i := range n {
		name := filepath.Join(repo.TopLevel, fmt.Sprintf("%03d", i%200), fmt.Sprintf("file-%05d.go", i))
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, fmt.Appendf(nil, "package p%d\n", i), 0o644))
		if err != nil {
			return err
		}
	}
	if _, err := git(ctx, repo.TopLevel, "add", "."); err != nil {
		return err
	}
	if _, err := git(ctx, repo.TopLevel, "commit", "-q", "-m", "files"); err != nil {
		return err
	}
	// As in any repository that is in use, the index knows that the files are as they were.
	_, err := git(ctx, repo.TopLevel, "status", "--porcelain")
	return err
}

// startRow compares the time up to the request with that of a git status.
func (b *bench) startRow(ctx context.Context, jp string, repo gitcmd.Repository) ([]row, error) {
	s := newSpeaker(nil)
	defer s.Close()
	var asked []time.Duration
	for range b.processes {
		cmd := exec.CommandContext(ctx, jp, "query", "--new", "--non-interactive", "Hello")
		cmd.Dir, cmd.Env = repo.TopLevel, s.environ()
		began := time.Now()
		out, err := cmd.CombinedOutput()
		select {
		case at := <-s.asked:
			asked = append(asked, at.Sub(began))
		default:
			return nil, fmt.Errorf("jp query asked nothing: %w: %s", err, bytes.TrimSpace(out))
		}
	}
	all, err := rounds(ctx, b.rng, b.processes, []side{{name: "git status", block: 2, run: func(ctx context.Context) error {
		return gitTo(ctx, repo.TopLevel, nil, nil, "status", "--porcelain=v2")
	}}})
	if err != nil {
		return nil, err
	}
	all["jp"] = samples{asked} // not interleaved: each starts a conversation
	r := all.row(fmt.Sprintf("jp query to request, %s files", grouped(askedFiles)), "jp", "git status").within(askTarget)
	r.Alone = true
	return []row{r}, nil
}

// wordRows compares the way of a word to the terminal with its way through cat.
func wordRows(ctx context.Context, jp string, repo gitcmd.Repository) ([]row, error) {
	words := make(chan string)
	s := newSpeaker(words)
	defer s.Close()
	cmd := exec.CommandContext(ctx, jp, "query", "--new", "Hello")
	cmd.Dir, cmd.Env = repo.TopLevel, s.environ()
	said, err := seen(cmd, func(word string) error { words <- word; return nil }, func() { close(words) })
	if err != nil {
		return nil, err
	}
	cat := exec.CommandContext(ctx, "cat")
	in, out := io.Pipe()
	cat.Stdin = in
	copied, err := seen(cat, func(word string) error { _, err := io.WriteString(out, word+" "); return err }, func() { _ = out.Close() })
	if err != nil {
		return nil, err
	}
	all := timings{"jp": samples{said}, "cat": samples{copied}}
	rows := []row{
		all.row("model's word to the terminal, p50", "jp", "cat").within(wordTarget),
		all.rowAt(0.99, "model's word to the terminal, p99", "jp", "cat").within(wordTarget),
	}
	for i := range rows {
		rows[i].Alone = true
	}
	return rows, nil
}

// seen starts a program at a terminal, and measures how long each word that it is
// given takes to be shown there.
func seen(cmd *exec.Cmd, say func(string) error, end func()) ([]time.Duration, error) {
	owns := cmd.Stdin == nil // a terminal is owned by way of the standard input
	master, err := pty.StartWithAttrs(cmd, &pty.Winsize{Rows: 40, Cols: 100}, &syscall.SysProcAttr{Setsid: true, Setctty: owns})
	if err != nil {
		return nil, err
	}
	defer master.Close()
	shown, buf := "", make([]byte, 4096)
	var took []time.Duration
	for i := range spokenWords {
		word := fmt.Sprintf("w%03d", i)
		if err := say(word); err != nil { // it returns when the other end has it
			return nil, err
		}
		began := time.Now()
		for !strings.Contains(shown, word) {
			n, err := master.Read(buf)
			if err != nil {
				return nil, fmt.Errorf("%s is not shown: %w: %s", word, err, shown)
			}
			shown += string(buf[:n])
		}
		took = append(took, time.Since(began))
	}
	end()
	_, _ = io.Copy(io.Discard, master) // it ends with an error when the program does
	return took, cmd.Wait()
}
