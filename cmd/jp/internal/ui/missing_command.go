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
	name, short := unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames()
	return EarlyFlag(name, short[:min(1, len(short))], args, flags)
}

// EarlyFlag is the error for a flag of a command, by its name or its letter, that does not stand behind the
// command; nil if no command has it.
func EarlyFlag(name, short string, args []string, flags func(command string) *pflag.FlagSet) (found *problem.Error) {
	args = withoutDir(args)
	for _, command := range []string{"chat", "query"} {
		all := flags(command)
		if all == nil {
			continue
		}
		flag, shown := all.Lookup(name), "--"+name
		if short != "" {
			flag, shown = all.ShorthandLookup(short), "-"+short
		}
		if flag == nil {
			continue
		}
		if flag.Shorthand != "" {
			shown = "-" + flag.Shorthand
		}
		if found == nil {
			found = problem.Usage("%s is a flag of a command, which comes before it.", shown)
		}
		if all.Parse(args) == nil {
			words := all.Args()
			named := len(words) > 0 && flags(words[0]) != nil
			switch {
			case command == "chat" && len(words) == 0:
				found.Hint(action.Chat(args...), "talk with the model")
			case command == "chat" && named && words[0] == command && args[len(args)-1] == command:
				found.Hint(action.Chat(args[:len(args)-1]...), "talk with the model")
			case command == "query" && len(words) > 0 && !named:
				found.Hint(action.AskWords(args...), "ask the model this")
			}
		}
		found.Hint(action.Help("jp", command), "its flags, with examples")
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
