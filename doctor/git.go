package doctor

import (
	"errors"
	"fmt"
	"syscall"

	"jp/agent/action"
)

// moreFiles is the way out where a process may have too few files open.
const moreFiles = "ulimit -n 256, or more"

// TooFewFiles reports whether an error is that, and what to do about it.
func TooFewFiles(err error) (advice string, ok bool) {
	return moreFiles, errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Git is the git program. The zero value was not found.
type Git struct {
	Version string // "" where there is none
	Old     bool   // jp cannot work with it
	Ran     bool   // it is there, and fails
	Err     error  // why its version is not known
}

// Findings judges git.
func (g Git) Findings() []Finding {
	advice, few := TooFewFiles(g.Err)
	switch {
	case g.Old:
		return []Finding{found(Fail, "git", "git %s is too old: what is recorded could not be made durable, nor snapshots be taken", g.Version).
			advise("install git 2.36 or newer")}
	case g.Err != nil && g.Ran:
		return []Finding{found(Fail, "git", "%v", g.Err).advise("mend what git names; until then nothing of git's runs")}
	case few:
		return []Finding{found(Fail, "git", "%v", g.Err).advise("%s", advice)}
	case g.Err != nil:
		return []Finding{found(Fail, "git", "%v", g.Err).advise("install git 2.36 or newer, and have it in PATH")}
	}
	return []Finding{found(OK, "git", "git %s", g.Version)}
}

// A Repository is what was found of the repository. Err nil: one that jp can work
// in.
type Repository struct {
	Dir  string // where it was looked for
	None bool   // there is none, and nothing looks like one
	Err  error  // why git, or jp, does not take it
	Hint string // what git says can be done about Err

	TopLevel string // of the working tree, "" without one
	GitDir   string // of this working tree
	Common   string // the git directory that all working trees share
	Objects  string // the format of object names
	Bare     bool
	Shallow  bool
	Partial  bool
	Owner    int // uid of the git directory
	User     int // uid of this process

	ReadOnly error    // why it cannot be written to
	Own      error    // why jp's own folder in it, or one below, cannot be used
	Unusual  []string // what stands in the place of jp's files and is none
	Instead  string   // what stands there in the place of one, "" for nothing
	Index    error    // why git cannot read the index
}

// Findings judges the repository.
func (r Repository) Findings() []Finding {
	if r.None {
		return []Finding{found(Note, "repository", "there is no repository at %s; conversations live in one", r.Dir).
			advise("%s makes one; %s asks in another one", action.Init, action.AskElsewhere)}
	}
	if r.Err != nil {
		return []Finding{found(Fail, "repository", "%v", r.Err).advise("%s", r.Hint)}
	}
	all := []Finding{found(OK, "repository", "%s, %s objects, refs as files", r.kind(), r.Objects)}
	if r.Shallow {
		all = append(all, found(Note, "shallow", "a shallow clone: commits are missing, those of conversations that were fetched among them").
			advise("%s", action.Unshallow()))
	}
	if r.Partial {
		all = append(all, found(Note, "partial", "a partial clone: jp fetches no object that git left out; what needs one says so"))
	}
	if r.Owner != r.User {
		all = append(all, found(Note, "owner", "the repository belongs to uid %d, and you are uid %d; what jp writes is yours", r.Owner, r.User))
	}
	return append(all, r.access()...)
}

// kind says what and where the repository is.
func (r Repository) kind() string {
	switch {
	case r.TopLevel == "" && r.Bare:
		return fmt.Sprintf("%s, a bare repository: no files, no tools that change them", r.Common)
	case r.TopLevel == "":
		return fmt.Sprintf("%s, inside a git directory", r.GitDir)
	case r.GitDir != r.Common:
		return fmt.Sprintf("%s, a linked working tree of %s", r.TopLevel, r.Common)
	}
	return r.TopLevel
}

// access judges whether jp can read and write what it has to.
func (r Repository) access() (all []Finding) {
	if r.ReadOnly != nil {
		all = append(all, found(Fail, "writable", "%s cannot be written to: %v. Conversations can be read, and not be gone on with", r.Common, r.ReadOnly).
			advise("make it writable for you"))
	}
	switch {
	case r.Instead != "":
		all = append(all, found(Fail, "folder", "%v, and no turn can run", r.Own).
			advise("look where it leads, and rm %s: jp makes its own folder anew; conversations are not in it", r.Instead))
	case r.Own != nil:
		all = append(all, found(Fail, "folder", "jp's own folder cannot be read: %v", r.Own).
			advise("make %s/jp a folder of yours; what it holds can be lost, conversations are not in it", r.Common))
	}
	for _, path := range r.Unusual {
		all = append(all, found(Fail, "file", "%s is not a regular file", path).
			advise("rm -r %s: jp makes it anew; conversations are not in it", path))
	}
	if r.Index != nil {
		all = append(all, found(Fail, "index", "git's index is damaged: %v", r.Index).
			advise("%s makes it anew; what was staged is no longer, and files stay as they are", action.ReadTree))
	}
	return all
}
