// Package odb keeps git objects and refs of one git directory, durably.
//
// Write puts loose objects and moves refs with git's own lock protocol, and returns only when both would
// survive a power cut. Invariants:
//
//   - an object is durable before any ref that names it moves;
//   - a ref moves only from the value that the caller expects, by a rename of
//     its lock file, so that no reader ever sees a torn one;
//   - after an error from a flush the same Store acknowledges nothing more,
//     because the kernel may have dropped the data of the flush.
//
// The package refuses to follow symbolic or symlinked refs, to write reflogs,
// to run hooks, to fetch, and to know what its objects mean.
package odb

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"jp/gitcmd"
)

// Durability is the kind of crash that an acknowledged Write survives.
type Durability int

const (
	// Full survives a power cut on a file system with an honest fsync.
	Full Durability = iota
	// Off survives only the end of the process.
	Off
)

// Path is the order of flushes by which a Write becomes durable.
type Path string

const (
	// PathAuto takes PathOrdered if the file system is known to allow it.
	PathAuto Path = ""
	// PathOrdered waits for the data of each file, then lets one flush of the last directory commit all
	// renames in order. It is safe only if metadata changes reach the disk in the order of the calls.
	PathOrdered Path = "ordered"
	// PathStepwise flushes every file and every directory on its own.
	PathStepwise Path = "stepwise"
)

// Options change how a Store works. The zero value is a durable Store on the real file system without git.
type Options struct {
	Durability Durability
	// Format is how the repository names its objects.
	Format gitcmd.ObjectFormat
	// RefFormat is how the repository stores refs. All but files need Git.
	RefFormat gitcmd.RefFormat
	// FS is the file system; nil is the operating system's.
	FS FS
	// Git answers for objects that jp found nowhere else, and runs transactions. Without it such objects
	// are missing, and transactions fail.
	Git *gitcmd.Git
	// Path overrides the choice of the write path.
	Path Path
	// MayBreakLock is asked before the Store takes over a lock of ref that is older than ten seconds. nil
	// means never.
	MayBreakLock func(ref string) bool
	// LockTimeout is how long a Write waits for another process's ref lock; zero is one second, a negative
	// one no time.
	LockTimeout time.Duration
	// MaxObject is the largest object read, in bytes; zero is 64 MiB.
	MaxObject int64
	// Log gets the messages that a user may want to read afterwards; nil drops them.
	Log *slog.Logger
	// Now is the clock by which locks are old; nil is time.Now.
	Now func() time.Time
}

const (
	defaultMaxObject   = 64 << 20
	defaultLockTimeout = time.Second
)

// Store is the objects and refs of one git directory. Goroutines and other
// processes, git among them, may use the same directory at the same time.
type Store struct {
	dir       string
	opts      Options
	path      Path
	root      Dir
	objects   Dir
	dirs      dirCache
	fans      fanoutDirs
	packed    packedCache
	packs     packSet
	others    packStore
	places    sync.Once
	dirNames  []string // of objects, set by places
	child     catFile
	keeper    atomic.Pointer[refKeeper]
	recent    recentObjects
	collected atomic.Pointer[Collection] // nil if Writes make objects durable themselves
	hashers   sync.Pool                  // of *hasher

	replaced replacedFiles // that old values of refs were in

	oneByOne bool // one flush at a time
	wrote    atomic.Bool
	poisoned atomic.Pointer[error]
	closing  sync.Once
}

// Open returns the Store of a git directory: the one that holds objects and
// refs, which linked worktrees share.
func Open(commonDir string, opts Options) (*Store, error) {
	dir, err := filepath.Abs(commonDir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", commonDir, err)
	}
	s := &Store{dir: dir, opts: withDefaults(opts)}
	if s.root, err = s.opts.FS.OpenDir(dir); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, classify(err))
	}
	if s.objects, err = s.opts.FS.OpenDir(filepath.Join(dir, "objects")); err != nil {
		s.root.Close()
		return nil, fmt.Errorf("open %s/objects: %w", dir, classify(err))
	}
	s.keepRefs(fileRefs{s})
	if s.opts.RefFormat.ThroughGit() && s.opts.Git != nil && opts.FS == nil {
		s.keepThroughGit()
	}
	if err = s.choosePath(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func withDefaults(o Options) Options {
	if o.FS == nil {
		o.FS = OS()
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = defaultLockTimeout
	}
	if o.MaxObject == 0 {
		o.MaxObject = defaultMaxObject
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// choosePath decides once for objects and refs together: two paths would not keep the order between an
// object and its ref.
func (s *Store) choosePath() error {
	if s.path = s.opts.Path; s.path != PathAuto {
		return nil
	}
	place := filepath.Join(s.dir, "refs")
	if s.opts.RefFormat == gitcmd.Reftable {
		place = filepath.Join(s.dir, tablesFolder)
	}
	refs, err := s.opts.FS.OpenDir(place)
	if err != nil {
		return fmt.Errorf("open %s: %w", place, classify(err))
	}
	defer refs.Close()
	habits := s.opts.FS.FlushTraits(s.objects, refs)
	s.path, s.oneByOne = PathStepwise, habits.OneByOne
	if habits.OrderedMetadata {
		s.path = PathOrdered
	}
	return nil
}

// Path is the write path in use.
func (s *Store) Path() Path { return s.path }

// Dir is the absolute path of the git directory.
func (s *Store) Dir() string { return s.dir }

// HasWritten reports whether a Write of this Store has ended well.
func (s *Store) HasWritten() bool { return s.wrote.Load() }

// Close ends the git child and gives the directory handles back. If the Store has just written something
// and a git gc that prunes at once is running, it first waits for that, 30 seconds at most. Close is the
// last call of a Store.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		err = errors.Join(s.waitForGC(), s.refs().close(), s.child.close(), s.packs.close(), s.others.close())
		s.replaced.close()
		s.packed.close()
		s.dirs.close()
		err = errors.Join(err, s.objects.Close(), s.root.Close())
	})
	return err
}

// failStop makes every later Write fail, and returns the error for this one.
func (s *Store) failStop(cause error) error {
	s.poisoned.CompareAndSwap(nil, &cause)
	return fmt.Errorf("%w: %w", ErrPoisoned, classify(cause))
}

func (s *Store) checkPoison() error {
	if cause := s.poisoned.Load(); cause != nil {
		return fmt.Errorf("%w: %w", ErrPoisoned, *cause)
	}
	return nil
}
