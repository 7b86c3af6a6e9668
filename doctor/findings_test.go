package doctor_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/config"
	"jp/doctor"
	"jp/internal/leftover"
	"jp/internal/safetext"
)

var errSome = errors.New("some reason")

// A judged is facts, and the finding that they must lead to.
type judged struct {
	findings []doctor.Finding
	level    doctor.Level
	topic    string
	text     string // in it
	advice   string // part of it; "" if there is no advice
}

func repository(change func(*doctor.Repository)) []doctor.Finding {
	r := doctor.Repository{Dir: "/r", TopLevel: "/r", GitDir: "/r/.git", Common: "/r/.git", Objects: "sha1"}
	change(&r)
	return r.Findings()
}

func TestRepository(t *testing.T) {
	check(t, map[string]judged{
		"git":         {doctor.Git{Version: "2.47.1"}.Findings(), doctor.OK, "git", "git 2.47.1", ""},
		"git is old":  {doctor.Git{Version: "2.30.2", Old: true, Err: errSome}.Findings(), doctor.Fail, "git", "2.30.2 is too old", "2.36"},
		"git fails":   {doctor.Git{Ran: true, Err: errSome}.Findings(), doctor.Fail, "git", "some reason", "mend what git names"},
		"no room":     {doctor.Git{Err: fmt.Errorf("start git: %w", syscall.EMFILE)}.Findings(), doctor.Fail, "git", "too many open files", "ulimit -n"},
		"git is gone": {doctor.Git{Err: errSome}.Findings(), doctor.Fail, "git", "some reason", "PATH"},
		"none":        {repository(func(r *doctor.Repository) { r.None, r.Err = true, errSome }), doctor.Note, "repository", "no repository at /r", "git init"},
		"broken":      {repository(func(r *doctor.Repository) { r.Err, r.Hint = errSome, "mend it" }), doctor.Fail, "repository", "some reason", "mend it"},
		"plain":       {repository(func(r *doctor.Repository) {}), doctor.OK, "repository", "/r, sha1 objects", ""},
		"bare":        {repository(func(r *doctor.Repository) { r.TopLevel, r.Bare = "", true }), doctor.OK, "repository", "/r/.git, a bare repository", ""},
		"git folder":  {repository(func(r *doctor.Repository) { r.TopLevel = "" }), doctor.OK, "repository", "inside a git directory", ""},
		"linked":      {repository(func(r *doctor.Repository) { r.GitDir = "/r/.git/worktrees/w" }), doctor.OK, "repository", "a linked working tree of /r/.git", ""},
		"shallow":     {repository(func(r *doctor.Repository) { r.Shallow = true }), doctor.Note, "shallow", "commits are missing", "--unshallow"},
		"partial":     {repository(func(r *doctor.Repository) { r.Partial = true }), doctor.Note, "partial", "fetches no object", ""},
		"another's":   {repository(func(r *doctor.Repository) { r.Owner, r.User = 7, 8 }), doctor.Note, "owner", "uid 7, and you are uid 8", ""},
		"read-only":   {repository(func(r *doctor.Repository) { r.ReadOnly = errSome }), doctor.Fail, "writable", "cannot be written to: some reason", "writable"},
		"own folder":  {repository(func(r *doctor.Repository) { r.StateDir = errSome }), doctor.Fail, "folder", "cannot be read: some reason", "/r/.git/jp"},
		"a file":      {repository(func(r *doctor.Repository) { r.Unusual = []string{"/r/.git/jp/index.json"} }), doctor.Fail, "file", "index.json is not a regular file", "rm -r /r/.git/jp/index.json"},
		"an index":    {repository(func(r *doctor.Repository) { r.Index = errSome }), doctor.Fail, "index", "damaged: some reason", "git read-tree HEAD"},
		"a ref":       {repository(func(r *doctor.Repository) { r.InTheWay = []string{"refs/jp"} }), doctor.Fail, "refs", "refs/jp is a ref of something else", "git update-ref -d refs/jp"},
		"a link":      {repository(func(r *doctor.Repository) { r.StateDir, r.Instead = errSome, "/r/.git/jp/locks" }), doctor.Fail, "folder", "some reason, and no turn can run", "rm /r/.git/jp/locks"},
	})
}

