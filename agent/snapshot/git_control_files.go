package snapshot

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/internal/safefile"
	"jp/turnloop"
)

// gitControlFiles are the files of a git directory that decide which programs git runs, and its output. A
// program of a tool may write them, since it may commit. The user's next git would obey them.
type gitControlFiles map[string]controlFile

// A controlFile is such a file as it was at one time.
type controlFile struct {
	state     string         // changes when it does; of an operation, the lines that start programs
	operation *operationFile // nil: any change counts
}

// whyObeyed is the reason for which such a file is listed among those outside of the tree.
const whyObeyed = "git obeys it"

// gitLink is the file, or the link, with which git begins in place of a folder.
const gitLink = inTopLevel + ".git"

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// controlFiles looks at those of the repository, of its submodules and of its linked worktrees. Unreadable
// ones count as missing.
func (f *Files) controlFiles(ctx context.Context) gitControlFiles {
	found := gitControlFiles{}
	found.repository(f.home, "", f.git.GitDir, f.git.CommonDir, f.git.TopLevel)
	if dotGit := filepath.Join(f.git.TopLevel, ".git"); f.git.TopLevel != "" && (f.git.GitDir != dotGit || !isFolder(dotGit)) {
		found.add(gitLink, dotGit)
	}
	found.linked(f.home, f.git.CommonDir)
	f.replacements(ctx, found)
	left := mostModules
	found.modules(f.home, "modules/", filepath.Join(f.git.CommonDir, "modules"), &left)
	return found
}

// lookObeyed adds those that differ from before to the result of a look after a tool.
func (f *Files) lookObeyed(ctx context.Context, sight *turnloop.SnapshotResult, before gitControlFiles) {
	sight.Obeyed = f.controlFiles(ctx).changed(before)
	for _, name := range sight.Obeyed {
		sight.LeftOut = append(sight.LeftOut, conversation.SkippedPath{Path: conversation.QuotePath(name), Why: whyObeyed})
	}
}

// control is the record of them in an event: codes under the user's key, since the content may be secret.
// Without a key it is empty.
func (f *Files) control(all gitControlFiles) (files []conversation.NamedFile) {
	if len(f.Key) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].operation != nil && all[name].state == "" {
			continue // it starts no program
		}
		code := hmac.New(sha256.New, f.Key)
		fmt.Fprintf(code, "control file\x00%s\x00%s", name, all[name].state)
		files = append(files, conversation.NamedFile{Path: conversation.QuotePath(place(name)), Digest: hex.EncodeToString(code.Sum(nil)[:16])})
	}
	return files
}

func (o gitControlFiles) add(name, file string) {
	var stat unix.Stat_t
	if len(o) >= mostObeyed || unix.Lstat(file, &stat) != nil {
		return
	}
	what := fmt.Sprint(stat.Mode)
	if stat.Mode&unix.S_IFMT == unix.S_IFREG { // of a folder, its content counts
		if text, err := safefile.ReadRegular(file); err == nil {
			what += fmt.Sprintf(" %x", sha256.Sum256(text)) // writing the same text again counts as no change
		} else {
			what += fmt.Sprint(" ", stat.Size, stat.Ino, stat.Ctim)
		}
	}
	if link, err := os.Readlink(file); err == nil {
		what += " " + link
	}
	o[name] = controlFile{state: what}
}

// place is the path of such a file, from the root of the working tree.
func place(name string) string {
	if inTree, out := strings.CutPrefix(name, inTopLevel); out {
		return inTree
	}
	return ".git/" + name
}

// changed are the files that differ from those before, in order. Of an operation that git has still to
// finish, they are those with changes by another program than git.
func (o gitControlFiles) changed(before gitControlFiles) (names []string) {
	if o[gitLink].state != before[gitLink].state {
		return []string{place(gitLink)} // git obeys another directory
	}
	known := map[string]*string{} // the progress of operations that were there before
	for name, file := range before {
		if file.operation != nil {
			known[file.operation.operation] = &file.operation.progress
		}
		if _, there := o[name]; !there && file.operation == nil {
			names = append(names, place(name))
		}
	}
	for name, file := range o {
		was, there := before[name]
		switch {
		case file.operation != nil && file.operation.foreign(was.operation, known[file.operation.operation]),
			file.operation == nil && (!there || file.state != was.state):
			names = append(names, place(name))
		}
	}
	return slices.Sorted(slices.Values(names))
}
