package snapshot

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"jp/conversation"
	"jp/internal/safefile"
	"jp/turnloop"
)

// obeyed are the files of a git directory that say what git runs, each with what
// changes when it does. A program of a tool may write them, since it may commit;
// the user's next git would obey them.
type obeyed map[string]string

// whyObeyed is why such a file is listed with what a tool left out of the tree.
const whyObeyed = "git obeys it"

// obeyedIn looks at them. What cannot be read counts as not there.
func obeyedIn(gitDir, commonDir string) obeyed {
	found := obeyed{}
	found.add(commonDir, "config")
	found.add(gitDir, "config.worktree")
	for _, folder := range []string{"hooks", "info"} {
		found.add(commonDir, folder)
		entries, _ := os.ReadDir(filepath.Join(commonDir, folder))
		for _, entry := range entries {
			if name := folder + "/" + entry.Name(); name != "info/refs" { // a list that git gc makes
				found.add(commonDir, name)
			}
		}
	}
	if gitDir != commonDir {
		found.add(gitDir, "info/sparse-checkout")
	}
	return found
}

// obeyed looks at those of the repository.
func (f *Files) obeyed() obeyed { return obeyedIn(f.git.GitDir, f.git.CommonDir) }

// lookObeyed adds those that differ from before to what was seen after a tool.
func (f *Files) lookObeyed(sight *turnloop.SnapshotResult, before obeyed) {
	sight.Obeyed = f.obeyed().changed(before)
	for _, name := range sight.Obeyed {
		sight.LeftOut = append(sight.LeftOut, conversation.LeftOut{Path: conversation.QuotePath(name), Why: whyObeyed})
	}
}

// control is what an event keeps of them: codes under the user's key, since the content
// may be secret. Without a key it is empty.
func (f *Files) control(all obeyed) (files []conversation.NamedFile) {
	if len(f.Key) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		code := hmac.New(sha256.New, f.Key)
		fmt.Fprintf(code, "control file\x00%s\x00%s", name, all[name])
		files = append(files, conversation.NamedFile{Path: conversation.QuotePath(".git/" + name), Digest: hex.EncodeToString(code.Sum(nil)[:16])})
	}
	return files
}

func (o obeyed) add(dir, name string) {
	path := filepath.Join(dir, name)
	var stat unix.Stat_t
	if unix.Lstat(path, &stat) != nil {
		return
	}
	what := fmt.Sprint(stat.Mode)
	if stat.Mode&unix.S_IFMT == unix.S_IFREG { // of a folder, what is in it counts
		if text, err := safefile.ReadRegular(path); err == nil {
			what += fmt.Sprintf(" %x", sha256.Sum256(text)) // writing the same again changes nothing
		} else {
			what += fmt.Sprint(" ", stat.Size, stat.Ino, stat.Ctim)
		}
	}
	if link, err := os.Readlink(path); err == nil {
		what += " " + link
	}
	o[name] = what
}

// changed are the files that differ from those before, in order.
func (o obeyed) changed(before obeyed) []string {
	var names []string
	for name := range maps.Keys(before) {
		if o[name] != before[name] {
			names = append(names, ".git/"+name)
		}
	}
	for name := range maps.Keys(o) {
		if _, there := before[name]; !there {
			names = append(names, ".git/"+name)
		}
	}
	return slices.Sorted(slices.Values(names))
}
