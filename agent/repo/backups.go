package repo

import (
	"errors"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"jp/agent/problem"
	"jp/backup"
	"jp/config"
	"jp/gitcmd"
	"jp/internal/action"
	"jp/internal/safetext"
)

// BackupsFolder has the stores of all repositories, in the user's state.
const BackupsFolder = "backups"

// backupStores are the stores that were opened, the last one for the settings. All are closed with the repository.
type backupStores struct {
	mu       sync.Mutex
	open     []*backup.Store
	settings config.Backup
}

func (b *backupStores) close() (err error) {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, store := range b.open {
		err = errors.Join(err, store.Close())
	}
	b.open = nil
	return err
}

// Backups is the store of a repository's backups, nil if the repository has no name yet. It is closed with the repository.
func (s Standings) Backups() *backup.Store {
	r := s.repo
	name := r.Standings().KnownWorkspaceID()
	if name == "" || r.Paths.StateDir == "" {
		return nil
	}
	if r.backups == nil { // the conversations are closed
		r.backups = &backupStores{}
	}
	b, c := r.backups, r.Config.Backup
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.open); n > 0 && reflect.DeepEqual(b.settings, c) {
		return b.open[n-1]
	}
	b.settings = c
	b.open = append(b.open, backup.New(backup.Options{
		Dir: filepath.Join(r.Paths.StateDir, BackupsFolder, name), Format: r.At.ObjectFormat, Top: r.At.TopLevel,
		File: c.FileSize, First: 8 * c.StepSize, Step: c.StepSize, Total: c.Total, Days: int(c.Days), Include: c.Include,
		Excluded: func(path string) bool { return matches(c.Exclude, path) }, Volatile: r.Config.Store.Durability == "off", Now: r.Env.Now,
	}))
	return b.open[len(b.open)-1]
}

// matches reports whether one of the patterns fits a path, or the path's last name if the pattern has no
// slash.
func matches(patterns []string, file string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		whole, _ := path.Match(pattern, file)
		name, _ := path.Match(pattern, path.Base(file))
		return whole || name
	})
}

// lostRepository adds to the error of a folder without a repository that jp has copies of files of an earlier
// one.
func (e *Host) lostRepository(err error) error {
	var r *gitcmd.Refusal
	paths, homeless := config.FindPaths(e.Environ)
	if !errors.As(err, &r) || !errors.Is(err, gitcmd.ErrNotRepository) || r.Hint() != "" || homeless != nil {
		return err
	}
	dir, _ := filepath.Abs(r.Dir)
	tops := []string{dir}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		tops = append(tops, dir)
	}
	_, moment, wrong := backup.Newest(filepath.Join(paths.StateDir, BackupsFolder), tops...)
	if moment == nil || wrong != nil {
		return err
	}
	f := problem.New(problem.ExitUsage, "usage", "%s is not in a git repository, and was in one: jp has copies of its untracked files.", safetext.Show(r.Dir))
	if moment.Worktree != tops[0] {
		f.Hint(action.ChangeDir(moment.Worktree), "its folder")
	}
	return errors.Join(f.Hint(action.Init, "make one here").Hint(action.RestoreTo, "then writes the copies into a new folder"), err)
}