func TestRemotes(t *testing.T) {
	remotes := func(pairs ...string) []doctor.Finding {
		var r doctor.Remotes
		for _, pair := range pairs {
			key, value, _ := strings.Cut(pair, "=")
			r.Settings = append(r.Settings, doctor.Setting{Scope: "local", Key: key, Value: value})
		}
		return r.Findings()
	}
	const plain = "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*"
	for _, harmless := range [][]string{
		{}, {plain}, {plain, "fetch.prune=true"}, {"remote.origin.mirror=false"}, {"remote.origin.push=refs/heads/*"},
		{"remote.origin.fetch=+refs/jp/conversations/*:refs/jp/remotes/origin/*", "fetch.prune=true"},
		{"remote.origin.fetch=+refs/*:refs/*", "remote.origin.fetch=^refs/jp/*"}, {"remote.origin.fetch=+refs/*:refs/remotes/all/*"},
		{"remote.origin.fetch=refs/jp/conversations/*"}, {"remote.origin.push=+refs/*:refs/*", "remote.origin.push=^refs/jp/*"},
		{"remote.or\x1bigin.fetch=+refs/*:refs/*"}, {"remote.origin.fetch=refs/heads/x:refs/jpx"},
	} {
		require.Empty(t, remotes(harmless...), harmless)
	}
	const unset = "git config --fixed-value --unset-all remote.origin.fetch "
	check(t, map[string]judged{
		"unknown":      {doctor.Remotes{Err: errSome}.Findings(), doctor.Warn, "remotes", "is not known: some reason", ""},
		"all":          {remotes("remote.origin.fetch=+refs/*:refs/*"), doctor.Warn, "remotes", "git fetch origin overwrites conversations here: remote.origin.fetch = +refs/*:refs/*", "git config --add remote.origin.fetch '^refs/jp/*'; git fetch origin 'refs/jp/conversations/*:refs/jp/remotes/origin/*'"},
		"jp's":         {remotes(plain, "remote.origin.fetch=+refs/jp/*:refs/jp/*"), doctor.Warn, "remotes", "overwrites conversations", unset + "'+refs/jp/*:refs/jp/*'"},
		"payloads":     {remotes("remote.origin.fetch=refs/jp/payloads/*:refs/jp/payloads/*"), doctor.Warn, "remotes", "git fetch origin moves conversations", unset},
		"one":          {remotes("remote.origin.fetch=refs/x:refs/jp/archive/jp-c17528832001"), doctor.Warn, "remotes", "git fetch origin moves", unset},
		"elsewhere":    {remotes("remote.origin.fetch=+refs/backup/*:refs/*"), doctor.Warn, "remotes", "overwrites", unset},
		"pruned":       {remotes("fetch.prune=true", "remote.a b.fetch=+refs/jp/conversations/*:refs/jp/conversations/*"), doctor.Warn, "remotes", "git fetch a b overwrites conversations here, and deletes those that the remote lacks, since pruning is on", "'remote.a b.fetch'"},
		"not this":     {remotes("fetch.prune=true", "remote.origin.prune=false", "remote.origin.fetch=+refs/*:refs/*"), doctor.Warn, "remotes", "overwrites conversations here: ", "git config"},
		"this":         {remotes("remote.origin.prune=yes", "remote.origin.fetch=+refs/*:refs/*"), doctor.Warn, "remotes", "since pruning is on", "git config"},
		"sent":         {remotes("remote.origin.push=refs/*:refs/*"), doctor.Warn, "remotes", "git push origin sends conversations", "git config --add remote.origin.push '^refs/jp/*'"},
		"jp's sent":    {remotes("remote.origin.push=refs/jp/*:refs/jp/*"), doctor.Warn, "remotes", "git push origin sends conversations", "--unset-all remote.origin.push"},
		"mirrored":     {remotes("remote.origin.mirror=true"), doctor.Warn, "remotes", "git push origin sends all refs", "git config remote.origin.mirror false"},
		"for all":      {doctor.Remotes{Settings: []doctor.Setting{{Scope: "global", Key: "remote.o.mirror", Value: "1"}}}.Findings(), doctor.Warn, "remotes", "git push o", "git config --global remote.o.mirror false"},
		"not excepted": {remotes("remote.o.fetch=^refs/jp/*", "remote.o.fetch=+refs/backup/*:refs/jp/*"), doctor.Warn, "remotes", "git fetch o overwrites", "--unset-all"},
	})
}

