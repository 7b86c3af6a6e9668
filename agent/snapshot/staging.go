package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/gitcmd"
)

// A stagedIndex is a working tree's index at one moment. git replaces the file instead of writing into it, so
// the open file keeps its content.
type stagedIndex struct {
	file *os.File // nil: there was none
	info os.FileInfo
	head string
}

// openIndex keeps the present index. It is nil if that is unreadable. head is the commit of HEAD, or "", in
// whose place the empty tree stands.
func openIndex(repo gitcmd.Repository, head string) *stagedIndex {
	file, err := os.Open(filepath.Join(repo.GitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return &stagedIndex{head: cmp.Or(head, repo.ObjectFormat.EmptyTree())}
	}
	if err != nil {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil
	}
	return &stagedIndex{file, info, cmp.Or(head, repo.ObjectFormat.EmptyTree())}
}

// A stagedEntry is a staged version of a path. Blob is "" for a deletion.
type stagedEntry struct{ Path, Blob string }

// Lost closes the index, and returns the entries that it staged and the present index lacks, in the order
// of paths. Content that HEAD has now, or that is staged at another path, was committed or moved. head is
// the commit of HEAD now. dropped are the files of HEAD that are still there, and that the present index
// lacks, unlike this one. added are the paths that only the present index stages, if HEAD is the same.
func (x *stagedIndex) Lost(ctx context.Context, git *gitcmd.Git, head string) (lost []stagedEntry, dropped, added []string, err error) {
	if x == nil {
		return nil, nil, nil, nil
	}
	defer x.file.Close()
	info, err := os.Stat(filepath.Join(git.Repository().GitDir, "index"))
	if x.file == nil && err != nil || err == nil && x.file != nil && os.SameFile(info, x.info) && info.ModTime().Equal(x.info.ModTime()) && info.Size() == x.info.Size() {
		return nil, nil, nil, nil
	}
	copied, err := os.CreateTemp("", "jp-index-")
	if err != nil {
		return nil, nil, nil, err
	}
	defer os.Remove(copied.Name())
	if x.file == nil {
		err = os.Remove(copied.Name()) // git takes a missing index as an empty one
	} else {
		_, err = io.Copy(copied, io.NewSectionReader(x.file, 0, x.info.Size()))
	}
	err = errors.Join(err, copied.Close())
	if err != nil {
		return nil, nil, nil, err
	}
	old := "GIT_INDEX_FILE=" + copied.Name()
	before, err := stagedOver(ctx, git, x.head, old)
	if err != nil {
		return nil, nil, nil, err
	}
	after, err := stagedOver(ctx, git, x.head)
	if err != nil {
		return nil, nil, nil, err
	}
	head = cmp.Or(head, git.Repository().ObjectFormat.EmptyTree())
	now := after
	if head != x.head {
		if now, err = stagedOver(ctx, git, head); err != nil {
			return nil, nil, nil, err
		}
	}
	for _, e := range now {
		if _, err := os.Lstat(filepath.Join(git.Repository().TopLevel, e.path)); e.is == "" && err == nil && !slices.Contains(before, e) {
			dropped = append(dropped, e.path)
		}
		if e.is != "" && head == x.head && !slices.Contains(before, e) {
			added = append(added, e.path)
		}
	}
	if len(before) == 0 {
		return nil, dropped, added, nil
	}
	kept, open := map[string]bool{}, map[string]bool{}
	for _, e := range after {
		kept[e.path+"\x00"+e.is] = true
		if e.blob != "" {
			kept[e.is] = true // at another path
		}
	}
	differs, err := stagedOver(ctx, git, head, old)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, e := range differs {
		open[e.path] = true
	}
	for _, e := range before {
		if !kept[e.path+"\x00"+e.is] && !kept[e.is] && open[e.path] {
			lost = append(lost, stagedEntry{e.path, e.blob})
		}
	}
	return lost, dropped, added, nil
}

// An indexEntry is a path at which an index differs from a commit.
type indexEntry struct {
	path, blob string
	is         string // mode and object, or "" for a deletion
	was        string // in the commit, or "" if it lacks the path
}

// stagedOver are the differences of an index to a commit. Conflicts are left out.
func stagedOver(ctx context.Context, git *gitcmd.Git, head string, env ...string) (all []indexEntry, err error) {
	out, err := git.RunWith(ctx, gitcmd.Command{Args: []string{"diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--no-renames", "--ita-invisible-in-index", head, "--"}, Env: env})
	if err != nil {
		return nil, err
	}
	for rest := string(out); rest != ""; {
		record, tail, _ := strings.Cut(rest, "\x00")
		path, tail, ok := strings.Cut(tail, "\x00")
		fields := strings.Split(record, " ") // :mode mode object object status
		if !ok || len(fields) != 5 {
			return nil, fmt.Errorf("git diff-index printed %.60q", record)
		}
		rest = tail
		e := indexEntry{path: path}
		if fields[4] != "D" {
			e.blob, e.is = fields[3], fields[1]+" "+fields[3]
		}
		if fields[4] != "A" {
			e.was = fields[0][1:] + " " + fields[2]
		}
		if fields[4] != "U" {
			all = append(all, e)
		}
	}
	return all, nil
}

// An indexChange is the mode and object of the file at a path before and now, "" for no file.
type indexChange struct{ Path, Was, Is string }

// unstage takes changes out of the index with which their files were taken back: the index has the version
// before, and HEAD the present one. It returns the paths of these, and those at which the index has a third
// version.
func unstage(ctx context.Context, git *gitcmd.Git, head string, changes []indexChange) (unstaged, still []string, err error) {
	all, err := stagedOver(ctx, git, cmp.Or(head, git.Repository().ObjectFormat.EmptyTree()))
	if err != nil {
		return nil, nil, err
	}
	of := map[string]indexChange{}
	for _, c := range changes {
		of[c.Path] = c
	}
	var remove, add strings.Builder // a file may stand in the place of a folder
	for _, e := range all {
		switch c, changed := of[e.path]; {
		case !changed || e.is == c.Is:
			continue
		case e.is != c.Was || e.was != c.Is:
			still = append(still, e.path)
			continue
		case e.was == "":
			fmt.Fprintf(&remove, "0 %s\t%s\x00", e.blob, e.path)
		default:
			fmt.Fprintf(&add, "%s\t%s\x00", e.was, e.path)
		}
		unstaged = append(unstaged, e.path)
	}
	if len(unstaged) == 0 {
		return nil, still, nil
	}
	_, err = git.RunWith(ctx, gitcmd.Command{Args: []string{"update-index", "-z", "--index-info"}, Stdin: strings.NewReader(remove.String() + add.String())})
	if err != nil { // another git holds the index
		return nil, append(unstaged, still...), nil
	}
	return unstaged, still, nil
}

// stagedWords name some of the entries, with the command that shows each.
func stagedWords(lost []stagedEntry, most int, show func(path string) string) string {
	var words []string
	for i, e := range lost {
		switch {
		case i == most:
			return strings.Join(words, ", ") + fmt.Sprintf(", and %d more", len(lost)-most)
		case e.Blob == "":
			words = append(words, show(e.Path)+" (its deletion)")
		default:
			words = append(words, fmt.Sprintf("%s (git cat-file blob %.12s)", show(e.Path), e.Blob))
		}
	}
	return strings.Join(words, ", ")
}
