package odb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/gitcmd"
)

const (
	// maxMoves is how many transactions one git makes: it keeps the commits that it saw.
	maxMoves = 1000
	// maxTries is how often a transaction is tried again after the end of git, and how
	// often objects are written again.
	maxTries = 5
)

type gitRefOptions struct {
	git    *gitcmd.Git
	env    []string // of each child
	format gitcmd.ObjectFormat
	flush  bool // moves are to survive a power cut
	root   Dir  // the git directory
	log    *slog.Logger
	now    func() time.Time
	// lockTimeout is the time to wait for locks of others.
	lockTimeout time.Duration
	// resolve asks a live child which object a name stands for.
	resolve func(name string) (OID, error)
	// breakLock removes the old lock of a ref if its owner is known to be dead.
	breakLock func(ref string) bool
	// probe writes to the places of git's write, and returns the error of that.
	probe func([]RefUpdate) error
	// poison notes that a flush has failed.
	poison func(error) error
}

// gitRefs are refs that git reads and moves, in any format. The children that do so live as long as the
// Store. Invariants:
//
//   - git compares each ref with the value that the caller expects, under its own locks;
//   - git flushes what it writes, and jp the folder in which it got its name;
//   - git runs no hook, writes no reflog, and follows no symbolic ref;
//   - if git ends before it has answered, jp reads the refs, tells what has happened by
//     them, and lets another git do the rest.
type gitRefs struct {
	gitRefOptions
	plain sync.Map // the names that were read and are no symbolic refs
	seen  listings

	mu      sync.Mutex // for the child that moves refs
	process *gitcmd.Process
	answers *bufio.Reader
	moves   int // transactions of this child
	closed  bool
}

// read asks the live child for a ref that was read before and may have moved. Of any other, and of one that
// the child does not find, a new git tells whether it is symbolic, broken, or names a missing object.
func (r *gitRefs) read(name string) (OID, error) {
	if _, plain := r.plain.Load(name); plain && !r.seen.has(readTables(r.root), name) {
		if oid, err := r.resolve(name); err == nil {
			return oid, nil
		}
	}
	refs, faults, err := r.each(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	for _, fault := range faults {
		if fault.Ref == name {
			return "", fault
		}
	}
	for _, ref := range refs {
		if ref.Name == name {
			r.plain.Store(name, true)
			return ref.OID, nil
		}
	}
	r.plain.Delete(name)
	return "", fmt.Errorf("read %s: %w", name, ErrRefNotFound)
}

func (r *gitRefs) list(prefix string, _ bool) ([]Ref, error) {
	refs, faults, err := r.each(folderOf(prefix))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	return below(prefix, refs, faults)
}

func (r *gitRefs) listBeside(prefix, other string, _ *KnownRefs) ([]Ref, []string, error) {
	all, faults, err := r.each(folderOf(prefix), folderOf(other))
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", prefix, err)
	}
	beside, _ := below(other, slices.Clone(all), faults)
	refs, err := below(prefix, all, faults)
	return refs, refNames(beside), err
}

// folderOf is the pattern by which git lists the refs with a prefix, and others of their folder.
func folderOf(prefix string) string { return prefix[:strings.LastIndexByte(prefix, '/')+1] }

// below leaves the refs and faults whose names start with a prefix.
func below(prefix string, refs []Ref, faults []*UnreadableRef) ([]Ref, error) {
	outside := func(name string) bool { return !strings.HasPrefix(name, prefix) || CheckRefName(name) != nil }
	var unreadable []error
	for _, fault := range faults {
		if !outside(fault.Ref) {
			unreadable = append(unreadable, fault)
		}
	}
	return slices.DeleteFunc(refs, func(ref Ref) bool { return outside(ref.Name) }), errors.Join(unreadable...)
}

// each lists the refs that are, or are below, one of some names, sorted by name.
func (r *gitRefs) each(names ...string) (refs []Ref, faults []*UnreadableRef, err error) {
	tables := readTables(r.root)
	found, ask, known := r.seen.recall(tables, names)
	if known {
		return found.refs, found.faults, nil
	}
	refs, faults, err = r.ask(ask)
	if err != nil {
		return nil, nil, err
	}
	all := listing{refs, faults}
	if tables == readTables(r.root) {
		r.seen.remember(tables, ask, all)
	}
	for _, name := range names {
		found = found.with(all.below(name))
	}
	return found.refs, found.faults, nil
}

