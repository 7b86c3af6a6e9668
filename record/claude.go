package record

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"jp/agent/problem"
)

// claudeEvents are the hooks of Claude Code, those of tools first.
var claudeEvents = []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart", "UserPromptSubmit", "SubagentStop", "Stop", "SessionEnd"}

// hookSeconds is how long an agent waits for a hook, the most that Codex allows at each.
const hookSeconds = 3

// claudeArgs adds the hooks to the settings of the command line. The program takes the last --settings alone.
func claudeArgs(args []string, hook HookCommand) (all, _ []string, err error) {
	const flag = "--settings"
	settings := map[string]any{}
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		value, joined := strings.CutPrefix(args[i], flag+"=")
		switch {
		case joined:
			args = slices.Delete(slices.Clone(args), i, i+1)
		case args[i] == flag && i+1 < len(args):
			value = args[i+1]
			args = slices.Delete(slices.Clone(args), i, i+2)
		default:
			continue
		}
		i--
		text := []byte(value)
		if !strings.HasPrefix(strings.TrimSpace(value), "{") {
			if text, err = os.ReadFile(value); err != nil {
				return nil, nil, problem.Usage("cannot read the settings: %v.", err)
			}
		}
		settings = map[string]any{}
		if err := json.Unmarshal(text, &settings); err != nil {
			return nil, nil, problem.Usage("cannot read the settings %s: %v.", value, err)
		}
	}
	if err := addClaudeHooks(settings, hook); err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(settings)
	return append([]string{flag, string(text)}, args...), nil, err
}

func addClaudeHooks(settings map[string]any, hook HookCommand) error {
	hooks, ok := settings["hooks"].(map[string]any)
	if !ok && settings["hooks"] != nil {
		return problem.Usage("the hooks of the settings are no object.")
	}
	if hooks == nil {
		hooks = map[string]any{}
	}
	settings["hooks"] = hooks
	for _, event := range claudeEvents {
		list, ok := hooks[event].([]any)
		if !ok && hooks[event] != nil {
			return problem.Usage("the hooks of %s are no list.", event)
		}
		hooks[event] = append(list, claudeHook(hook(event)))
	}
	return nil
}

func claudeHook(command string) map[string]any {
	return map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": command, "timeout": hookSeconds}}}
}
