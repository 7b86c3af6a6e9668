package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testScript is a test run that fails once a file is there.
const testScript = `echo "=== RUN TestRetry"
echo "--- PASS: TestRetry (0.00s)"
echo "=== RUN TestRetryEnds"
until test -e go; do sleep 0.05; done
echo "--- FAIL: TestRetryEnds (0.01s)"
echo "    retry_test.go:14: want 3 tries, got 4"
echo FAIL
echo "FAIL    example.org/retry    0.012s"
echo FAIL
exit 1
`

var (
	captures = regexp.MustCompile("(?ms)^```text\n(.*?)^```$")
	// moving matches the parts that differ from run to run: the spinner, times with the blanks before
	// them, and ids.
	moving = regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|( {2,}exit \d · )?\b\d+ m?s\b|--tools \w+`)
)

// TestScreensInDocs shows the captures in the documentation on a terminal.
func TestScreensInDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/processes.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## Screen\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var want []string
	for _, c := range captures.FindAllStringSubmatch(section, -1) {
		want = append(want, still(c[1]))
	}
	require.Len(t, want, 4)

	p := newPlace(t)
	p.write("../thinking.toml", thinkingScript)
	s := p.sit(80, "query", "-m", "script/../thinking.toml", "Cap them")
	shows := func(want string) { s.Wait(want, func() bool { return strings.Contains(still(s.Text()), want) }) }
	shows(want[0])
	s.abort()
	require.Equal(t, 130, s.exit())

	p.write("test.sh", testScript)
	p.write("../test.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"test.sh\"] }\n[[reply]]\nmessage = \"It fails.\"\n")
	s = p.sit(80, "query", "--new", "-y", "-m", "script/../test.toml", "Test")
	shows(want[1])
	s.Type("\x03")
	shows(want[2])
	s.Type("\r")
	p.write("go", "")
	require.Zero(t, s.exit())
	shows(want[3])
}

// TestChatScreensInDocs shows the captures of a conversation.
func TestChatScreensInDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/processes.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## Conversation\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var want []string
	for _, c := range captures.FindAllStringSubmatch(section, -1) {
		want = append(want, still(unframed(c[1])))
	}
	require.Len(t, want, 5)

	p := newPlace(t)
	p.write("test.sh", testScript)
	p.write("../talk.toml", `[[reply]]
message = "I cap the retries."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "retry.go", content = "package retry\n\nconst Max = 3\n" }
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "test.sh"] }
[[reply]]
message = "The loop ends after three tries."
`)
	s := p.sit(48, "query", "-m", "script/../talk.toml", "Cap the retries")
	shows := func(want string) {
		t.Helper()
		s.Wait(want, func() bool { return strings.Contains(still(s.Text()), want) })
	}
	shows(want[2])
	s.abort()
	require.Equal(t, 130, s.exit())

	p.environ = append(p.environ, "JP_SESSION=another")
	s = p.chat(80)
	s.Type("/mo")
	shows(want[0])
	s.Type("\x15Cap the retries, then run the tests\r")
	shows(want[1])
	s.answers("? help", "y")
	s.WaitFor("Run it?")
	s.answers("? help", "A")
	shows(want[3])
	s.answers("n back", "y")
	s.WaitFor("TestRetryEnds")
	s.Type("Name the test TestEnds\r")
	s.WaitFor("queued: ")
	s.Type("and then")
	shows(want[4])
	p.write("go", "")
	s.WaitFor("turn 1 · ")
}

// still is a screen without its moving parts, and without blanks at the ends of lines.
func still(screen string) string {
	lines := strings.Split(moving.ReplaceAllString(screen, "~"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