func TestStore(t *testing.T) {
	packing := func(change func(*doctor.Packing)) []doctor.Finding {
		p := doctor.Packing{Loose: 900, Waiting: 700, WaitingBytes: 1_234_567, Packs: 1, Packed: 42, PackedBytes: 999}
		change(&p)
		return p.Findings()
	}
	check(t, map[string]judged{
		"unlisted":      {doctor.Store{Err: errSome}.Findings(), doctor.Fail, "conversations", "some reason", ""},
		"conversations": {doctor.Store{Live: 3, Archived: 2, Remote: 1}.Findings(), doctor.OK, "conversations", "3 live, 2 archived, 1 fetched", ""},
		"few refs":      {doctor.Store{LooseRefs: 199, PackedRefs: 7}.Findings(), doctor.OK, "refs", "199 loose, 7 packed", ""},
		"many refs":     {doctor.Store{LooseRefs: 200}.Findings(), doctor.Note, "refs", "200 loose", "git pack-refs --all"},
		"hidden refs":   {doctor.Store{Live: 1, Hidden: errSome}.Findings(), doctor.Fail, "refs", "some reason: refs can be hidden", "mend that line"},
		"a broken file": {doctor.Store{Err: errSome, Hidden: errSome}.Findings(), doctor.Fail, "refs", "some reason: refs can be hidden", "mend that line"},
		"not packed":    {packing(func(p *doctor.Packing) { p.Since, p.Waiting = time.Minute, 2000 }), doctor.Note, "packing", "much has come since", "jp pack"},
		"objects":       {packing(func(*doctor.Packing) {}), doctor.OK, "objects", "900 loose, 700 (1.2 MB) of conversations; 1 pack of jp's with 42 objects (999 B)", ""},
		"some objects":  {packing(func(p *doctor.Packing) { p.Partly = true }), doctor.OK, "objects", "at least 700", ""},
		"out of time":   {packing(func(p *doctor.Packing) { p.Partly, p.Waiting = true, 0 }), doctor.OK, "objects", "not counted yet", ""},
		"uncounted":     {packing(func(p *doctor.Packing) { p.Err = errSome }), doctor.Note, "objects", "not counted: some reason", ""},
		"never packed":  {packing(func(*doctor.Packing) {}), doctor.OK, "packing", "never ran here; it is not due", ""},
		"packed":        {packing(func(p *doctor.Packing) { p.Since = 3 * time.Hour }), doctor.OK, "packing", "ran last 3 h ago", ""},
		"due":           {packing(func(p *doctor.Packing) { p.Due = true }), doctor.Note, "packing", "it is due", "jp pack"},
		"due, and off":  {packing(func(p *doctor.Packing) { p.Due, p.Off = true, true }), doctor.Note, "packing", "store.packing is off", "jp pack"},
		"git is misled": {packing(func(p *doctor.Packing) { p.Misled = true }), doctor.Fail, "packs", "names packs that are gone", "jp pack takes it away"},
		"not for us":    {packing(func(p *doctor.Packing) { p.Due, p.Waiting = true, 0 }), doctor.OK, "packing", "nothing that is loose", ""},
		"ordered":       {doctor.Disk{FileSystem: "xfs", Ordered: true}.Findings(), doctor.OK, "durability", "on xfs, the ordered path", ""},
		"stepwise":      {doctor.Disk{}.Findings(), doctor.OK, "durability", "does not know, the stepwise path", ""},
		"not durable":   {doctor.Disk{Off: true, Ordered: true}.Findings(), doctor.Warn, "durability", "durability is off", "durability full"},
		"memory":        {doctor.Disk{FileSystem: "tmpfs", Memory: true}.Findings(), doctor.Warn, "durability", "on tmpfs", "disk"},
		"network":       {doctor.Disk{FileSystem: "nfs", Network: true, Ordered: true}.Findings(), doctor.Warn, "durability", "over a network", "local disk"},
		"no sidecars":   {doctor.Cache{Limit: 2e9}.Findings(), doctor.OK, "cache", "no sidecars", ""},
		"sidecars":      {doctor.Cache{Dir: "/c", Files: 2, Bytes: 5_000, Limit: 2e9}.Findings(), doctor.OK, "cache", "2 files of sidecars, 5.0 kB of at most 2.0 GB; /c may be deleted", ""},
	})
}

