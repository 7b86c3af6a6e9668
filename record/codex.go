package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pelletier/go-toml/v2"

	"jp/agent/problem"
	"jp/internal/safefile"
)

// codexEvents are the hooks of Codex.
var codexEvents = []string{"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStop", "Stop", "Interrupt", "SessionEnd"}

// codexPlain are the commands of Codex without a session.
var codexPlain = []string{
	"login", "logout", "mcp", "mcp-server", "plugin", "app-server", "remote-control", "completion", "update", "doctor", "sandbox", "debug", "apply", "a",
	"queue", "archive", "delete", "migrate-rollouts", "migrate-nfs-db", "unarchive", "cloud", "exec-server", "features", "help",
}

// codexValued are the options of Codex that have a value, and may stand before its command.
var codexValued = []string{
	"-c", "--config", "--enable", "--disable", "--remote", "--remote-auth-token-env", "-i", "--image", "-m", "--model", "--local-provider", "-p", "--profile",
	"-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd", "--add-dir",
}

// hasSession reports whether Codex begins or resumes a session.
func hasSession(args []string) bool {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		switch arg := args[i]; {
		case slices.Contains([]string{"-h", "--help", "-V", "--version"}, arg):
			return false
		case slices.Contains(codexValued, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return !slices.Contains(codexPlain, arg)
		}
	}
	return true
}

// codexArgs adds the hooks to the settings of the command line, and the user's trust in them: Codex runs no others.
func codexArgs(ctx context.Context, l Launch) (all, environ []string, err error) {
	if !hasSession(l.Args) {
		return l.Args, nil, nil
	}
	given, args, err := codexGiven(l.Args)
	if err != nil {
		return nil, nil, err
	}
	// The text is the same in all runs, so that the trust can be kept.
	hook := hookCommand(l.Own, `"$`+folderVariable+`"`, "codex", `"$`+RunVariable+`"`)
	var flags, commands []string
	for _, event := range codexEvents {
		command, err := json.Marshal(hook(event)) // is a string of TOML, too
		if err != nil {
			return nil, nil, err
		}
		commands = append(commands, hook(event))
		value, ok := extended(given[event], "[]", codexHook(command))
		if !ok {
			return nil, nil, problem.Usage("cannot add the hooks of jp to -c hooks.%s (want a list in TOML, such as [{hooks=[…]}]).", event)
		}
		flags = append(flags, "-c", "hooks."+event+"="+value)
	}
	trust, err := l.trust(ctx, flags, commands)
	if err != nil {
		return nil, nil, problem.New(problem.ExitFailed, "failed", "cannot ask codex which hooks it trusts: %v.", err)
	}
	state, ok := extended(given["state"], "{}", trust)
	if !ok {
		return nil, nil, problem.Usage("cannot add the trust in the hooks of jp to -c hooks.state (want a table in TOML).")
	}
	return slices.Concat(flags, []string{"-c", "hooks.state=" + state}, args), []string{folderVariable + "=" + l.Folder}, nil
}

// codexGiven takes those settings from the command line that jp's would replace: of two for one name the last counts.
func codexGiven(args []string) (given map[string]string, rest []string, err error) {
	given = map[string]string{}
	for i := 0; i < len(args); i++ {
		arg, words, setting := args[i], 1, ""
		long, isLong := strings.CutPrefix(arg, "--config=")
		short, isShort := strings.CutPrefix(arg, "-c")
		switch {
		case arg == "--":
			return given, append(rest, args[i:]...), nil
		case (arg == "-c" || arg == "--config") && i+1 < len(args):
			setting, words = args[i+1], 2
		case isLong:
			setting = long
		case isShort:
			setting = strings.TrimPrefix(short, "=")
		}
		name, value, _ := strings.Cut(setting, "=")
		name = strings.TrimSpace(name)
		event, ofHooks := strings.CutPrefix(name, "hooks.")
		switch {
		case slices.Contains(codexEvents, event) && ofHooks, name == "hooks.state":
			given[event] = value
		case name == "hooks", ofHooks && strings.ContainsAny(event, `."'`):
			return nil, nil, problem.Usage("cannot add the hooks of jp to -c %s (want hooks.EVENT=[…] or hooks.state={…}).", name)
		default:
			rest = append(rest, args[i:i+words]...)
		}
		i += words - 1
	}
	return given, rest, nil
}