// ask lets git list the refs that are, or are below, one of some names, sorted by name.
func (r *gitRefs) ask(names []string) (refs []Ref, faults []*UnreadableRef, err error) {
	var out []byte
	var warnings string
	for tries := 0; ; tries++ {
		out, err = r.git.RunWith(context.Background(), gitcmd.Command{
			Args: append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}, names...), Env: r.env, Stderr: &warnings,
		})
		if tries == maxTries || !killed(err) {
			break
		}
		tellEnd(r.log, "for-each-ref")
	}
	var exit *gitcmd.ExitError
	switch {
	case errors.As(err, &exit):
		return nil, nil, fmt.Errorf("%w: %w", ErrRefsUnreadable, err)
	case err != nil:
		return nil, nil, err
	}
	for line := range strings.Lines(string(out)) {
		oid, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, target, _ := strings.Cut(rest, " ")
		switch {
		case target != "":
			faults = append(faults, &UnreadableRef{Ref: name, ThroughGit: true, Err: fmt.Errorf("%w: %q", ErrRefSymbolic, "ref: "+target)})
		case !isName(oid, r.format):
			return nil, nil, fmt.Errorf("git for-each-ref: unexpected answer %q", line)
		default:
			refs = append(refs, Ref{Name: name, OID: OID(oid)})
		}
	}
	for line := range strings.Lines(warnings) {
		if _, name, is := strings.Cut(strings.TrimSpace(line), "ignoring broken ref "); is {
			faults = append(faults, &UnreadableRef{Ref: name, ThroughGit: true, Err: fmt.Errorf("%w: git ignores it", ErrRefBroken)})
		}
		if _, name, is := strings.Cut(strings.TrimSpace(line), "ignoring dangling symref "); is {
			faults = append(faults, &UnreadableRef{Ref: name, ThroughGit: true, Err: fmt.Errorf("%w: to a ref that is missing", ErrRefSymbolic)})
		}
	}
	return refs, faults, nil
}

// A refMove is one move of refs under way, through as many gits as it takes.
type refMove struct {
	*gitRefs
	// left are the outstanding updates.
	left []RefUpdate
	// restore writes the objects again that were pruned before the refs could name them.
	restore func(context.Context) error
	// sent says that git was told to commit: a ref's present value may be its work.
	sent bool
	// held are the locks of the last git, once it had them all.
	held []heldLock
	// dead are the times in which a git was killed while it was locking.
	dead []span

	deadline      time.Time
	wait          time.Duration
	kills, writes int
	told          bool
}

// heldLock is a lock file of git's, which may still write to it.
type heldLock struct {
	name string // below the git directory
	info Info
}

type span struct{ from, to time.Time }

// move moves refs. The caller still has to flush the folders of the new files. Between two tries move waits
// for others' locks, for at most Options.LockTimeout.
func (r *gitRefs) move(ctx context.Context, updates []RefUpdate, restore func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := updateScript(updates, r.format); err != nil {
		return err
	}
	m := &refMove{gitRefs: r, left: updates, restore: restore, deadline: time.Now().Add(r.lockTimeout), wait: firstBackoff}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		begun, fresh := time.Now(), r.process == nil
		err := r.try(m)
		if err == nil {
			return nil
		}
		if killed(err) {
			m.dead = append(m.dead, span{begun, time.Now()})
			tellEnd(r.log, "update-ref")
		}
		before := len(m.left)
		if err := r.recount(m); err != nil {
			return err
		}
		if len(m.left) == 0 {
			return nil
		}
		// A git of earlier may have made a part. A child that has lived for long may know an outdated
		// format of the refs.
		if !killed(err) && (len(m.left) < before || !fresh) {
			continue
		}
		if err := m.again(ctx, err); err != nil {
			return err
		}
	}
}

// try lets a live git make the updates that are left.
func (r *gitRefs) try(m *refMove) (err error) {
	script, err := updateScript(m.left, r.format)
	if err != nil {
		return err
	}
	if err := r.start(); err != nil {
		return err
	}
	m.sent, m.held = false, nil
	limit := time.AfterFunc(gitcmd.DefaultTimeout, r.process.Kill)
	defer limit.Stop()
	if err := r.say(script, "start: ok\n", "prepare: ok\n"); err != nil {
		return err
	}
	m.held = m.locks()
	m.sent = true
	if err := r.say("commit\n", "commit: ok\n"); err != nil {
		return err
	}
	if r.moves++; r.moves >= maxMoves {
		_ = r.stop() // its work is done
	}
	return nil
}

