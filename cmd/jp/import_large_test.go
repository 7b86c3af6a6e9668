//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Memory stays flat for any session: a line of 280 MiB, and many records.
func TestImportOfALargeFileTakesLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 300 MiB")
	}
	const most = 256 << 10 // KiB
	p := newPlace(t)
	path := filepath.Join(p.dir, "..", "large.jsonl")
	file, err := os.Create(path)
	require.NoError(t, err)
	_, err = file.WriteString(interruptedSession + `{"type":"user","uuid":"long`)
	require.NoError(t, err)
	_, err = file.Seek(280<<20, 1) // a hole, which reads as zeros
	require.NoError(t, err)
	_, err = file.WriteString("\n")
	require.NoError(t, err)
	const records = 5_000
	for n := range records {
		_, err = fmt.Fprintf(file, `{"type":"user","uuid":"u%d","parentUuid":%q,"sessionId":"5e55","timestamp":"2026-11-02T10:00:00Z","message":{"role":"user","content":"%d %s"}}`+"\n",
			n, []string{"2", fmt.Sprint("u", n-1)}[min(n, 1)], n, strings.Repeat("word ", 800))
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	for _, args := range [][]string{{"--dry-run"}, {}} {
		cmd := p.command(append([]string{"import", "claude", path, "--json"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), `"over 8 MiB":1`)
		require.Contains(t, string(out), fmt.Sprintf(`"requests":%d,`, records+1))
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		t.Logf("%v: %d MiB at most, %v of processor time", args, used.Maxrss>>10, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		require.Less(t, used.Maxrss, int64(most))
	}
}
