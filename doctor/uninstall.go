package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/blame"
	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process"
	"jp/record/journal"
)

// A Removal is everything of jp that belongs to one repository. The working tree, with .jp, and git's configuration stay.
type Removal struct {
	Action        string           `json:"action"`  // uninstall
	DryRun        bool             `json:"dry_run"` // nothing has been taken out
	Refs          []string         `json:"refs"`    // with the hash of each behind a blank
	Conversations int              `json:"conversations"`
	Hook          string           `json:"hook"`    // folder of the hook commit-msg that jp installed, or ""
	Folders       []RemovableFiles `json:"folders"` // in the order in which they go

	repo *repo.Repo
	hook blame.MessageHook
}

// RemovableFiles are a folder of jp's.
type RemovableFiles struct {
	Path  string `json:"path"`
	What  string `json:"what"`
	Bytes int64  `json:"bytes"`
}

// NewRemoval finds the parts to remove. A running conversation is an error.
func NewRemoval(ctx context.Context, r *repo.Repo, program string) (*Removal, error) {
	u := &Removal{Action: "uninstall", repo: r, hook: blame.NewMessageHook(r, program), Folders: []RemovableFiles{}}
	if err := u.idle(ctx); err != nil {
		return nil, err
	}
	var err error
	if u.Refs, err = r.Store.SeenRefs().Everything(); err != nil { // git waits for a pipe that has the place of a ref
		return nil, err
	}
	for _, line := range u.Refs {
		if strings.HasPrefix(line, "refs/jp/conversations/") || strings.HasPrefix(line, "refs/jp/archive/") {
			u.Conversations++
		}
	}
	is, err := u.hook.Installed()
	if err != nil {
		return nil, err
	}
	if is {
		u.Hook = u.hook.Dir()
	}
	if id := r.Standings().KnownWorkspaceID(); id != "" {
		registry := process.Registry{DataDir: r.Paths.DataDir, Workspace: id}
		if b := r.Standings().Backups(); b != nil {
			u.folder(b.Dir(), "backups of files that git does not have")
		}
		u.folder(string(journal.In(r.Paths.StateDir, id)), "moments of recorded sessions")
		u.folder(filepath.Dir(registry.Folder()), "logs of background turns")
	}
	u.folder(filepath.Join(r.At.CommonDir, "jp"), "drafts, sessions, locks and caches") // last: it has the name of the others
	return u, nil
}

// folder adds a folder, if it exists.
func (u *Removal) folder(path, what string) {
	if _, err := os.Lstat(path); err != nil {
		return
	}
	f := RemovableFiles{Path: path, What: what}
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // of unknown size
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			f.Bytes += info.Size()
		}
		return nil
	})
	u.Folders = append(u.Folders, f)
}

// idle refuses a repository in which a process or a tool of it runs.
func (u *Removal) idle(ctx context.Context) error {
	infos, err := u.repo.Find().EveryInfo(ctx)
	if err != nil {
		return err
	}
	for _, i := range infos {
		if holder, held := u.repo.Locks.Held(i.ID); held {
			return problem.New(problem.ExitLocked, "locked", "%s is running (pid %d).", i.ID, holder.PID).About(i.ID).Hint(action.Kill(i.ID.Short()), "ends it")
		}
		if len(u.repo.States().ToolsLeft(i)) > 0 {
			return problem.New(problem.ExitLocked, "locked", "a tool of %s is running.", i.ID).About(i.ID).Hint(action.Kill(i.ID.Short()), "ends it")
		}
	}
	return nil
}

// Empty reports whether there are no parts to remove.
func (u *Removal) Empty() bool { return len(u.Refs)+len(u.Folders) == 0 && u.Hook == "" }

// Words lists the parts, one line each.
func (u *Removal) Words() (lines []string) {
	if len(u.Refs) > 0 {
		lines = append(lines, fmt.Sprintf("refs/jp: %s, %s", conversation.Count(u.Conversations, "conversation"), conversation.Count(len(u.Refs), "ref")))
	}
	if u.Hook != "" {
		lines = append(lines, "the hook commit-msg in "+safetext.Show(u.Hook)+"; your own hook comes back")
	}
	for _, f := range u.Folders {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", safetext.Show(f.Path), f.What, safetext.Bytes(f.Bytes)))
	}
	return lines
}

// Lost names the parts that are lost for good.
func (u *Removal) Lost() string {
	lost := "jp cannot bring back these folders."
	if len(u.Refs) > 0 {
		lost = "jp cannot bring this back. Git deletes the events when it collects garbage, at the earliest in two weeks."
	}
	return lost
}

// Do removes the parts. The refs go together, and only if all are as before. The folder that names the rest
// goes last, so that a removal that was killed can be repeated. The repository is closed by then.
func (u *Removal) Do(ctx context.Context) error {
	if err := u.idle(ctx); err != nil {
		return err
	}
	if err := u.repo.Close(); err != nil {
		return err
	}
	var commands strings.Builder
	for _, ref := range u.Refs {
		commands.WriteString("delete " + ref + "\n")
	}
	if _, err := u.repo.Git.RunWith(ctx, gitcmd.Command{Args: []string{"update-ref", "--no-deref", "--stdin"}, Stdin: strings.NewReader(commands.String())}); err != nil {
		return fmt.Errorf("delete the refs: %w", err)
	}
	if u.Hook != "" {
		if _, err := u.hook.Uninstall(); err != nil {
			return err
		}
	}
	errs := []error{os.RemoveAll(filepath.Join(u.repo.At.CommonDir, "refs/jp"))} // git leaves files other than refs there
	for _, f := range u.Folders {
		errs = append(errs, os.RemoveAll(f.Path))
		if errors.Join(errs...) != nil {
			break
		}
	}
	return errors.Join(errs...)
}