// say tells git something and reads its answers. The error is that of the git's end.
func (r *gitRefs) say(text string, answers ...string) error {
	_, err := io.WriteString(r.process.Stdin, text)
	for _, want := range answers {
		if err != nil {
			break
		}
		var line string
		if line, err = r.answers.ReadString('\n'); err == nil && line != want {
			err = fmt.Errorf("git update-ref: unexpected answer %q", line)
		}
	}
	if err == nil {
		return nil
	}
	if end := r.stop(); end != nil {
		return end
	}
	return fmt.Errorf("git update-ref: %w", err)
}

func (r *gitRefs) start() error {
	switch {
	case r.closed:
		return ErrNoGit
	case r.process != nil:
		return nil
	}
	flush := "core.fsync=loose-object,reference"
	if !r.flush {
		flush = "core.fsync=none"
	}
	// The child also serves later callers, so it must outlive the caller's context.
	p, err := r.git.Start(context.Background(), gitcmd.Command{
		Args: []string{"update-ref", "--no-deref", "--stdin"},
		Env:  r.env,
		Config: []string{
			flush, "core.fsyncMethod=fsync", "core.logAllRefUpdates=false",
			"core.filesRefLockTimeout=1000", "core.packedRefsTimeout=1000", "reftable.lockTimeout=1000",
		},
	})
	if err != nil {
		return err
	}
	r.process, r.answers, r.moves = p, bufio.NewReader(p.Stdout), 0
	return nil
}

// prepare starts the git that moves refs, so that the caller can do something else meanwhile.
func (r *gitRefs) prepare() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.start() // the move reports an error
}

func (r *gitRefs) stop() error {
	if r.process == nil {
		return nil
	}
	err := r.process.Close()
	r.process, r.answers = nil, nil
	return err
}

func (r *gitRefs) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.stop()
}

// recount reads which of the updates are left. A ref with neither value is another process's move. If all
// updates are made although no git was told to commit, they are another process's, too.
func (r *gitRefs) recount(m *refMove) error {
	var left []RefUpdate
	var made error
	for _, u := range m.left {
		r.plain.Delete(u.Ref)
		found, err := r.read(u.Ref)
		switch {
		case err != nil && !errors.Is(err, ErrRefNotFound):
			return fmt.Errorf("move %s: %w", u.Ref, err)
		case found == u.Old:
			left = append(left, u)
		default:
			moved := fmt.Errorf("move %s: %w", u.Ref, &RefError{Ref: u.Ref, Want: u.Old, Found: found})
			if found != u.New {
				return moved
			}
			if made == nil {
				made = moved
			}
		}
	}
	if len(left) == 0 && !m.sent {
		return made
	}
	m.left = left
	return nil
}

// again judges why git has ended with all updates in left still undone. It returns nil if another try may
// make them.
func (m *refMove) again(ctx context.Context, cause error) error {
	var exit *gitcmd.ExitError
	said := ""
	if errors.As(cause, &exit) {
		said = exit.Stderr
	}
	switch {
	case killed(cause):
		if m.kills++; m.kills > maxTries {
			return fmt.Errorf("move refs: git was ended %d times: %w", m.kills, cause)
		}
		m.release()
		return nil
	case exit == nil:
		return fmt.Errorf("move refs: %w", cause)
	case strings.Contains(said, "fsync"):
		return m.poison(withErrno(cause))
	case strings.Contains(said, "nonexistent object") && m.writes < maxTries:
		m.writes++
		return m.restore(ctx)
	}
	lock, age := m.locked()
	another := func(words string) bool { return strings.Contains(said, words) } // it may be gone by now
	if lock == "" && !another("File exists") && !another("is locked") && !another("concurrently modified") {
		return m.explain(cause)
	}
	if m.breakDead() {
		return nil
	}
	for _, u := range m.left {
		if m.breakLock(u.Ref) {
			return nil
		}
	}
	ofAll := lock == tableList+lockSuffix || lock == packedRefsFile+lockSuffix
	if time.Now().After(m.deadline) || ofAll && age >= staleLock { // no git holds it for so long
		return lockedError(lock, cause)
	}
	if !m.told && time.Until(m.deadline) < m.lockTimeout-longWait {
		m.told = true
		m.log.Warn("waiting for a lock of the refs", "lock", lock)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(m.wait):
		m.wait = min(2*m.wait, maxBackoff)
		return nil
	}
}

func lockedError(lock string, cause error) error {
	switch lock {
	case tableList + lockSuffix:
		return fmt.Errorf("move refs: %w: %w", ErrTablesLocked, cause)
	case packedRefsFile + lockSuffix:
		return fmt.Errorf("move refs: %w: %w", ErrRefsLocked, cause)
	}
	return fmt.Errorf("move refs: %w: %w", ErrRefLocked, cause)
}