func TestConversations(t *testing.T) {
	tip := func(change func(*doctor.Tip)) []doctor.Finding {
		tip := doctor.Tip{Name: "jp-c17528832001-k3f9", Err: errSome}
		change(&tip)
		return doctor.Tips{Read: 5, Bad: []doctor.Tip{tip}}.Findings()
	}
	holder := func(change func(*doctor.Holder)) []doctor.Finding {
		h := doctor.Holder{ID: "jp-c17528832001-k3f9", PID: 12, For: 5 * time.Minute}
		change(&h)
		return doctor.Holders([]doctor.Holder{h})
	}
	check(t, map[string]judged{
		"whole":     {doctor.Tips{Read: 5}.Findings(), doctor.OK, "damage", "(5)", ""},
		"damaged":   {tip(func(*doctor.Tip) {}), doctor.Fail, "damage", "jp-c17528832001-k3f9: some reason", "jp verify jp-c17528832001-k3f9"},
		"newer":     {tip(func(t *doctor.Tip) { t.Newer = true }), doctor.Warn, "damage", "some reason", "newer jp"},
		"fetched":   {tip(func(t *doctor.Tip) { t.Name, t.Fetched = "origin/x", true }), doctor.Warn, "damage", "origin/x, which was fetched", "jp verify origin/x"},
		"partial":   {doctor.Tips{Read: 5, Bad: []doctor.Tip{{Name: "origin/x", Err: errSome, Partial: true}, {Name: "origin/y", Err: errSome, Partial: true}}}.Findings(), doctor.Note, "incomplete", "origin/x and 1 more are incomplete here, and not damaged", "--unshallow"},
		"many":      {doctor.Tips{Bad: manyTips(25)}.Findings(), doctor.Fail, "damage", "5 conversations more", "--all"},
		"free":      {doctor.Holders(nil), doctor.OK, "locks", "no conversation is held", ""},
		"held":      {holder(func(*doctor.Holder) {}), doctor.OK, "locks", "held by pid 12 for 5 min, which can be reached: jp attach k3f9", ""},
		"nameless":  {holder(func(h *doctor.Holder) { h.PID = 0 }), doctor.OK, "locks", "has not said its number", ""},
		"silent":    {holder(func(h *doctor.Holder) { h.Err = errSome }), doctor.Warn, "locks", "cannot be reached: some reason", "jp kill k3f9"},
		"inherited": {holder(func(h *doctor.Holder) { h.Ended = true }), doctor.Warn, "locks", "which has ended", "lsof"},
		"tool":      {doctor.Tools([]doctor.Tool{{ID: "jp-c17528832001-k3f9", Seq: 4}}), doctor.Warn, "tools", "(@4)", "jp kill k3f9"},
	})
	require.Empty(t, doctor.Tools(nil))
}

func TestSeconds(t *testing.T) {
	of := func(s doctor.Duplicate) []doctor.Finding {
		s.ID = "jp-c17528832001-k3f9"
		return doctor.Duplicates{s}.Findings()
	}
	check(t, map[string]judged{
		"older live one":     {of(doctor.Duplicate{Live: true}), doctor.Note, "twice", "is archived, and an older live ref", "jp archive k3f9"},
		"older archived one": {of(doctor.Duplicate{}), doctor.Note, "twice", "is live, and an older archived ref", "jp archive --undo k3f9"},
		"apart":              {of(doctor.Duplicate{Apart: "0123456789abcdef"}), doctor.Warn, "twice", "each has events", "jp fork k3f9@0123456789ab makes"},
		"many":               {doctor.Duplicates(make([]doctor.Duplicate, 25)).Findings(), doctor.Note, "twice", "5 conversations more", "for-each-ref"},
	})
	require.Empty(t, doctor.Duplicates(nil).Findings())
}

func manyTips(n int) (tips []doctor.Tip) {
	for range n {
		tips = append(tips, doctor.Tip{Name: "x", Err: errSome})
	}
	return tips
}

