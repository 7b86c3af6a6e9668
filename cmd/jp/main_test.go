package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"jp/agent/models"
	"jp/cmd/jp/internal/ui"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/mcptest"
	"jp/sandbox"
)

// clockVariable is the start of the clock of a jp that a test runs. Only this test binary reads it.
const clockVariable = "JPTEST_CLOCK"

// hasteVariable is set if a jp does not wait before it asks a model again. Only this test binary reads
// it.
const hasteVariable = "JPTEST_HASTE"

// epoch is the start of the clocks of scripts.
const epoch = "2026-11-21T10:00:00Z"

var update = flag.Bool("update", false, "write what the scripts compare with anew")

func TestMain(m *testing.M) {
	if code, asked := sandbox.RunChild(os.Args); asked {
		os.Exit(code)
	}
	if code, asked := models.KeyringChild(os.Args, os.Stdin, os.Stdout, os.Stderr); asked {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"jp": jpMain, "mcp-fake": mcptest.Main, "claude-fake": claudeFake, "claude-waits": claudeWaits})
}

// sharesVariable lets a jp that another program started have that program's terminal.
const sharesVariable = "JPTEST_SHARES_TERMINAL"

// jpMain is jp as the tests run it. Unless the test gives it a terminal it has none: the terminal of
// the person who runs the tests asks no questions.
func jpMain() {
	if os.Getenv(sharesVariable) == "" {
		_, _ = unix.Setsid()
	}
	e := ui.SystemEnv()
	if start := os.Getenv(clockVariable); start != "" {
		fixTime(e, start)
	}
	if os.Getenv(hasteVariable) != "" {
		e.Wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	os.Exit(run(e, os.Args[1:]))
}

// fixTime makes the clock start somewhere and go on by a microsecond each time
// it is read, and makes ids depend on the start alone.
func fixTime(e *ui.Env, start string) {
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		panic(err)
	}
	var reads atomic.Int64
	e.Now = func() time.Time { return at.Add(time.Duration(reads.Add(1)) * time.Microsecond) }
	var seed [32]byte
	copy(seed[:], start)
	e.Random = rand.NewChaCha8(seed)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setUp, Cmds: scriptCommands, UpdateScripts: *update,
		RequireUniqueNames: true, RequireExplicitExec: true, Condition: scriptCondition,
	})
}

// scriptCondition knows [landlock]: programs can be confined here; [reftable]: git has this
// format; and [files]: jp itself reads and writes a file for each ref.
func scriptCondition(name string) (bool, error) {
	switch name {
	case "landlock":
		return sandbox.Supported().Enforced(), nil
	case "reftable":
		return gitenv.KnowsReftable(), nil
	case "files":
		return !gitenv.RefsThroughGit(), nil
	}
	return false, fmt.Errorf("there is no condition %q", name)
}

// setUp gives a script a home without the host's configuration, one session,
// and a clock. Events survive the script, not a power cut.
func setUp(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, ".home")
	e.Vars = append(e.Vars, childEnviron(home)...)
	e.Vars = append(e.Vars, clockVariable+"="+epoch, "GIT_AUTHOR_DATE="+epoch, "GIT_COMMITTER_DATE="+epoch)
	if cache, err := os.UserCacheDir(); err == nil {
		e.Vars = append(e.Vars, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	e.Defer(func() { endRunning(home) })
	return fastStore(home)
}

// childEnviron is the environment of a jp, with one home and one session. CI tells jp that no person
// will answer its questions.
func childEnviron(home string) []string {
	if err := os.MkdirAll(home, 0o700); err != nil {
		panic(err)
	}
	return append(gitenv.Env(home), "JP_SESSION=test", "TERM=xterm", "PAGER=cat", "CI=true")
}

// nobody makes providers of servers that are not there.
func nobody(names ...string) (text string) {
	for _, name := range names {
		text += name + ".base_url = \"http://127.0.0.1:1/v1\"\n"
	}
	return text
}

// fastStore configures a store that need not survive a power cut, a key that is always the same, and
// no server of models that may happen to run here.
func fastStore(home string) error {
	for path, text := range map[string]string{
		".config/jp/config.toml": "[store]\ndurability = \"off\"\n[providers]\n" + nobody("ollama", "lmstudio", "llamacpp", "vllm"),
		".local/state/jp/key":    strings.Repeat("ab", 32),
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
