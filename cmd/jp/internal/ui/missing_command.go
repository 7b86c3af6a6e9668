package ui

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"jp/agent/problem"
	"jp/internal/action"
)

// MissingCommand is the error for a command line that has a flag of a command and does not name the
// command; nil if that is not the mistake. Flags are those of a command, nil for an unknown one.
func MissingCommand(err error, args []string, flags func(command string) *pflag.FlagSet) *problem.Error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return nil
	}
	var found *problem.Error
	args = withoutDir(args)
	for _, name := range []string{"chat", "query"} {
		all := flags(name)
		if all == nil {
			continue
		}
		flag, shown := all.Lookup(unknown.GetSpecifiedName()), "--"+unknown.GetSpecifiedName()
		if shorts := unknown.GetSpecifiedShortnames(); shorts != "" {
			flag, shown = all.ShorthandLookup(shorts[:1]), "-"+shorts[:1]
		}
		if flag == nil {
			continue
		}
		if found == nil {
			found = problem.Usage("%s is a flag of a command, which comes before it.", shown)
		}
		if all.Parse(args) == nil {
			switch words := all.Args(); {
			case name == "chat" && len(words) == 0:
				found.Hint(action.Chat(args...), "talk with the model")
			case name == "query" && len(words) > 0:
				found.Hint(action.AskWords(args...), "ask the model this")
			}
		}
		found.Hint(action.Help("jp", name), "its flags, with examples")
	}
	return found
}

// withoutDir are the words of a command line without -C DIR, which a hint has anyway.
func withoutDir(args []string) []string {
	for i, word := range args {
		switch {
		case word == "-C" || word == "--chdir":
			return slices.Concat(args[:i], args[min(i+2, len(args)):])
		case strings.HasPrefix(word, "-C") || strings.HasPrefix(word, "--chdir="):
			return slices.Concat(args[:i], args[i+1:])
		case !strings.HasPrefix(word, "-"):
			return args
		}
	}
	return args
}

// IsDirFlag reports whether a command line has -C behind the command.
func IsDirFlag(err error) bool {
	var unknown *pflag.NotExistError
	return errors.As(err, &unknown) && (unknown.GetSpecifiedName() == "chdir" || strings.HasPrefix(unknown.GetSpecifiedShortnames(), "C"))
}
