package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// manyScript is a model that makes files and runs programs in each turn. jp asks git for the
// attributes of the files.
const manyScript = `
[[reply]]
message = "I look, and make a file."
[[reply.tool_call]]
name = "fs_grep_files"
arguments = { pattern = "repository" }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "%[1]d/made.txt", content = "made\n" }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo more >>%[1]d/made.txt"] }
[[reply]]
message = "It is there."
`

// Prompts of one jp acp leave no descriptor and no child behind. JP_TEST_PROMPTS is how many there are.
func TestACPManyPrompts(t *testing.T) {
	t.Parallel()
	prompts := 40 // enough for a packing in the background
	if n, err := strconv.Atoi(os.Getenv("JP_TEST_PROMPTS")); err == nil {
		prompts = n
	}
	var script strings.Builder
	for i := range prompts {
		fmt.Fprintf(&script, manyScript, i)
	}
	p := acpPlace(t, script.String())
	p.write(".gitattributes", "*.txt text\n")
	e := p.connects(`{}`, "--offer", "auto")
	session := e.Opens(p.dir)
	e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"auto"}`, session))
	const spare = 10 // descriptors that wait for the garbage collector, and a packing
	first := 0
	for i := range prompts {
		require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Make a file")))
		require.FileExists(t, filepath.Join(p.dir, strconv.Itoa(i), "made.txt"))
		descriptors, _ := heldBy(t, e.cmd.Process.Pid)
		if first == 0 {
			first = descriptors
		}
		require.LessOrEqual(t, descriptors, first+spare, "after prompt %d", i+1)
		require.Eventually(t, func() bool { // one that has ended is waited for beside the answer
			_, children := heldBy(t, e.cmd.Process.Pid)
			return len(children) <= 1
		}, time.Minute, 5*time.Millisecond, "after prompt %d", i+1)
	}
	e.Until("end of the packing", func() bool {
		_, children := heldBy(t, e.cmd.Process.Pid)
		return len(children) == 0
	})
	e.Leaves()
}

// heldBy are the descriptors of a process, as a number, and its children, ended ones too.
func heldBy(t *testing.T, pid int) (descriptors int, children []string) {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	require.NoError(t, err)
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, file := range threads {
		text, _ := os.ReadFile(file) // of a thread that has ended there is none
		children = append(children, strings.Fields(string(text))...)
	}
	return len(open), children
}
