package agent

import (
	"context"
	"encoding/json"
	"path"
	"runtime"
	"time"

	"jp/agent/contextfiles"
	"jp/agent/repo"
	"jp/agent/snapshot"
)

// An environment describes to a model the place in which jp runs.
type environment struct {
	now    time.Time
	system string
	shell  string // the user's; "" if unknown
	folder string // from the root of the working tree; "" without one
	branch string // "" for a detached HEAD
}

func environmentOf(ctx context.Context, host *repo.Host, from *contextfiles.Instructions, files *snapshot.Files) (environment, error) {
	is := environment{now: host.Now(), system: runtime.GOOS, shell: path.Base(host.Get("SHELL"))}
	if files.Tree == nil {
		return is, nil
	}
	state, err := files.Tree.State(ctx)
	is.folder, is.branch = from.Folder(), state.Branch
	return is, err
}

// text is one line. Names are quoted, so that each is only a name.
func (e environment) text() string {
	text := "[ENVIRONMENT] Today is " + e.now.Format("2006-01-02") + ". The system is " + e.system + "."
	if e.shell != "" && e.shell != "." {
		text += " The user's shell is " + quoted(e.shell) + "."
	}
	switch e.folder {
	case "":
		return text
	case ".":
		text += " jp runs in the root of the working tree"
	default:
		text += " jp runs in the folder " + quoted(e.folder) + " of the working tree"
	}
	if e.branch == "" {
		return text + ", and HEAD is detached."
	}
	return text + ", on the branch " + quoted(e.branch) + "."
}

func quoted(name string) string {
	text, _ := json.Marshal(name) // a text always can be
	return string(text)
}
