package gitstore

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/odb"
	"jp/gitstore/packing"
)

// Options of a Store. The zero value is durable, and signs nothing.
type Options struct {
	Durability odb.Durability
	// Key marks events as this user's own; without one everything is foreign.
	Key []byte
	// NoKey is the reason why a Key is missing that should be there. Every write then fails with it.
	NoKey error
	// User is the user as git knows them. The store asks once, when it writes something. Nil, or empty
	// fields, mean that git knows no user.
	User func() Person
	// Zone is the time zone of the dates in commits; nil is the local one.
	Zone *time.Location
	// MayBreakLock is asked before a stale lock of a conversation's ref is taken
	// over: only the holder of the conversation's own lock may say yes.
	MayBreakLock func(id conversation.ID) bool
	// Rewrite changes the events of a group in place before any method writes them, if it is non-nil. If it
	// fails, the group is not written.
	Rewrite func(id conversation.ID, events []*conversation.Event) error
	// Repository returns the name of the repository. For a writer it makes a missing
	// name, for a reader it returns [Unnamed]. If it is nil, events do not name their
	// conversation's home.
	Repository func(forWrite bool) (string, error)
	// HeadsDir has the heads that this user saw last of each conversation, outside of the repository; ""
	// remembers none.
	HeadsDir string
	// HandedDir has the events that this user wrote on other machines, outside of the repository; "" for none.
	HandedDir string
	// FS is the file system below; nil is the operating system's.
	FS odb.FS
	// Path overrides how writes are made durable.
	Path odb.Path
	// Git asks the repository; nil is one for this store alone.
	Git *gitcmd.Git
	// Log gets the messages that a user may want to read afterwards; nil drops them.
	Log *slog.Logger
}

// Unnamed stands for the name of a repository without one: it has no writes yet.
const Unnamed = "?"

// lockTimeout is how long a write waits for the lock of a ref: longer than it
// takes until a lock counts as left behind by a process that was killed.
const lockTimeout = 12 * time.Second

// A Store is a [conversation.Journal] kept in a git repository.
type Store struct {
	odb      *odb.Store
	commits  *commitReader
	tips     *tips
	ancestry *ancestry
	refs     *refs
	sidecars *sidecars
	payloads *payloadKeeper
	groups   *groupBuilder
	git      *gitcmd.Git
	repo     gitcmd.Repository
	user     func() Person

	repository func(forWrite bool) (string, error)
	heads      heads

	restoring time.Duration // the time to wait for a head that a prune took
	opened    time.Time
}

var _ conversation.Journal = (*Store)(nil)