// extended is a list or a table of TOML with more at its end. An empty text is an empty one.
func extended(value, brackets, more string) (text string, ok bool) {
	if value = strings.TrimSpace(value); value == "" {
		value = brackets
	}
	inner, ends := strings.CutSuffix(value, brackets[1:])
	if inner = strings.TrimSpace(inner); !ends || !strings.HasPrefix(inner, brackets[:1]) {
		return "", false
	}
	if inner != brackets[:1] && !strings.HasSuffix(inner, ",") {
		inner += ","
	}
	text = inner + more + brackets[1:]
	var parsed map[string]any
	return text, toml.Unmarshal([]byte("x = "+text), &parsed) == nil
}

// A codexTrust is the trust in jp's hooks, as a program of one version takes it.
type codexTrust struct{ Program, Hooks, State string }

// trustFile keeps the trust, since asking takes longer than a second. A run without hooks removes it.
func trustFile(state string) string { return filepath.Join(state, "recordings", "codex-trust.json") }

// trust is the members of the table hooks.state for jp's own hooks.
func (l Launch) trust(ctx context.Context, flags, commands []string) (string, error) {
	real, err := filepath.EvalSymlinks(l.Program)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	want := codexTrust{Program: fmt.Sprintf("%s %d %d", real, info.Size(), info.ModTime().UnixNano()), Hooks: strings.Join(flags, "\n")}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		want.Program += fmt.Sprintf(" %d", st.Ino) // npm gives all files the same time
	}
	var kept codexTrust
	text, err := os.ReadFile(trustFile(l.State))
	if err == nil && json.Unmarshal(text, &kept) == nil && kept.Program == want.Program && kept.Hooks == want.Hooks {
		return kept.State, nil
	}
	hooks, err := l.askTrust(ctx, flags, commands)
	if err != nil {
		return "", err
	}
	var members []string
	for _, h := range hooks {
		members = append(members, fmt.Sprintf("%q={trusted_hash=%q}", h.Key, h.CurrentHash))
	}
	want.State = strings.Join(members, ",")
	if text, err = json.Marshal(want); err == nil {
		_ = safefile.Replace(trustFile(l.State), text, safefile.Options{Volatile: true}) // without it jp asks again
	}
	return want.State, nil
}

// A listedHook is a hook as Codex tells it.
type listedHook struct{ Key, Source, Command, CurrentHash string }

// askTrust asks Codex for the hashes of hooks. It trusts those commands alone, and none of the user's.
func (l Launch) askTrust(ctx context.Context, flags, commands []string) (ours []listedHook, err error) {
	const most = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.Program, append([]string{"app-server"}, flags...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = l.Folder, l.Environ, time.Second
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = in.Close() // ends it
		if ended := cmd.Wait(); err != nil && ended != nil {
			err = fmt.Errorf("%w: %s", err, conciseError(wrong.String(), ended))
		}
	}()
	folder, err := json.Marshal([]string{l.Folder})
	if err != nil {
		return nil, err
	}
	const hello = `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"jp","version":"1"}}}` + "\n" + `{"method":"initialized"}` + "\n"
	if _, err := io.WriteString(in, hello+`{"id":2,"method":"hooks/list","params":{"cwds":`+string(folder)+"}}\n"); err != nil {
		return nil, err
	}
	var answer struct {
		ID     int
		Error  *struct{ Message string }
		Result struct {
			Data []struct {
				Hooks []listedHook
			}
		}
	}
	lines := json.NewDecoder(bufio.NewReader(out))
	for answer.ID != 2 {
		answer.ID = 0
		if err := lines.Decode(&answer); err != nil {
			return nil, fmt.Errorf("read its answer: %w", err)
		}
	}
	if answer.Error != nil {
		return nil, errors.New(answer.Error.Message)
	}
	for _, list := range answer.Result.Data {
		for _, h := range list.Hooks {
			if h.Source == "sessionFlags" && slices.Contains(commands, h.Command) {
				ours = append(ours, h)
			}
		}
	}
	return ours, nil
}

// conciseError is the last line that a program wrote, or else how it ended.
func conciseError(text string, ended error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return ended.Error()
}
