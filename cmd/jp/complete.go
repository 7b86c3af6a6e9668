package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/usage"
)

// A completer lists the candidates for a word. Outside of a repository its Store is nil.
type completer func(ctx context.Context, r *repo.Repo, e *ui.Env, args []string, word string) []agent.Candidate

// completeWords tells shells the candidates for words and for the values of flags. After an error
// there are none and no message: the command itself will report it.
func completeWords(e *ui.Env, root *cobra.Command) {
	ids := func(meant func(repo.Status) bool) completer {
		return func(ctx context.Context, r *repo.Repo, _ *ui.Env, _ []string, word string) []agent.Candidate {
			return agent.ConversationCandidates(ctx, r, word, false, meant)
		}
	}
	any := ids(nil)
	archive := completer(func(ctx context.Context, r *repo.Repo, _ *ui.Env, _ []string, word string) []agent.Candidate {
		cmd, _, _ := root.Find([]string{"archive"})
		undo, _ := cmd.Flags().GetBool("undo")
		return agent.ConversationCandidates(ctx, r, word, undo, nil)
	})
	// An id may have an event behind it, and a bare event is the session's.
	events := completer(func(ctx context.Context, r *repo.Repo, _ *ui.Env, _ []string, word string) []agent.Candidate {
		if strings.Contains(word, "@") {
			return agent.EventCandidates(ctx, r, word)
		}
		return agent.ConversationCandidates(ctx, r, word, false, nil)
	})
	here := completer(func(ctx context.Context, r *repo.Repo, e *ui.Env, args []string, word string) []agent.Candidate {
		if word == "" {
			return agent.EventCandidates(ctx, r, "@")
		}
		return events(ctx, r, e, args, word)
	})
	for name, c := range map[string]completer{
		"continue": ids(repo.Stopped), "answer": ids(repo.Waits),
		"attach": ids(repo.Runs), "kill": ids(repo.Runs), "send": any,
		"status": any, "log": any, "print": any, "verify": any, "use": any, "edit": any, "rm": any, "chat": any, "compact": any, "bisect": any,
		"show": events, "fork": events, "diff": events, "undo": here, "restore": here, "archive": archive,
	} {
		for _, path := range [][]string{{name}, {"conversation", name}} {
			cmd, rest, err := root.Find(path)
			if err != nil || len(rest) > 0 || cmd.Name() != name {
				continue
			}
			many := strings.Contains(cmd.Use, "…") || name == "diff"
			cmd.ValidArgsFunction = complete(e, c, func(args []string) bool { return many || len(args) == 0 })
		}
	}
	if cmd, _, err := root.Find([]string{"grep"}); err == nil {
		cmd.ValidArgsFunction = complete(e, any, func(args []string) bool { return len(args) > 0 || cmd.Flags().Changed("regexp") })
	}
	skills := completer(func(_ context.Context, r *repo.Repo, e *ui.Env, _ []string, _ string) []agent.Candidate {
		return agent.SkillCandidates(r, e.Host)
	})
	if cmd, _, err := root.Find([]string{"skills"}); err == nil {
		cmd.ValidArgsFunction = complete(e, skills, func(args []string) bool { return len(args) == 0 })
	}
	values := completer(func(ctx context.Context, r *repo.Repo, _ *ui.Env, args []string, _ string) []agent.Candidate {
		if len(args) == 0 {
			return agent.KeyCandidates(r)
		}
		return agent.ValueCandidates(ctx, r, args[0])
	})
	for path, most := range map[string]int{"set": 2, "show": 1} {
		if cmd, _, err := root.Find([]string{"config", path}); err == nil {
			cmd.ValidArgsFunction = complete(e, values, func(args []string) bool { return len(args) < most })
		}
	}
	completeFlags(e, root, map[string]completer{
		"model": func(ctx context.Context, r *repo.Repo, _ *ui.Env, _ []string, _ string) []agent.Candidate {
			return agent.ModelCandidates(ctx, r)
		},
		"tool": tools, "no-tool": tools, "skill": skills,
		"profile": func(_ context.Context, r *repo.Repo, _ *ui.Env, _ []string, _ string) []agent.Candidate {
			return agent.ProfileCandidates(r)
		},
		"mcp": func(_ context.Context, r *repo.Repo, _ *ui.Env, _ []string, _ string) []agent.Candidate {
			return agent.ServerCandidates(r)
		},
		"id": any, "head": any, "fork": here, "until": here, "from": here, "to": here, "good": here, "bad": here,
		"remote": func(_ context.Context, r *repo.Repo, _ *ui.Env, _ []string, _ string) []agent.Candidate {
			return agent.RemoteCandidates(r)
		},
		"cfg": func(ctx context.Context, r *repo.Repo, _ *ui.Env, _ []string, word string) (found []agent.Candidate) {
			key, _, given := strings.Cut(word, "=")
			if !given {
				for _, c := range agent.KeyCandidates(r) {
					found = append(found, agent.Candidate{Word: c.Word + "=", About: c.About})
				}
				return found
			}
			for _, c := range agent.ValueCandidates(ctx, r, key) {
				found = append(found, agent.Candidate{Word: key + "=" + c.Word, About: c.About})
			}
			return found
		},
	})
	if cmd, _, err := root.Find([]string{"completion", "bash"}); err == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			plain, _ := cmd.Flags().GetBool("no-descriptions")
			return bashCompletion(root, e.Stdout, !plain)
		}
	}
}