// Open opens the store of a repository that git itself has located.
func Open(repo gitcmd.Repository, opts Options) (*Store, error) {
	git := opts.Git
	if git == nil {
		git = gitcmd.At(repo, gitcmd.Options{})
	}
	s := &Store{git: git, repo: repo, restoring: restoring, opened: time.Now()}
	s.repository = func(bool) (string, error) { return "", nil }
	if opts.Repository != nil {
		named := sync.OnceValues(func() (string, error) { return opts.Repository(true) })
		known := sync.OnceValues(func() (string, error) { return opts.Repository(false) })
		s.repository = func(forWrite bool) (string, error) {
			name, err := known()
			if forWrite && err == nil && name == Unnamed {
				return named()
			}
			return name, err
		}
	}
	s.heads.dir, s.heads.durable, s.heads.repository, s.heads.log = opts.HeadsDir, opts.Durability != odb.Off, s.repository, opts.Log
	s.user = sync.OnceValue(func() Person {
		if opts.User == nil {
			return Person{}
		}
		return opts.User()
	})
	db, err := odb.Open(repo.CommonDir, odb.Options{
		Format: repo.ObjectFormat, RefFormat: repo.RefFormat, Durability: opts.Durability, FS: opts.FS, Git: git, Path: opts.Path, Log: opts.Log, LockTimeout: lockTimeout,
		MayBreakLock: func(ref string) bool {
			id, ok := owner(ref)
			return ok && opts.MayBreakLock != nil && opts.MayBreakLock(id)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", repo.CommonDir, storeError(err))
	}
	s.odb = db
	mac := &signer{key: opts.Key}
	s.commits = &commitReader{
		odb: db, format: repo.ObjectFormat, mac: mac, dir: repo.CommonDir,
		handed: &handed{dir: opts.HandedDir, mac: mac, size: repo.ObjectFormat.Size(), name: func() string {
			name, err := s.repository(false)
			if err != nil || name == Unnamed {
				return ""
			}
			return name
		}},
	}
	s.ancestry = &ancestry{commits: s.commits, walks: map[odb.OID]walked{}}
	s.refs = &refs{odb: db, ancestry: s.ancestry}
	s.tips = &tips{byID: map[odb.OID]*tip{}}
	s.sidecars = &sidecars{
		dir: filepath.Join(repo.CommonDir, "jp", "cache"), ids: idLen(repo.ObjectFormat.Size()), git: git, commits: s.commits, tips: s.tips, log: opts.Log, limit: maxCache,
	}
	s.sidecars.bytesWritten.Store(firstBound())
	s.groups = &groupBuilder{
		format: repo.ObjectFormat, mac: mac, zone: cmp.Or(opts.Zone, time.Local), user: s.user, rewrite: opts.Rewrite, noKey: opts.NoKey, repository: s.repository,
	}
	s.payloads = &payloadKeeper{odb: db, commits: s.commits, encoder: s.groups.encoder}
	s.groups.payloads = s.payloads
	return s, nil
}

// Packer packs the objects that this and other stores of the repository have written.
func (s *Store) Packer() *packing.Packer { return packing.New(s.odb, s.git) }

// PrepareWrite begins to find out the facts about user and repository that a Write needs. This may take a
// git, so the caller can do something else until then.
func (s *Store) PrepareWrite() {
	go s.user()
	go s.git.Sharing() // a Write reports the error
	go s.odb.PrepareWrite()
}

// OrderedFlush reports whether the file system keeps the order in which data and names
// are written, so that one flush is enough for all before it.
func (s *Store) OrderedFlush() bool { return s.odb.Path() == odb.PathOrdered }

// HasWritten reports whether anything was written through this store, and since when it is open.
func (s *Store) HasWritten() (since time.Time, wrote bool) { return s.opened, s.odb.HasWritten() }

// Close closes the files that the store holds open.
func (s *Store) Close() error {
	s.heads.close()
	s.sidecars.close()
	return s.odb.Close()
}

// ReadObject reads any object of the repository, for a snapshot that builds on
// it.
func (s *Store) ReadObject(oid string) (kind string, data []byte, err error) {
	id, err := odb.ParseOID(oid)
	if err != nil {
		return "", nil, err
	}
	kind, data, err = s.odb.ReadObject(id)
	return kind, data, storeError(err)
}

// UserIdentity is the user as git would name them: from the environment, else from the
// configuration, which is read on demand. Unknown fields are empty.
func UserIdentity(getenv func(string) string, configured func() gitcmd.User) Person {
	p := Person{Name: cleanName(getenv("GIT_AUTHOR_NAME"), ""), Email: Person{Email: getenv("GIT_AUTHOR_EMAIL")}.clean().Email}
	if p.Name == "" || p.Email == "" {
		user := configured()
		if p.Name == "" {
			p.Name = cleanName(user.Name, "")
		}
		if p.Email == "" {
			p.Email = Person{Email: user.Email}.clean().Email
		}
	}
	if p.Email == "" {
		p.Email = Person{Email: getenv("EMAIL")}.clean().Email
	}
	return p
}

// CheckRefs looks whether packed-refs hides refs from git or from us.
func (s *Store) CheckRefs() error { return s.odb.CheckPackedRefs() }
