package shell

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// screenEditors wait for keys, even without a terminal and without input.
var screenEditors = []string{"vi", "vim", "nvim", "view", "vimdiff", "rvim", "ex"}

// checkKeys refuses an editor that would wait for a person, since it has neither input nor a command that
// ends it. It also refuses watch, which runs for ever.
func (a arguments) checkKeys() error {
	if len(a.Argv) > 0 && filepath.Base(a.Argv[0]) == "watch" {
		return errors.New("watch repeats a command until a person ends it: run the command itself")
	}
	if len(a.Argv) == 0 || a.Stdin != "" || !slices.Contains(screenEditors, filepath.Base(a.Argv[0])) {
		return nil
	}
	for _, arg := range a.Argv[1:] {
		if strings.HasPrefix(arg, "+") || len(arg) > 1 && strings.HasPrefix(arg, "-") && strings.ContainsAny(arg[1:2], "ceEsS-h") {
			return nil
		}
	}
	return fmt.Errorf("%s waits for the keys of a person, and there is no terminal: use fs_modify_file, or give -es and -c", filepath.Base(a.Argv[0]))
}