// explain returns the reason of git's refusal, from the disk if that tells more.
func (m *refMove) explain(cause error) error {
	for _, u := range m.left {
		if u.Old != "" {
			continue
		}
		if below, err := m.list(u.Ref+"/", true); err == nil && len(below) > 0 {
			return fmt.Errorf("move %s: %w: %s", u.Ref, ErrRefConflict, below[0].Name)
		}
		for above, _ := splitRef(u.Ref); above != "refs"; above, _ = splitRef(above) {
			if _, err := m.read(above); err == nil {
				return fmt.Errorf("move %s: %w: %s", u.Ref, ErrRefConflict, above)
			}
		}
	}
	if err := m.probe(m.left); err != nil {
		return fmt.Errorf("move refs: %w", classify(err))
	}
	return fmt.Errorf("move refs: %w", classify(withErrno(cause)))
}

// lockNames are the files that may keep git from the updates that are left.
func (m *refMove) lockNames() []string {
	names := []string{tableList + lockSuffix, packedRefsFile + lockSuffix}
	for _, u := range m.left {
		names = append(names, u.Ref+lockSuffix)
	}
	return names
}

// locks are those that are there.
func (m *refMove) locks() (locks []heldLock) {
	for _, name := range m.lockNames() {
		if info, err := m.root.Stat(name); err == nil {
			locks = append(locks, heldLock{name, info})
		}
	}
	return locks
}

// locked is an existing lock, "" for none, and its age.
func (m *refMove) locked() (name string, age time.Duration) {
	if locks := m.locks(); len(locks) > 0 {
		return locks[0].name, m.now().Sub(time.Unix(0, locks[0].info.ModTime))
	}
	return "", 0
}

// release removes the locks of a git that had them all and was killed since.
func (m *refMove) release() {
	for _, lock := range m.held {
		m.remove(lock)
	}
	m.held = nil
}

// breakDead removes the locks that were made while a git of this move was locking and was
// killed, once they are too old to be another process's.
func (m *refMove) breakDead() (broken bool) {
	for _, lock := range m.locks() {
		made := time.Unix(0, lock.info.ModTime)
		ours := slices.ContainsFunc(m.dead, func(d span) bool {
			return made.After(d.from.Add(-clockSlack)) && made.Before(d.to.Add(clockSlack))
		})
		if ours && m.now().Sub(made) >= staleLock {
			broken = m.remove(lock) || broken
		}
	}
	return broken
}

// clockSlack is how much the times of files may differ from the clock.
const clockSlack = 100 * time.Millisecond

// remove removes a lock if it is still the same file.
func (m *refMove) remove(lock heldLock) bool {
	if now, err := m.root.Stat(lock.name); err != nil || now.ID != lock.info.ID || m.root.Remove(lock.name) != nil {
		return false
	}
	m.log.Warn("removed a lock that a git of jp left when it was killed", "lock", lock.name)
	return true
}

// killed reports whether a signal ended a git.
func killed(err error) bool {
	var exit *gitcmd.ExitError
	return errors.As(err, &exit) && exit.Code < 0
}

func tellEnd(log *slog.Logger, program string) {
	log.Warn("git " + program + " was killed; jp starts another one")
}

// updateScript is git's input up to the commit.
func updateScript(updates []RefUpdate, format gitcmd.ObjectFormat) (string, error) {
	var script strings.Builder
	script.WriteString("start\n")
	for _, u := range updates {
		if err := CheckRefName(u.Ref); err != nil {
			return "", fmt.Errorf("move ref: %w", err)
		}
		for _, oid := range []OID{u.Old, u.New} {
			if oid != "" && !isName(string(oid), format) {
				return "", fmt.Errorf("move %s: %w: %q", u.Ref, ErrOID, oid)
			}
		}
		switch {
		case u.Old == "" && u.New == "":
			return "", fmt.Errorf("move %s: %w: both values are empty", u.Ref, ErrOID)
		case u.Old == "":
			fmt.Fprintf(&script, "create %s %s\n", u.Ref, u.New)
		case u.New == "":
			fmt.Fprintf(&script, "delete %s %s\n", u.Ref, u.Old)
		default:
			fmt.Fprintf(&script, "update %s %s %s\n", u.Ref, u.New, u.Old)
		}
	}
	script.WriteString("prepare\n")
	return script.String(), nil
}