func tools(_ context.Context, r *repo.Repo, e *ui.Env, _ []string, _ string) []agent.Candidate {
	return agent.ToolCandidates(r, e.Host)
}

// fixedValues are the values of flags that take one of a few words.
var fixedValues = map[string][]string{
	"policy": {"auto", "defaults", "deny", "queue", "defer"}, "pending": {"run", "report"}, "format": {"auto", "text", "json", "jsonl"},
	"sort": {"activity", "created", "updated", "title", "events"}, "status": {"idle", "running", "waiting", "interrupted"},
	"style": {"full", "chat", "brief"}, "for": {"idle", "input"}, "by": usage.By,
	"scope": {"chat", "user", "assistant", "reasoning", "tool", "tool-call", "tool-result", "inquiry", "title", "all"},
}

// completeFlags completes the values of every flag with a name in by.
func completeFlags(e *ui.Env, cmd *cobra.Command, by map[string]completer) {
	register := func(name string, f func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)) {
		flag := cmd.Flags().Lookup(name)
		if flag == nil {
			flag = cmd.PersistentFlags().Lookup(name)
		}
		if flag != nil && flag.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(name, f) // fails only for a flag that has one
		}
	}
	for name, c := range by {
		register(name, complete(e, c, func([]string) bool { return true }))
	}
	for name, words := range fixedValues {
		register(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, sub := range cmd.Commands() {
		completeFlags(e, sub, by)
	}
}

// complete turns a completer into the function that cobra calls. more says whether another word may
// follow args.
func complete(e *ui.Env, c completer, more func(args []string) bool) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, word string) (found []string, _ cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if !more(args) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		e.Quiet = true
		e.Alarm, e.Choose = nil, nil
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		r, err := repo.FindSettings(ctx, e.Host)
		if err != nil {
			return nil, directive
		}
		defer r.Close()
		if r.Store == nil && !(cmd.HasParent() && cmd.Parent().Name() == "config") {
			return nil, directive
		}
		for _, f := range c(ctx, r, e, args, word) {
			if !strings.HasPrefix(f.Word, word) {
				continue
			}
			if strings.HasSuffix(f.Word, "=") || strings.HasSuffix(f.Word, "/") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			if f.About != "" {
				f.Word += "\t" + f.About
			}
			found = append(found, f.Word)
		}
		return found, directive
	}
}

// bashWords splits the line for a bash of any kind: its words end at blanks only. Cobra's own
// needs the package bash-completion, and splits a word at an @.
const bashWords = `
    COMPREPLY=()
    local i line=${COMP_LINE:0:COMP_POINT} word
    words=() cword=-1
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((cword < 0)) || [[ $line == [[:blank:]]* ]]; then
            words+=("")
            ((++cword))
            line=${line#"${line%%[![:blank:]]*}"}
        fi
        [[ -z $word || $line != "$word"* ]] && word=$line
        words[cword]+=$word
        line=${line#"$word"}
    done
    cur=${words[cword]} prev=
    ((cword > 0)) && prev=${words[cword-1]}
    return 0
`

// bashCompletion writes cobra's script for bash, with jp's own way to split the line.
func bashCompletion(root *cobra.Command, w io.Writer, about bool) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, about); err != nil {
		return err
	}
	text := script.String()
	for _, change := range [][2]string{
		{"    _get_comp_words_by_ref \"$@\" cur prev words cword\n", bashWords},
		{"    if declare -F _init_completion >/dev/null 2>&1; then\n        _init_completion -n =: || return\n    else\n        __jp_init_completion -n =: || return\n    fi\n", "    __jp_init_completion || return\n"},
		{"    __jp_handle_special_char \"$cur\" =\n", "    __jp_handle_special_char \"$cur\" =\n    __jp_handle_special_char \"$cur\" @\n"},
	} {
		if strings.Count(text, change[0]) != 1 {
			return fmt.Errorf("cobra's script for bash has changed: %q", change[0])
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	_, err := io.WriteString(w, text)
	return err
}