func TestLeftovers(t *testing.T) {
	of := func(kind leftover.Kind, change func(*leftover.File)) []doctor.Finding {
		f := leftover.File{Kind: kind, Path: "/r/some/file", Age: 2 * time.Hour, Bytes: 2000, Conversation: "jp-c17528832001-k3f9"}
		change(&f)
		return doctor.Leftovers{Files: []leftover.File{f}, Root: "/r"}.Findings()
	}
	same := func(*leftover.File) {}
	kept := doctor.Leftovers{
		Files: []leftover.File{{Kind: leftover.Object, Path: "/a", Age: time.Minute}, {Kind: leftover.Object, Path: "/b", Age: time.Hour}},
		Kept:  map[string]error{"/b": errSome},
	}
	check(t, map[string]judged{
		"nothing":     {doctor.Leftovers{}.Findings(), doctor.OK, "leftovers", "nothing of jp's was left", ""},
		"ref lock":    {of(leftover.RefLock, same), doctor.Note, "leftovers", "some/file is 2 h old, and keeps the ref from being moved; the next turn of jp-c17528832001-k3f9", "jp doctor --fix"},
		"a young one": {of(leftover.RefLock, func(f *leftover.File) { f.Age = time.Minute }), doctor.Note, "leftovers", "60 s old", "when it is an hour old"},
		"an open one": {of(leftover.RefLock, func(f *leftover.File) { f.Openers = []int{12} }), doctor.Warn, "leftovers", "pid 12 has it open", "wait"},
		"written":     {of(leftover.WrittenOne, same), doctor.Note, "leftovers", "holds what you wrote", "read it"},
		"object":      {of(leftover.Object, same), doctor.Note, "leftovers", "1 unfinished git object that a killed process left, 2.0 kB, the oldest 2 h old: some/file", "jp doctor --fix; git gc removes what is two weeks old"},
		"pack":        {of(leftover.Pack, same), doctor.Note, "leftovers", "1 unfinished git pack that a killed process left", "jp doctor --fix; git gc removes it"},
		"state":       {of(leftover.State, same), doctor.Note, "leftovers", "1 unfinished file of jp", "jp doctor --fix"},
		"work file":   {of(leftover.WorkFile, same), doctor.Note, "leftovers", "in the working tree", "jp doctor --fix; or you"},
		"staged":      {of(leftover.Staged, same), doctor.Note, "leftovers", "being restored", "jp doctor --fix"},
		"tool lock":   {of(leftover.ToolLock, same), doctor.Note, "leftovers", "lock of a tool", "jp doctor --fix"},
		"draft":       {of(leftover.Draft, same), doctor.Note, "leftovers", "unfinished answer", "jp doctor --fix"},
		"kept":        {kept.Findings(), doctor.Note, "leftovers", "2 unfinished git objects that killed processes left, 0 B, the oldest 60 min old: /a, /b", "it stays: some reason"},
		"not all":     {doctor.Leftovers{Partly: true}.Findings(), doctor.Note, "leftovers", "not looked through", "jp doctor -v"},
		"entry":       {doctor.Leftovers{Stale: []doctor.Entry{{ID: "jp-c17528832001-k3f9", Age: time.Hour}}}.Findings(), doctor.Note, "registry", "of 1 process that ended", "jp status"},
		"entries":     {doctor.Leftovers{Stale: make([]doctor.Entry, 5)}.Findings(), doctor.Note, "registry", "of 5 processes that ended there are still an entry and a socket, the oldest 0 ms old: , ,  and 2 more", "jp status"},
		"bad entry":   {doctor.Leftovers{Errs: []error{errSome}}.Findings(), doctor.Warn, "registry", "some reason", ""},
	})
}

// jp removes the lock of a git that has ended, and gives the reason for leaving any other.
func TestGitLocks(t *testing.T) {
	of := func(path string, kind leftover.Kind, change func(*doctor.Leftovers, *leftover.File)) []doctor.Finding {
		l, f := doctor.Leftovers{Root: "/r"}, leftover.File{Kind: kind, Path: "/r/.git/" + path, Age: 2 * time.Hour}
		change(&l, &f)
		l.Files = []leftover.File{f}
		return l.Findings()
	}
	free := func(_ *doctor.Leftovers, f *leftover.File) { f.Free = true }
	unseen := func(*doctor.Leftovers, *leftover.File) {}
	check(t, map[string]judged{
		"index":        {of("index.lock", leftover.GitLock, free), doctor.Warn, "leftovers", ".git/index.lock is 2 h old, and keeps git from writing index; the git that made it has ended", "rm /r/.git/index.lock"},
		"config":       {of("config.lock", leftover.GitLock, free), doctor.Warn, "leftovers", "keeps git from writing config; the git", "rm /r/.git/config.lock"},
		"branch":       {of("refs/heads/main.lock", leftover.GitLock, free), doctor.Warn, "leftovers", "keeps git from writing main; the git", "rm /r/.git/refs/heads/main.lock"},
		"gc":           {of("gc.pid.lock", leftover.GitLock, free), doctor.Warn, "leftovers", "keeps git from tidying up; the git", "rm /r/.git/gc.pid.lock"},
		"maintenance":  {of("objects/maintenance.lock", leftover.GitLock, free), doctor.Warn, "leftovers", "keeps git from tidying up; the git", "rm /r/.git/objects/maintenance.lock"},
		"packed refs":  {of("packed-refs.lock", leftover.RefLock, free), doctor.Warn, "leftovers", "keeps refs from being deleted and packed; the git", "rm /r/.git/packed-refs.lock"},
		"a ref of jp":  {of("refs/jp/remotes/o/x.lock", leftover.RefLock, free), doctor.Warn, "leftovers", "keeps the ref from being moved; the git", "rm /r/.git/refs/jp/remotes/o/x.lock"},
		"quoted":       {of("refs/heads/a b.lock", leftover.GitLock, free), doctor.Warn, "leftovers", "keeps git from writing a b", "rm '/r/.git/refs/heads/a b.lock'"},
		"git works":    {of("index.lock", leftover.GitLock, func(_ *doctor.Leftovers, f *leftover.File) { f.Gits = []int{12, 13} }), doctor.Warn, "leftovers", "a git works in this repository (pid 12), and may hold it", "wait for that process"},
		"open":         {of("index.lock", leftover.GitLock, func(_ *doctor.Leftovers, f *leftover.File) { f.Openers, f.Gits = []int{14}, []int{12} }), doctor.Warn, "leftovers", "pid 14 has it open", "wait for that process"},
		"unseen":       {of("index.lock", leftover.GitLock, unseen), doctor.Warn, "leftovers", "jp cannot see whether the git that made it has ended", "if no git works here, delete it"},
		"unseen refs":  {of("packed-refs.lock", leftover.RefLock, unseen), doctor.Warn, "leftovers", "jp cannot see whether the git that made it has ended", "if no git works here, delete it"},
		"over network": {of("index.lock", leftover.GitLock, func(l *doctor.Leftovers, f *leftover.File) { l.Network, f.Free = true, true }), doctor.Warn, "leftovers", "jp cannot see", "if no git works here, delete it"},
	})
}

