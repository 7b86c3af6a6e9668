package powercut_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jp/conversation"
	"jp/gitstore"
)

// An inspection looks at a repository as it is after the power came back.
type inspection struct {
	*testing.T
	oracle *oracle
	repo   string
}

// problems are the broken parts of jp's promise, empty if it is kept.
func (i inspection) problems(acknowledged int) []string {
	var found []string
	refs, err := refsOf(i.repo)
	if err != nil {
		found = append(found, fmt.Sprintf("jp's refs: %v", err))
	}
	allowed := i.oracle.allowed(acknowledged)
	if !slices.ContainsFunc(allowed, func(a map[string]string) bool { return maps.Equal(a, refs) }) {
		found = append(found, fmt.Sprintf("jp's refs are neither those of step %d nor of the next: %v", acknowledged, difference(allowed[0], refs)))
	}
	if files := fingerprint(i, i.repo); !maps.Equal(files, i.oracle.files) {
		found = append(found, fmt.Sprintf("the user's files: %v", difference(i.oracle.files, files)))
	}
	if out, err := i.git("fsck", "--strict", "--no-dangling", "--no-progress"); err != nil || len(out) > 0 {
		found = append(found, fmt.Sprintf("git fsck: %v: %s", err, bytes.TrimSpace(out)))
	}
	if err := i.read(refs); err != nil {
		found = append(found, err.Error())
	}
	return found
}

// git runs without a change of folder: this process may be serving the disk, and must not wait for it
// between fork and exec.
func (i inspection) git(args ...string) ([]byte, error) {
	return exec.CommandContext(i.Context(), "git", append([]string{"-C", i.repo}, args...)...).CombinedOutput()
}

// read reads every conversation as the next jp would, compares it with the script,
// and adds an event.
func (i inspection) read(refs map[string]string) error {
	i.age()
	store, err := openStore(i.repo, gitstore.Options{MayBreakLock: func(conversation.ID) bool { return true }})
	if err != nil {
		return err
	}
	defer store.Close()
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		head := refs[ref]
		if strings.HasPrefix(ref, "refs/jp/payloads/") {
			continue
		}
		if err := i.readOne(store, head); err != nil {
			return fmt.Errorf("%s: %w", ref, err)
		}
		if id, live := strings.CutPrefix(ref, "refs/jp/conversations/"); live {
			head = i.newer(head, refs["refs/jp/archive/"+id])
			e := &conversation.Event{Seq: len(i.oracle.lines[head]), Turn: 1, Time: time.Unix(1<<31, 0), Body: &conversation.Note{Content: "on"}}
			if _, err := store.Append(i.Context(), conversation.ID(id), conversation.Head(head), []*conversation.Event{e}); err != nil {
				return fmt.Errorf("go on: %w", err)
			}
		}
	}
	return nil
}

// newer is the head with more events: in the middle of a move into the archive, or out of
// it, a conversation has two refs, and is the one that has all events.
func (i inspection) newer(live, archived string) string {
	if len(i.oracle.lines[archived]) > len(i.oracle.lines[live]) {
		return archived
	}
	return live
}

func (i inspection) readOne(store *gitstore.Store, head string) error {
	events, err := store.Load(i.Context(), conversation.Head(head))
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range events {
		lines = append(lines, line(e.Commit, e, func(p conversation.Payload) []byte {
			data, _, err := store.Payload(i.Context(), p)
			if err != nil {
				return []byte(err.Error())
			}
			return data
		}))
	}
	if !slices.Equal(lines, i.oracle.lines[head]) {
		return fmt.Errorf("the events up to %.10s are not those of the script", head)
	}
	return nil
}

// age lets time pass for the locks that were left: a machine takes some time to be up again.
func (i inspection) age() {
	old := time.Now().Add(-time.Minute)
	_ = filepath.WalkDir(filepath.Join(i.repo, ".git/refs/jp"), func(path string, _ fs.DirEntry, _ error) error {
		if strings.HasSuffix(path, ".lock") {
			_ = os.Chtimes(path, old, old)
		}
		return nil
	})
}

// difference shows how two maps differ, for a person.
func difference(want, got map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			out = append(out, fmt.Sprintf("%s is %.40q, not %.10s", key, got[key], want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, known := want[key]; !known {
			out = append(out, fmt.Sprintf("%s is new: %.40q", key, got[key]))
		}
	}
	return strings.Join(out, "; ")
}
