package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/proof/prooftool"
)

const (
	// turnsEach is how many turns a conversation of a long use has.
	turnsEach = 5
	// eventsEach is about how many events such a turn has.
	eventsEach = 20
	// usersFiles is how many files the user's repository has.
	usersFiles = 2000
	// statusRounds is how often git status is timed on each side.
	statusRounds = 500

	// mostLoose is how many loose objects of jp's there may be at any time.
	mostLoose = 10_000
	// slowerStatus is how much longer git status may take than before.
	slowerStatus = 1.05
)

// used is one turn of a long use. It leaves the files as they were.
const used = `[[reply]]
message = "First I read."
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = "file-7" }
[[reply]]
reasoning = "A file of that name may be there."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = %q, content = "made\n" }
[[reply]]
message = "Now a look at it."
[[reply.tool_call]]
name = "fs_read_file"
arguments = { path = %[1]q }
[[reply]]
message = "It can go."
[[reply.tool_call]]
name = "fs_delete_file"
arguments = { path = %[1]q }
[[reply]]
message = "Done."
`

// A longUse is some days of a user, one command after the other: conversations of
// a few turns, forks, and git gc now and then, while jp packs as it likes.
type longUse struct {
	arena  *environment
	events int
	table  *table
	clean  int // loose objects before
	peak   int
	turns  timings
}

// wear uses a repository in a folder of its own for long.
func (s *soak) wear(ctx context.Context, dir string) error {
	if s.events == 0 {
		return nil
	}
	fmt.Fprintf(s.log, "%s: long use\n", time.Now().Format(time.TimeOnly))
	a, err := s.arena.another(ctx, dir)
	if err != nil {
		return err
	}
	u := &longUse{arena: a, events: s.events, table: s.table}
	pristine, err := u.prepare(ctx)
	if err != nil {
		return err
	}
	conversations := max(1, u.events/turnsEach/eventsEach)
	for i := range conversations {
		if err := u.converse(ctx, i); err != nil {
			return err
		}
		if i == conversations/2 || i == conversations*3/4 {
			if _, err := a.git(ctx, a.repo.TopLevel, "gc", "--quiet"); err != nil {
				return err
			}
		}
	}
	if err := u.unpacking(); err != nil {
		return err
	}
	return errors.Join(u.judge(ctx, conversations), u.compareStatus(ctx, pristine))
}

// prepare gives the user some files, and copies the repository as it is before.
func (u *longUse) prepare(ctx context.Context) (pristine string, err error) {
	top := u.arena.repo.TopLevel
	for i := range usersFiles {
		if err := os.WriteFile(filepath.Join(top, fmt.Sprintf("file-%d", i)), fmt.Appendf(nil, "file %d\n", i), 0o600); err != nil {
			return "", err
		}
	}
	for _, args := range [][]string{{"add", "."}, {"commit", "-q", "-m", "files"}, {"gc", "-q"}} {
		if _, err := u.arena.git(ctx, top, args...); err != nil {
			return "", err
		}
	}
	u.clean, err = u.loose(ctx)
	pristine = filepath.Join(u.arena.dir, "before")
	return pristine, errors.Join(err, os.CopyFS(pristine, os.DirFS(top)))
}

// converse has a conversation, and forks each tenth.
func (u *longUse) converse(ctx context.Context, i int) error {
	script := filepath.Join(u.arena.scripts(), "use.toml")
	if err := os.WriteFile(script, []byte(strings.Repeat(fmt.Sprintf(used, fmt.Sprintf("made-%d", i)), turnsEach)), 0o600); err != nil {
		return err
	}
	target := []string{"--new"}
	for turn := range turnsEach {
		begun := time.Now()
		out, err := u.arena.jp(ctx, 0, append([]string{"query", "--json", "-y", "-m", "script/" + script, fmt.Sprintf("Turn %d, please.", turn)}, target...)...)
		u.turns.since(begun)
		if err != nil {
			return err
		}
		var first struct{ Conversation string }
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(&first); err != nil {
			return err
		}
		target = []string{"--id", first.Conversation}
		if err := u.look(ctx); err != nil {
			return err
		}
	}
	if i%10 == 9 {
		_, err := u.arena.jp(ctx, 0, "fork", target[1])
		return err
	}
	return nil
}

// look notes how much is loose.
func (u *longUse) look(ctx context.Context) error {
	n, err := u.loose(ctx)
	u.peak = max(u.peak, n-u.clean)
	return err
}

// loose counts the loose objects of the repository.
func (u *longUse) loose(ctx context.Context) (int, error) {
	out, err := u.arena.git(ctx, u.arena.repo.TopLevel, "count-objects")
	if err != nil {
		return 0, err
	}
	count, _, _ := strings.Cut(out, " ")
	return strconv.Atoi(count)
}

// unpacking waits until all packing processes have ended.
func (u *longUse) unpacking() error {
	f, err := os.OpenFile(filepath.Join(u.arena.repo.CommonDir, "jp", "packing.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX)
}

// wholeWords are the words of jp verify if all is well.
var wholeWords = regexp.MustCompile(`^ok: (\d+) conversations of (\d+), (\d+) events`)

// judge counts the present conversations, and checks that they are whole.
func (u *longUse) judge(ctx context.Context, conversations int) error {
	out, err := u.arena.jp(ctx, 0, "verify", "--all")
	if err != nil {
		return err
	}
	found := wholeWords.FindSubmatch(out)
	if found == nil || !bytes.Equal(found[1], found[2]) {
		u.table.violation("long use: %s", bytes.TrimSpace(out))
		return nil
	}
	if said, err := u.arena.git(ctx, u.arena.repo.TopLevel, "fsck", "--strict", "--no-dangling", "--no-progress"); err != nil || said != "" {
		u.table.violation("long use: git fsck: %v %s", err, strings.TrimSpace(said))
	}
	left, err := u.loose(ctx)
	if err != nil {
		return err
	}
	packs, err := filepath.Glob(filepath.Join(u.arena.repo.CommonDir, "objects", "pack", "*.pack"))
	u.table.count("long use: conversations, with forks; events in them", "%s; %s", found[1], found[3])
	u.table.times(fmt.Sprintf("long use: jp query, a turn of about %d events", eventsEach), u.turns.all(), 0)
	u.table.most("long use: loose objects of jp's, the most after any turn", u.peak, mostLoose)
	u.table.most("long use: loose objects of jp's, at the end", left-u.clean, mostLoose)
	u.table.count("long use: packs at the end", "%d", len(packs))
	return err
}

// compareStatus times git status here and in the repository as it was before, in turns, when all data of
// the long use is flushed.
func (u *longUse) compareStatus(ctx context.Context, pristine string) error {
	if err := prooftool.Settle(pristine); err != nil {
		return err
	}
	dirs := [2]string{u.arena.repo.TopLevel, pristine}
	var took [2][]time.Duration
	for round := range 1 + statusRounds { // the first one writes the index
		for _, i := range rand.Perm(2) {
			begun := time.Now()
			if _, err := u.arena.git(ctx, dirs[i], "status", "--porcelain"); err != nil {
				return err
			}
			if round > 0 {
				took[i] = append(took[i], time.Since(begun))
			}
		}
	}
	u.table.paired("long use: git status, beside before", took[0], took[1], slowerStatus)
	return nil
}