func TestFilters(t *testing.T) {
	check(t, map[string]judged{
		"time was up": {doctor.Filters{Err: errSome, Partly: true}.Findings(), doctor.Note, "filters", "takes long", "jp doctor -v"},
		"pointers":    {doctor.Filters{Pointers: []string{"a.bin", "b.bin", "c.bin", "d.bin"}}.Findings(), doctor.Warn, "lfs", "(4 files, such as a.bin, b.bin, c.bin)", "git lfs pull"},
		"not known":   {doctor.Filters{Err: errSome}.Findings(), doctor.Note, "filters", "some reason", ""},
	})
}

func TestLeftoversAreBounded(t *testing.T) {
	files := make([]leftover.File, 1000)
	for i := range files {
		files[i].Kind = leftover.RefLock
	}
	require.Len(t, doctor.Leftovers{Files: files}.Findings(), 20)
}

func TestTreeLock(t *testing.T) {
	lock := doctor.TreeLock{Path: "/r/.git/jp/mutation.lock", Held: true}
	of := func(pids ...int) []doctor.Finding { lock.PIDs = pids; return lock.Findings() }
	check(t, map[string]judged{
		"one":     {of(12), doctor.Note, "locks", "/r/.git/jp/mutation.lock is locked: a tool or an undo changes files of this working tree, and others wait; pid 12 has it open", "wait for that process; kill 12 ends it"},
		"several": {of(12, 13), doctor.Note, "locks", "pids 12, 13 have it open, and one of them holds it", "wait for them"},
		"unseen":  {of(), doctor.Note, "locks", "jp cannot see which process holds it", "wait for that process"},
	})
	require.Empty(t, doctor.TreeLock{Path: lock.Path, PIDs: []int{12}}.Findings(), "one that is open, and not locked")
}

