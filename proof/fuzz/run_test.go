package fuzz_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scratchModule is a module with fuzz targets: source holds their files below p.
func scratchModule(t *testing.T, source map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	source["go.mod"], source["p/p.go"] = "module scratch\n\ngo 1.26\n", "package p\n"
	for name, text := range source {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

const (
	good = "package p\nimport \"testing\"\nfunc FuzzGood(f *testing.F) { f.Fuzz(func(*testing.T, int) {}) }\nfunc Fuzzy(int, int) {}\n"
	bad  = "package p_test\nimport \"testing\"\nfunc FuzzBad(f *testing.F) {\n\tf.Add(7)\n" +
		"\tf.Fuzz(func(t *testing.T, n int) { if n != 7 { t.Fatal(\"not seven\") } })\n}\n"
	slow = "package p\nimport (\"testing\"; \"time\")\nfunc FuzzSlow(f *testing.F) {\n\tfor i := range 300 { f.Add(i) }\n" +
		"\tf.Fuzz(func(*testing.T, int) { time.Sleep(2*time.Millisecond) })\n}\n"
)

// command is the script in a module.
func command(t *testing.T, dir string, args ...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a fuzzer, and what it needs, which takes minutes the first time")
	}
	script, err := filepath.Abs("run")
	require.NoError(t, err)
	cmd := exec.Command(script, args...)
	var out strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "TMPDIR="+t.TempDir())
	return cmd, &out
}

func TestRunsEveryTarget(t *testing.T) {
	dir := scratchModule(t, map[string]string{
		"p/good_test.go": good, "p/bad_test.go": bad,
		"proof/go.mod": "module scratch/proof\n\ngo 1.26\n", "proof/q/good_test.go": strings.ReplaceAll(good, "package p", "package q"),
	})
	cmd, out := command(t, dir, "-time", "50x")
	require.Error(t, cmd.Run())
	require.Regexp(t, `(?m)^p\.FuzzGood +\d+ +\d+ +\d+ +[0-9.]+s +ok$`, out.String())
	require.Regexp(t, `(?m)^proof/q\.FuzzGood +\d+ +\d+ +\d+ +[0-9.]+s +ok$`, out.String())
	require.Regexp(t, `(?m)^p\.FuzzBad .* FAILED$`, out.String())
	require.Regexp(t, `(?m)^3 targets .* 1 failed, 0 not tried$`, out.String())
	require.Contains(t, out.String(), "not seven")
	require.Regexp(t, `(?m)^input: .*p/testdata/fuzz/FuzzBad/[0-9a-f]+$`, out.String())
	require.Regexp(t, `(?m)^again: go test -C \. -run '\^FuzzBad\$/\^[0-9a-f]+\$' scratch/p$`, out.String())

	_, again, _ := strings.Cut(out.String(), "again: ")
	retry := exec.Command("sh", "-c", again)
	retry.Dir, retry.Env = dir, cmd.Env
	failure, err := retry.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(failure), "not seven")

	cmd, out = command(t, dir, "-time", "50x", "-run", `^p\.FuzzG`)
	require.NoError(t, cmd.Run(), out)
	require.Regexp(t, `(?m)^1 targets .* 0 failed, 0 not tried$`, out.String())
}

func TestArguments(t *testing.T) {
	dir := scratchModule(t, map[string]string{"p/good_test.go": good})
	for _, args := range [][]string{
		{"-time", ""}, {"-time", "0s"}, {"-time", "-1s"}, {"-time", "10"}, {"-time", "x"}, {"-time", "0x"}, {"-time", "1.5x"}, {"-time", "10 s"},
		{"-time"}, {"-run", "("}, {"-run", "nothing"}, {"more"},
	} {
		cmd, out := command(t, dir, args...)
		require.Error(t, cmd.Run(), args)
		require.Regexp(t, `(?m)^fuzz: .`, out.String(), args)
	}
}

// A target of which each input of the corpus takes more than the time gets a longer
// second try.
func TestASecondTry(t *testing.T) {
	dir := scratchModule(t, map[string]string{"p/slow_test.go": slow})
	cmd, out := command(t, dir, "-time", "5x")
	require.NoError(t, cmd.Run(), out)
	require.Regexp(t, `(?m)^p\.FuzzSlow +[1-9]\d* .* ok$`, out.String())
}

