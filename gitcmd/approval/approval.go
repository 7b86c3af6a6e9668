// Package approval keeps which filters of a repository the user has approved.
//
// An approval is by content: the filter's command lines as git takes them, and the hash of
// every file of the repository that they name. It holds in one working tree, until a byte
// of that changes. A filter that starts a program of the repository cannot be approved,
// nor can one whose command lines leave open what they start.
//
// It starts nothing, and writes only below its folder.
package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// ErrChanged says that a filter, or a file that it names, is not what was approved.
var ErrChanged = errors.New("has changed since you approved it")

// Approvals are those of one working tree.
type Approvals struct {
	Dir     string // the user's own; nothing of a tool may write there
	Repo    gitcmd.Repository
	Environ []string // in which git runs filters
}

// A Filter is what is, or would be, approved of one.
type Filter struct {
	Name     string            `json:"name"`
	Clean    string            `json:"clean"`
	Smudge   string            `json:"smudge"`
	Process  string            `json:"process"`
	Required bool              `json:"required"`
	Files    map[string]string `json:"files"` // SHA-256 of the files of the repository that it names, by name
}

// Same reports whether two are the same content.
func (f Filter) Same(other Filter) bool {
	return f.Name == other.Name && f.Clean == other.Clean && f.Smudge == other.Smudge && f.Process == other.Process &&
		f.Required == other.Required && maps.Equal(f.Files, other.Files)
}

// Text is the filter as it is shown: git's settings, then the files.
func (f Filter) Text() string {
	var b strings.Builder
	for _, line := range []struct{ key, value string }{{"clean", f.Clean}, {"smudge", f.Smudge}, {"process", f.Process}, {"required", fmt.Sprint(f.Required)}} {
		fmt.Fprintf(&b, "filter.%s.%s=%s\n", f.Name, line.key, line.value)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		fmt.Fprintf(&b, "file %s sha256 %s\n", name, f.Files[name])
	}
	return b.String()
}

// Examine says what an approval of a filter would be about. The error says why it cannot
// be approved.
func (a Approvals) Examine(f gitcmd.Filter) (Filter, error) {
	files, err := a.examine(f)
	return Filter{Name: f.Name, Clean: f.Clean, Smudge: f.Smudge, Process: f.Process, Required: f.Required, Files: files}, err
}

// MayRun says why jp does not run a filter, nil where it does: the user's own, unless it
// starts a program of the repository, and one that is as it was approved. It is for
// [gitcmd.Options].
func (a Approvals) MayRun(f gitcmd.Filter) error {
	is, err := a.Examine(f)
	if f.UserOnly {
		if errors.Is(err, ErrLies) {
			return err
		}
		return nil
	}
	was, approved := a.Approved()[f.Name]
	switch {
	case !approved:
		return gitcmd.ErrNotApproved
	case err != nil:
		return err
	case !was.Same(is):
		return ErrChanged
	}
	return nil
}

// Approved are the filters that the user has approved here, by name. What cannot be read
// approves nothing.
func (a Approvals) Approved() map[string]Filter {
	text, err := os.ReadFile(a.file())
	if err != nil {
		return nil
	}
	var kept record
	if json.Unmarshal(text, &kept) != nil || kept.Root != a.Repo.TopLevel {
		return nil
	}
	all := map[string]Filter{}
	for _, f := range kept.Filters {
		all[f.Name] = f
	}
	return all
}

// A record is the file that keeps them.
type record struct {
	Root    string   `json:"root"`
	Filters []Filter `json:"filters"`
}

// Approve makes these filters the approved ones; others are not approved any more.
func (a Approvals) Approve(filters []Filter) error {
	text, err := json.MarshalIndent(record{a.Repo.TopLevel, filters}, "", "  ")
	if err == nil {
		err = safefile.Replace(a.file(), append(text, '\n'), safefile.Options{Mode: 0o600, FolderMode: 0o700})
	}
	if err != nil {
		return fmt.Errorf("approve filters: %w", err)
	}
	return nil
}

// Revoke takes all approvals of the working tree back, and reports whether there were any.
func (a Approvals) Revoke() (bool, error) {
	err := os.Remove(a.file())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("revoke the approval of filters: %w", err)
	}
	return true, nil
}

func (a Approvals) file() string {
	name := sha256.Sum256([]byte(a.Repo.TopLevel))
	return filepath.Join(a.Dir, "filters-"+hex.EncodeToString(name[:16])+".json")
}
