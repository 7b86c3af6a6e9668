package ui

import (
	"context"
	"os"
	"os/exec"

	"jp/agent/problem"
	"jp/internal/action"
)

// EditorCommand is the user's editor for a shell, and the variable that names it, or "".
func (e *Env) EditorCommand() (command, from string) {
	for _, name := range []string{"JP_EDITOR", "GIT_EDITOR", "VISUAL", "EDITOR"} {
		if command := e.Get(name); command != "" {
			return command, name
		}
	}
	return "vi", ""
}

// editor opens a file in the user's editor, as git would. It works in dir.
func (e *Env) editor(ctx context.Context, dir, path string) error {
	command, _ := e.EditorCommand()
	defer e.Keys.lend(e.Console)()
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return problem.Usage("there is no terminal for an editor.").Hint(action.Ask, "give the text on the command line")
	}
	defer tty.Close()
	cmd := exec.CommandContext(ctx, "sh", "-c", command+` "$@"`, command, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = tty, tty, tty, dir, e.Environ
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return problem.New(problem.ExitFailed, "internal", "the editor %q ended with an error: %v", command, err)
	}
	return nil
}