func TestATableIsPartialAfterAnInterrupt(t *testing.T) {
	dir := scratchModule(t, map[string]string{"p/good_test.go": good, "p/late_test.go": strings.ReplaceAll(slow, "Slow", "Late")})
	cmd, out := command(t, dir, "-time", "10m", "-run", "Good|Late")
	require.NoError(t, cmd.Start())
	temporary := strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], "TMPDIR=")
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(temporary, "tmp.*", "out"))
		return len(found) > 0
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Error(t, cmd.Wait())
	require.Regexp(t, `(?m)^p\.FuzzGood .* interrupted$`, out.String())
	require.NotContains(t, out.String(), "p.FuzzLate")
	require.Contains(t, out.String(), "The table is partial: 0 of 2 targets were tried.\n")
	require.NotContains(t, out.String(), "again:")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestVerdicts puts a program in the place of the fuzz binary.
func TestVerdicts(t *testing.T) {
	const (
		progress = "fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\n" +
			"fuzz: elapsed: 3s, execs: 1200 (400/sec), new interesting: 4 (total: 7)\n" +
			"fuzz: elapsed: 4s, execs: 1250 (50/sec), new interesting: 5 (total: 8)\n"
		deadline = "--- FAIL: FuzzX (10.05s)\n    context deadline exceeded\nFAIL\n"
		nested   = "--- FAIL: FuzzX (10.05s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: context deadline exceeded\nFAIL\n"
		half     = "fuzz: elapsed: 2s, gathering baseline coverage: 99/158 completed\n"
		input    = "mkdir -p testdata/fuzz/FuzzX; echo >testdata/fuzz/FuzzX/abc\n"
		takes    = "sleep 0.2\n" // the time of the target
	)
	for name, tt := range map[string]struct{ budget, act, out, exit, want string }{
		"nothing found":                     {"200ms", takes, progress + "PASS\n", "0", ` 1250 +5 +8 .* ok$`},
		"Go's own deadline":                 {"200ms", takes, progress + deadline, "1", ` 1250 +5 +8 .* ok \(Go's deadline\)$`},
		"a deadline before its time":        {"1m", "", progress + deadline, "1", ` FAILED$`},
		"a deadline of a number":            {"10x", takes, progress + deadline, "1", ` FAILED$`},
		"a deadline with an input":          {"200ms", input + takes, progress + deadline, "1", ` FAILED$`},
		"a deadline and more":               {"200ms", takes, progress + "panic: x\n" + deadline, "1", ` FAILED$`},
		"a deadline that a target reports":  {"200ms", takes, progress + nested, "1", ` FAILED$`},
		"an input and no failure":           {"200ms", input, progress + "PASS\n", "0", ` FAILED$`},
		"a failure":                         {"200ms", "", progress + "--- FAIL: FuzzX (0.05s)\n    x_test.go:9: no\nFAIL\n", "1", ` FAILED$`},
		"half of its corpus":                {"5x", "", half + "PASS\n", "0", ` nothing tried \(99/158 of its corpus\)$`},
		"no word":                           {"5x", "", "PASS\n", "0", ` nothing tried \(0/0 of its corpus\)$`},
		"all of its corpus, no input":       {"5x", "", "fuzz: elapsed: 3s, gathering baseline coverage: 158/158 completed\nPASS\n", "0", ` 0 +0 +0 .* ok$`},
		"its corpus, without coverage":      {"5x", "", "fuzz: elapsed: 3s, testing seed corpus: 1/3 completed\nPASS\n", "0", ` nothing tried \(1/3 of its corpus\)$`},
		"it began, and Go did not say when": {"5x", "", half + "fuzz: elapsed: 3s, execs: 0 (0/sec), new interesting: 0 (total: 158)\nPASS\n", "0", ` ok$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := scratchModule(t, map[string]string{"p/x_test.go": "package p\nimport \"testing\"\nfunc FuzzX(f *testing.F) {}\n"})
			bin := t.TempDir()
			write := func(name, text string, mode os.FileMode) {
				require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), mode))
			}
			write("said", tt.out, 0o644)
			write("binary", "#!/bin/sh\n"+tt.act+"cat "+bin+"/said\nexit "+tt.exit+"\n", 0o755)
			goCommand, err := exec.LookPath("go")
			require.NoError(t, err)
			write("go", "#!/bin/sh\n[ \"$1\" = test ] || exec "+goCommand+" \"$@\"\nwhile [ \"$1\" != -o ]; do shift; done\ncp "+bin+"/binary \"$2\"\n", 0o755)
			cmd, out := command(t, dir, "-time", tt.budget)
			cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
			err = cmd.Run()
			require.Regexp(t, `(?m)^p\.FuzzX .*`+tt.want, out.String())
			require.Equal(t, strings.Contains(tt.want, "ok"), err == nil, out)
		})
	}
}
