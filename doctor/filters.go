package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/internal/action"
	"jp/internal/safetext"
)

// filtered looks which filters the tracked files need, and whether they run.
func (c *checkup) filtered(ctx context.Context) []Finding {
	if c.repo.At.TopLevel == "" {
		return nil
	}
	limited, cancel := c.patienceFor(ctx, 2*time.Second) // several gits, over all files
	defer cancel()
	f, err := c.filters(limited)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.IndexDamaged() {
		return nil // a finding of its own
	}
	f.Err, f.Partly = err, limited.Err() != nil
	return f.Findings()
}

func (c *checkup) filters(ctx context.Context) (f Filters, err error) {
	git := c.repo.Git
	foreign, err := git.UntrustedFilters(ctx)
	if err != nil {
		return f, err
	}
	out, err := git.Run(ctx, "ls-files", "-z")
	if err != nil || len(out) == 0 {
		return f, err
	}
	needed, err := convert.Attributes(ctx, git, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
	if err != nil {
		return f, err
	}
	gaps, err := convert.New(git, c.repo.At).Judge(ctx, needed, "")
	if err != nil {
		return f, err
	}
	f.Files, f.Foreign = len(gaps), foreign
	for _, gap := range gaps {
		if !slices.Contains(foreign, gap.Filter) && !slices.Contains(f.Undefined, gap.Filter) {
			f.Undefined = append(f.Undefined, gap.Filter)
		}
	}
	slices.Sort(f.Undefined)
	f.Pointers = c.pointers(needed)
	if _, err := os.Stat(filepath.Join(c.repo.At.CommonDir, "lfs")); err == nil {
		f.Missing, err = c.missingLFS(ctx)
		return f, err
	}
	return f, nil
}

// pointers are the paths of files in the working tree whose content is only in LFS, with a pointer in their
// place.
func (c *checkup) pointers(filters map[string]string) (paths []string) {
	root, err := os.OpenRoot(c.repo.At.TopLevel)
	if err != nil {
		return nil
	}
	defer root.Close()
	for path, filter := range filters {
		if filter != "lfs" {
			continue
		}
		if info, err := root.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() >= convert.PointerSize {
			continue
		}
		if text, err := root.ReadFile(path); err == nil && convert.IsPointer(text) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// missingLFS are the paths of pointers in snapshots alone whose content is missing from the storage of LFS.
func (c *checkup) missingLFS(ctx context.Context) (paths []string, err error) {
	git := c.repo.Git
	out, err := git.Run(ctx, "rev-list", "--objects", "--glob=refs/jp/conversations/*", "--glob=refs/jp/archive/*", "--not", "--branches", "--tags", "--remotes")
	if err != nil {
		return nil, err
	}
	named := map[string]string{}
	var oids []string
	for line := range strings.Lines(string(out)) {
		oid, path, has := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if has && path != "" {
			named[oid] = path
			oids = append(oids, oid)
		}
	}
	small, err := convert.Small(ctx, git, oids)
	if err != nil {
		return nil, err
	}
	for oid, text := range small {
		if convert.IsPointer(text) && !convert.Stored(ctx, git, text) {
			paths = append(paths, named[oid])
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// Filters are the filters that files of the working tree need, and the missing content of LFS.
type Filters struct {
	Foreign   []string // of the repository's own configuration: jp does not run them
	Undefined []string // that attributes name, and nothing configures
	Files     int      // that need one of those
	Pointers  []string // files of the working tree that are pointers of LFS, in place of their content
	Missing   []string // files whose content of LFS is not here, and that only snapshots name
	Err       error    // why they could not be looked at
	Partly    bool     // time was up
}

// Findings judges them.
func (f Filters) Findings() (all []Finding) {
	switch {
	case f.Partly:
		return []Finding{found(Note, "filters", "jp did not look at the filters of all files: that takes long here").advise("%s looks at all of them", action.DoctorLong)}
	case f.Err != nil:
		return []Finding{found(Note, "filters", "jp could not look at the filters of files: %v", f.Err)}
	}
	const left = "; jp leaves %s out of snapshots and commits"
	files := conversation.Count(f.Files, "file")
	if len(f.Foreign) > 0 {
		all = append(all, found(Warn, "filters", "this repository configures filters or has their programs (%s), and jp runs your own alone"+left, strings.Join(f.Foreign, ", "), files).
			advise("if you trust them, set them in the configuration of your own git"))
	}
	if len(f.Undefined) > 0 {
		advice := "configure it for git"
		if len(f.Undefined) == 1 && f.Undefined[0] == "lfs" {
			advice = action.InstallLFS.String()
		}
		all = append(all, found(Warn, "filters", "files need filters that are not configured here (%s)"+left, strings.Join(f.Undefined, ", "), files).advise("%s", advice))
	}
	if n := len(f.Pointers); n > 0 {
		all = append(all, found(Warn, "lfs", "the working tree has pointers in place of LFS content (%s, such as %s): the model and its tools read the pointers",
			conversation.Count(n, "file"), safetext.Show(strings.Join(f.Pointers[:min(n, 3)], ", "))).advise("%s brings the content", action.PullLFS))
	}
	if n := len(f.Missing); n > 0 {
		some := strings.Join(f.Missing[:min(n, 3)], ", ")
		all = append(all, found(Warn, "lfs", "LFS content that only snapshots name is not here (%s, such as %s): undo and restore cannot write it; git lfs prune removes such content", conversation.Count(n, "version"), some).
			advise("%s brings what a server has", action.FetchLFS))
	}
	if len(all) == 0 {
		return []Finding{found(OK, "filters", "jp runs all filters that files of this working tree need")}
	}
	return all
}