func TestSetup(t *testing.T) {
	key := func(mode fs.FileMode, err error) []doctor.Finding {
		return doctor.Key{Private: doctor.Private{Path: "/k", Mode: mode, Err: err}}.Findings()
	}
	vault := func(mode fs.FileMode, err error, off bool) []doctor.Finding {
		return doctor.Vault{Private: doctor.Private{Path: "/v", Mode: mode, Err: err}, Off: off}.Findings()
	}
	check(t, map[string]judged{
		"defaults":      {doctor.Config{}.Findings(), doctor.OK, "config", "no file", ""},
		"read":          {doctor.Config{Files: []string{"a", "b"}}.Findings(), doctor.OK, "config", "read: a, b", ""},
		"mistake":       {doctor.Config{Files: []string{"a"}, Mistake: errors.New("a:1: no\na:2: nor this")}.Findings(), doctor.Fail, "config", "a:2: nor this", "mend it"},
		"unusable":      {doctor.Config{Files: []string{"a"}, Unusable: []error{errors.New("a:1: no such tool")}}.Findings(), doctor.Fail, "config", "a:1: no such tool", "mend it"},
		"idle":          {doctor.Config{Idle: []error{errors.New("a:1: does nothing")}}.Findings(), doctor.Note, "config", "a:1: does nothing", "mend it"},
		"rules":         {doctor.Config{Policy: config.Policy{Allow: [][]string{{"go", "test"}}, AllowEdits: []string{"."}, AllowTools: []string{"delegate", "x"}}}.Findings(), doctor.Note, "config", "allow rules run without a question: 1 command, 1 edit folder, 2 tools", "jp config show policy lists them"},
		"held back":     {doctor.Config{HeldBack: []string{"x has no effect"}}.Findings(), doctor.Note, "config", "x has no effect", ""},
		"untrusted":     {doctor.Config{HeldBack: []string{"x has no effect"}, Untrusted: true}.Findings(), doctor.Note, "config", "x has no effect", "jp trust"},
		"key":           {key(0o600, nil), doctor.OK, "key", "/k, for you alone", ""},
		"no key":        {key(0, fs.ErrNotExist), doctor.Note, "key", "no key yet at /k", ""},
		"no key at all": {doctor.Key{Private: doctor.Private{Path: "/k", Err: fs.ErrNotExist}, Unmade: errSome}.Findings(), doctor.Fail, "key", "none can be made: some reason", "XDG_STATE_HOME"},
		"open key":      {key(0o640, nil), doctor.Warn, "key", "0640", "chmod 600 /k"},
		"denied key":    {key(0, fs.ErrPermission), doctor.Fail, "key", "cannot be read", "readable"},
		"bad key":       {key(0o600, errSome), doctor.Fail, "key", "some reason", "backup"},
		"vault":         {vault(fs.ModeDir|0o700, nil, false), doctor.OK, "secrets", "/v, for you alone", ""},
		"open vault":    {vault(fs.ModeDir|0o755, nil, true), doctor.Warn, "secrets", "0755", "chmod 700 /v"},
		"no vault":      {vault(0, fs.ErrNotExist, false), doctor.OK, "secrets", "none was found yet", ""},
		"denied vault":  {vault(0, errSome, false), doctor.Warn, "secrets", "some reason", ""},
		"nothing hid":   {vault(0, fs.ErrNotExist, true), doctor.Note, "secrets", "redact is off", ""},
		"terminal":      {doctor.Terminal{Is: true, Width: 80, Colour: true, UTF8: true}.Findings(), doctor.OK, "terminal", "80 columns, colours", ""},
		"narrow":        {doctor.Terminal{Is: true, Width: 40, Why: "w", UTF8: true}.Findings(), doctor.Note, "terminal", "40 columns, no colours: w", ""},
		"piped":         {doctor.Terminal{Width: 40, Why: "w", UTF8: true}.Findings(), doctor.OK, "terminal", "not a terminal; no colours: w", ""},
		"latin":         {doctor.Terminal{Locale: "de_DE"}.Findings(), doctor.Note, "locale", "the locale is de_DE", "UTF-8"},
		"no locale":     {doctor.Terminal{}.Findings(), doctor.Note, "locale", "no locale is set", "UTF-8"},
		"confined":      {doctor.Sandbox{Holds: true, Words: "landlock 7"}.Findings(), doctor.OK, "sandbox", "landlock 7", ""},
		"gaps":          {doctor.Sandbox{Holds: true, Words: "landlock 3", Gaps: "do a thing"}.Findings(), doctor.Note, "sandbox", "can still do a thing", ""},
		"unconfined":    {doctor.Sandbox{Reason: "no landlock"}.Findings(), doctor.Warn, "sandbox", "none: no landlock", "before you approve"},
		"sandbox off":   {doctor.Sandbox{Off: true, Holds: true}.Findings(), doctor.Note, "sandbox", "sandbox.enable is off", ""},
		"editor":        {doctor.Editor{Command: "vi"}.Findings(), doctor.OK, "editor", "vi (no variable", ""},
		"no editor":     {doctor.Editor{Command: "x", From: "EDITOR", Err: errSome}.Findings(), doctor.Note, "editor", "x cannot be started (EDITOR): some reason", "JP_EDITOR"},
		"identity":      {doctor.Identity{Name: true, Email: true}.Findings(), doctor.OK, "identity", "git knows who you are", ""},
		"no identity":   {doctor.Identity{}.Findings(), doctor.Note, "identity", "no name and no e-mail", "user.name"},
		"only an email": {doctor.Identity{Email: true}.Findings(), doctor.Note, "identity", "no name of yours", "user.name"},
		"only a name":   {doctor.Identity{Name: true}.Findings(), doctor.Note, "identity", "no e-mail address", "user.name"},
	})
}

func TestProviders(t *testing.T) {
	model := func(p doctor.Provider) []doctor.Finding { // beside another that can be asked
		return doctor.Providers{All: []doctor.Provider{{Name: "other", Key: "K"}, p}, Model: "acme/m"}.Findings()
	}
	of := func(p doctor.Provider) []doctor.Finding {
		p.Name, p.Host = "acme", "acme.test"
		return doctor.Providers{All: []doctor.Provider{p}, Net: true}.Findings()
	}
	check(t, map[string]judged{
		"key":             {of(doctor.Provider{Key: "ACME_KEY", Wants: ""}), doctor.OK, "providers", "acme: key from ACME_KEY, endpoint acme.test", ""},
		"no key":          {of(doctor.Provider{Wants: "ACME_KEY is not set"}), doctor.OK, "providers", "without a key: acme (ACME_KEY is not set)", ""},
		"nothing to ask":  {of(doctor.Provider{Wants: "ACME_KEY is not set"}), doctor.Warn, "providers", "no model to ask", "jp login anthropic"},
		"answers":         {of(doctor.Provider{Key: "K", Asked: true, Took: time.Second}), doctor.OK, "providers", "acme.test answers (1 s)", ""},
		"silent":          {of(doctor.Provider{Key: "K", Asked: true, Err: errSome}), doctor.Warn, "providers", "does not answer: some reason", "proxy"},
		"local":           {of(doctor.Provider{Local: true, Asked: true}), doctor.OK, "providers", "no key needed, acme.test answers", ""},
		"local, not here": {of(doctor.Provider{Local: true, Asked: true, Err: errSome}), doctor.OK, "providers", "not running here: acme (acme.test)", ""},
		"wrong":           {of(doctor.Provider{Wrong: errSome}), doctor.Warn, "providers", "acme: some reason", ""},
		"model's server":  {model(doctor.Provider{Name: "acme", Host: "acme.test", Asked: true, Err: errSome}), doctor.Warn, "model", "acme/m cannot be asked: acme.test does not answer: some reason", "providers.acme.base_url"},
		"model's key":     {model(doctor.Provider{Name: "acme", Wants: "ACME_KEY is not set"}), doctor.Warn, "model", "acme/m cannot be asked: ACME_KEY is not set", "jp config set model"},
		"no network":      {doctor.Providers{}.Findings(), doctor.OK, "network", "nothing was sent", ""},
	})
	for name, ps := range map[string]doctor.Providers{
		"scripted": {Scripted: true}, "a key": {All: []doctor.Provider{{Key: "K"}}}, "a server here": {All: []doctor.Provider{{Asked: true, Local: true}}},
		"the model's": {All: []doctor.Provider{{Name: "acme", Key: "K"}}, Model: "acme/m"},
	} {
		for _, f := range ps.Findings() {
			require.NotContains(t, f.Text, "no model to ask", name)
			require.NotEqual(t, "model", f.Topic, name)
		}
	}
}

// check looks for each finding, and for the presence or absence of its advice.
func check(t *testing.T, tests map[string]judged) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, f := range tt.findings {
				if f.Level == tt.level && f.Topic == tt.topic && strings.Contains(f.Text, tt.text) {
					require.Contains(t, f.Advice, tt.advice)
					require.Equal(t, tt.advice == "", f.Advice == "", f.Advice)
					return
				}
			}
			require.Fail(t, "no such finding", "%s %s %q in %v", tt.level, tt.topic, tt.text, tt.findings)
		})
	}
}

func TestTally(t *testing.T) {
	findings := []doctor.Finding{{Level: doctor.OK}, {Level: doctor.OK}, {Level: doctor.Note}, {Level: doctor.Warn}, {Level: doctor.Warn}}
	require.Equal(t, "2 ok, 1 note, 2 warnings, nothing failed.", doctor.Count(findings).String())
	findings = append(findings, doctor.Finding{Level: doctor.Fail})
	require.Equal(t, doctor.Tally{OK: 2, Note: 1, Warn: 2, Fail: 1}, doctor.Count(findings))
	require.Equal(t, "2 ok, 1 note, 2 warnings, 1 failed.", doctor.Count(findings).String())
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 2 << 30: "2.1 GB", 5e15: "5000.0 TB",
	} {
		require.Equal(t, want, safetext.Bytes(n))
	}
}

func TestHoldersAreSorted(t *testing.T) {
	sorted := doctor.SortHolders([]doctor.Holder{{ID: "b"}, {ID: "a"}})
	require.Equal(t, []doctor.Holder{{ID: "a"}, {ID: "b"}}, sorted)
}
