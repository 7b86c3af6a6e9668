package repo

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/process"
)

// TestListsAgree changes conversations in all the ways in which a list changes, and compares All with and
// without its cache. It is not parallel: a git that another test starts would hold, for a moment, the locks
// that this one releases.
func TestListsAgree(t *testing.T) {
	kept := 0
	for seed := range uint64(3) {
		w := newListWorld(t, seed)
		for step := range 40 {
			what := w.change()
			w.age(step)
			for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
				kept += w.kept(scope)
				cached := w.all(scope)
				again := w.all(scope) // all of it from the cache
				require.NoError(t, w.r.StateDir().Remove(listsFolder, string(scope)))
				plain := w.all(scope)
				require.Equal(t, plain, cached, "seed %d, step %d, %s: %s", seed, step, scope, what)
				require.Equal(t, plain, again, "seed %d, step %d, %s: %s, again", seed, step, scope, what)
				w.newestAgree(scope, plain, w.rng.IntN(4))
			}
		}
	}
	require.Greater(t, kept, 300, "conversations that a list may take from the cache")
}

// kept is how many conversations the cache of a scope has.
func (w *listWorld) kept(scope conversation.Scope) int {
	r := w.open()
	defer r.Close()
	return len(r.States().listCacheOf(scope).entries)
}

type listWorld struct {
	t    *testing.T
	rng  *rand.Rand
	host *Host
	r    *Repo
	dir  string
	made int
	at   time.Time // of the files, which grow older than a list doubts
	held []*process.Lock
}

func newListWorld(t *testing.T, seed uint64) *listWorld {
	dir := t.TempDir()
	w := &listWorld{t: t, rng: rand.New(rand.NewPCG(seed, 1)), dir: filepath.Join(dir, "work"), at: time.Now().Add(-time.Hour)}
	home := filepath.Join(dir, "home")
	w.host = &Host{Environ: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
	}, Dir: w.dir, Now: time.Now}
	require.NoError(t, os.MkdirAll(w.dir, 0o755))
	require.NoError(t, os.MkdirAll(home, 0o755))
	w.git("init", "-q")
	w.r = w.open()
	t.Cleanup(func() {
		for _, l := range w.held {
			_ = l.Release()
		}
		_ = w.r.Close()
	})
	for range 8 {
		w.create()
	}
	return w
}

func (w *listWorld) open() *Repo {
	r, err := Open(context.Background(), w.host)
	require.NoError(w.t, err)
	return r
}

func (w *listWorld) git(args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.dir, w.host.Environ
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// all is a list by a process of its own.
func (w *listWorld) all(scope conversation.Scope) []Summary {
	r := w.open()
	defer r.Close()
	list, err := r.States().all(context.Background(), scope, "", 1, math.MaxInt)
	require.NoError(w.t, err)
	found := []Summary{}
	for _, l := range list {
		l := *l
		l.Err = nil // its text is in Error
		found = append(found, l)
	}
	slices.SortFunc(found, func(a, b Summary) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// newestAgree compares the newest conversations of a scope with those of the whole list: it has all active
// and waiting ones, and the n most recently active of the idle ones.
func (w *listWorld) newestAgree(scope conversation.Scope, plain []Summary, n int) {
	r := w.open()
	defer r.Close()
	list, err := r.States().all(context.Background(), scope, "", 1, n)
	require.NoError(w.t, err)
	var found, want []string
	for _, l := range list {
		found = append(found, l.ID+l.Status.State)
	}
	slices.SortFunc(plain, func(a, b Summary) int { return cmp.Or(b.Active().Compare(a.Active()), cmp.Compare(b.ID, a.ID)) })
	for _, l := range plain {
		if l.Status.State != "idle" || l.Err != nil {
			want = append(want, l.ID+l.Status.State)
		} else if n > 0 {
			want, n = append(want, l.ID+l.Status.State), n-1
		}
	}
	require.Subset(w.t, found, want)
}

// age lets all files look older than a list doubts, every file at another time.
func (w *listWorld) age(step int) {
	if w.rng.IntN(4) == 0 {
		return // sometimes it is young
	}
	common := w.r.At.CommonDir
	files := []string{filepath.Join(common, "packed-refs"), w.r.Locks.Dir}
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived} {
		found, _ := filepath.Glob(filepath.Join(common, "refs/jp", string(scope), "*"))
		files = append(files, found...)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err == nil && time.Since(info.ModTime()) < time.Minute {
			w.at = w.at.Add(time.Second)
			require.NoError(w.t, os.Chtimes(file, w.at, w.at))
		}
	}
}

func (w *listWorld) create() string {
	w.made++
	id := idOf(w.made)
	_, err := w.r.Store.Create(context.Background(), id, "", w.turn(0, 1))
	require.NoError(w.t, err)
	w.hold(id, false)
	return "create " + string(id)
}

// turn is a turn that ended, as most do, or that was interrupted, also before a tool ran.
func (w *listWorld) turn(seq, turn int) []*conversation.Event {
	bodies := []conversation.Body{&conversation.TurnStart{Model: "script/x", JP: "0"}, &conversation.ChatRequest{Content: "why " + string(rune('a'+w.rng.IntN(26)))}}
	switch w.rng.IntN(6) {
	default:
		bodies = append(bodies, &conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: "so", CallEnd: conversation.CallEnd{Finish: conversation.FinishStop, Usage: &conversation.Usage{Input: 3, Output: 2, CostUSD: "0.01"}}}, &conversation.TurnDone{})
	case 0:
	case 1:
		bodies = append(bodies, &conversation.ToolCallRequest{Call: 1, ID: "c1", Name: "shell_run", Arguments: []byte(`{}`), CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls}})
	}
	zone := time.FixedZone("", 3600*(w.rng.IntN(5)-2))
	var events []*conversation.Event
	for i, b := range bodies {
		events = append(events, &conversation.Event{Seq: seq + i, Turn: turn, Time: time.Date(2026, 11, 1, 0, seq, i, 0, zone), Body: b, Model: "script/x"})
	}
	return events
}

// hold takes the lock of a conversation, as every writer does, and gives it back.
func (w *listWorld) hold(id conversation.ID, keep bool) {
	l, err := w.r.Locks.Take(id, process.Holder{PID: os.Getpid()})
	if err != nil {
		return // it is held
	}
	if keep {
		w.held = append(w.held, l)
		return
	}
	require.NoError(w.t, l.Release())
}

func (w *listWorld) some(scope conversation.Scope) (conversation.Info, bool) {
	infos, err := w.r.Store.List(context.Background(), scope)
	require.NoError(w.t, err)
	infos = slices.DeleteFunc(infos, func(i conversation.Info) bool { return i.Err != nil })
	if len(infos) == 0 {
		return conversation.Info{}, false
	}
	return infos[w.rng.IntN(len(infos))], true
}

// change changes something, and names it. An impossible change has no effect.
func (w *listWorld) change() string {
	ctx := context.Background()
	scope := []conversation.Scope{conversation.ScopeLive, conversation.ScopeLive, conversation.ScopeArchived}[w.rng.IntN(3)]
	info, ok := w.some(scope)
	if !ok {
		return w.create()
	}
	older := func() string {
		for e := range w.r.Store.Backward(ctx, info.Head) {
			if e != nil && e.Seq == max(0, info.Summary.Events-2) {
				return e.Commit
			}
		}
		return string(info.Head)
	}
	kind := w.rng.IntN(16)
	switch kind {
	case 0, 1:
		return w.create()
	case 2, 3, 4:
		_, err := w.r.Store.Append(ctx, info.ID, info.Head, w.turn(info.Summary.Events, info.Summary.Turns+1))
		w.hold(info.ID, false)
		return "append to " + info.Ref + errorText(err)
	case 5:
		w.made++
		id := idOf(w.made)
		_, err := w.r.Store.Fork(ctx, info.ID, info.Head, id, Record(info, &conversation.ForkOrigin{Conversation: info.ID, Seq: info.Summary.Events - 1}, time.Now()))
		return "fork " + info.Ref + errorText(err)
	case 6:
		at := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
		_, err := w.r.Store.Archive(ctx, info.ID, info.Head, Record(info, &conversation.Metadata{ArchivedAt: &conversation.OptionalTime{Time: at}}, at), scope == conversation.ScopeLive)
		return "archive or not " + info.Ref + errorText(err)
	case 7:
		return "delete " + info.Ref + errorText(w.r.States().Delete(ctx, info))
	case 8:
		w.git("update-ref", info.Ref, older())
		return "set back " + info.Ref
	case 9:
		head := older()
		w.write(info.Ref, head)
		return "write into the file of " + info.Ref
	case 10:
		w.git("pack-refs", "--all")
		return "pack"
	case 11:
		w.hold(info.ID, true)
		return "hold " + string(info.ID)
	case 12:
		for _, l := range w.held {
			require.NoError(w.t, l.Release())
		}
		w.held = nil
		return "release all"
	}
	if kind == 15 {
		for _, ref := range []string{info.Ref, "refs/jp/" + string(scope) + "/" + string(idOf(1)), "refs/jp/" + string(scope) + "/" + string(idOf(2))} {
			w.write(ref, "no head")
		}
		return "break " + info.Ref + " and others"
	}
	second := map[conversation.Scope]conversation.Scope{conversation.ScopeLive: conversation.ScopeArchived, conversation.ScopeArchived: conversation.ScopeLive}[scope]
	head := older()
	if kind == 14 {
		head = w.git("commit-tree", "-p", string(info.Head), "-m", "newer", string(info.Head)+"^{tree}")
	}
	w.git("update-ref", "refs/jp/"+string(second)+"/"+string(info.ID), head)
	return "a second ref of " + info.Ref
}

// write overwrites a loose ref in place, unlike git.
func (w *listWorld) write(ref, head string) {
	file := filepath.Join(w.r.At.CommonDir, ref)
	if _, err := os.Stat(file); err != nil {
		return
	}
	require.NoError(w.t, os.WriteFile(file, []byte(head+"\n"), 0o644))
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// TestAListSeesRefsWithTheirOldTimes sets a conversation back in ways that keep the inode, the size
// and the time of the last write that the list has seen.
func TestAListSeesRefsWithTheirOldTimes(t *testing.T) {
	t.Parallel()
	for name, setBack := range map[string]func(w *listWorld, info conversation.Info, file string){
		"a file that was kept gets its name again": func(w *listWorld, info conversation.Info, file string) {
			require.NoError(w.t, os.Link(file, file+".kept"))
			_, err := w.r.Store.Append(w.t.Context(), info.ID, info.Head, w.turn(info.Summary.Events, info.Summary.Turns+1))
			require.NoError(w.t, err)
			require.NoError(w.t, os.Rename(file+".kept", file))
		},
		"a file is written into and gets its time again": func(w *listWorld, info conversation.Info, file string) {
			w.write(info.Ref, w.git("rev-parse", string(info.Head)+"^"))
			require.NoError(w.t, os.Chtimes(file, w.at, w.at))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newListWorld(t, 1)
			infos, err := w.r.Store.List(t.Context(), conversation.ScopeLive)
			require.NoError(t, err)
			info := infos[slices.IndexFunc(infos, func(i conversation.Info) bool { return i.Summary.Status == conversation.StatusIdle })]
			file := filepath.Join(w.r.At.CommonDir, info.Ref)
			require.NoError(t, os.Chtimes(file, w.at, w.at))
			w.all(conversation.ScopeLive)
			require.Equal(t, 1, w.kept(conversation.ScopeLive))
			setBack(w, info, file)
			cached := w.all(conversation.ScopeLive)
			require.NoError(t, w.r.StateDir().Remove(listsFolder, string(conversation.ScopeLive)))
			require.Equal(t, w.all(conversation.ScopeLive), cached)
		})
	}
}

// TestAListHidesPackedRefs puts a link, a pipe, or a malformed or symbolic ref over a packed ref that the list
// has seen: the conversation is listed once, as without the cache.
func TestAListHidesPackedRefs(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(file, other string) error{
		"a link to another ref": func(file, other string) error { return os.Symlink(other, file) },
		"a link to nothing":     func(file, _ string) error { return os.Symlink("nothing", file) },
		"a pipe":                func(file, _ string) error { return syscall.Mkfifo(file, 0o600) },
		"no ref":                func(file, _ string) error { return os.WriteFile(file, []byte("no ref\n"), 0o600) },
		"a symbolic ref": func(file, other string) error {
			return os.WriteFile(file, []byte("ref: refs/jp/conversations/"+other+"\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newListWorld(t, 1)
			infos, err := w.r.Store.List(t.Context(), conversation.ScopeLive)
			require.NoError(t, err)
			w.git("pack-refs", "--all")
			require.NoError(t, os.Chtimes(filepath.Join(w.r.At.CommonDir, "packed-refs"), w.at, w.at))
			w.all(conversation.ScopeLive)
			require.Positive(t, w.kept(conversation.ScopeLive))
			for _, info := range infos[1:] {
				file := filepath.Join(w.r.At.CommonDir, info.Ref)
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, put(file, string(infos[0].ID)))
			}
			cached := w.all(conversation.ScopeLive)
			require.NoError(t, w.r.StateDir().Remove(listsFolder, string(conversation.ScopeLive)))
			require.Equal(t, w.all(conversation.ScopeLive), cached)
		})
	}
}

// TestAListOfFewIsNotKept removes the kept list once the scope has become small, and when a conversation is
// deleted.
func TestAListOfFewIsNotKept(t *testing.T) {
	t.Parallel()
	w := newListWorld(t, 1)
	list := func(from int) []os.DirEntry {
		_, err := w.r.States().all(t.Context(), conversation.ScopeLive, "", from, math.MaxInt)
		require.NoError(t, err)
		entries, err := os.ReadDir(filepath.Join(w.r.At.CommonDir, "jp", listsFolder))
		require.NoError(t, err)
		return entries
	}
	infos, err := w.r.Store.List(t.Context(), conversation.ScopeLive)
	require.NoError(t, err)
	for _, info := range infos {
		require.NoError(t, os.Chtimes(filepath.Join(w.r.At.CommonDir, info.Ref), w.at, w.at))
	}
	require.Len(t, list(len(infos)), 1)
	w.git("update-ref", "-d", infos[0].Ref)
	require.Empty(t, list(len(infos)))
	require.Len(t, list(len(infos)-1), 1)
	unfinished := filepath.Join(w.r.At.CommonDir, "jp", listsFolder, ".new-x")
	require.NoError(t, os.WriteFile(unfinished, nil, 0o600))
	require.NoError(t, w.r.States().Delete(t.Context(), infos[1]))
	require.NoFileExists(t, unfinished)
	require.Empty(t, list(len(infos)))
}

// TestListCacheHoldsAll fills every field that a list can have of an idle conversation.
func TestListCacheHoldsAll(t *testing.T) {
	t.Parallel()
	full := Summary{Ref: "refs/jp/conversations/jp-c17952552000-k3f9", ID: "jp-c17952552000-k3f9", ShortID: "k3f9", Status: Status{State: "idle"}}
	value := reflect.ValueOf(&full).Elem()
	elsewhere := map[string]bool{ // set above, or only for conversations outside of the cache
		"ID": true, "ShortID": true, "Ref": true, "Remote": true, "Status": true, "Error": true, "Branch": true, "Uprooted": true, "Unsure": true, "Err": true,
	}
	for i := range value.NumField() {
		if name := value.Type().Field(i).Name; !elsewhere[name] {
			fill(t, value.Field(i), name)
		}
	}
	full.Created = time.Date(2026, 11, 1, 2, 3, 4, 5, time.FixedZone("", -3600))
	c := listCache{key: []byte("k"), about: "a", taken: time.Unix(7, 9).UTC(), entries: map[string]*listEntry{full.Ref: newListEntry([5]uint64{1, 1 << 63, 3, 4, 5}, full)}}
	read := listCache{key: []byte("k"), about: "a"}
	read.decode(c.encode())
	require.Len(t, read.entries, 1)
	require.Equal(t, c.entries[full.Ref].file, read.entries[full.Ref].file)
	require.Equal(t, c.taken, read.taken)
	require.Equal(t, c.entries[full.Ref].active, read.entries[full.Ref].active)
	var decoder listDecoder
	want, got := full, Summary{}
	for range 2 {
		l, ok := decoder.summary(read.entries[full.Ref])
		require.True(t, ok)
		got = *l
	}
	require.True(t, want.Created.Equal(got.Created))
	require.Equal(t, want.Created.Format(time.RFC3339Nano), got.Created.Format(time.RFC3339Nano))
	want.Created, got.Created = time.Time{}, time.Time{}
	require.Equal(t, want, got)
}

func fill(t *testing.T, v reflect.Value, name string) {
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Date(2026, 11, 1, 0, 0, 0, len(name), time.UTC)
		return
	case *map[string]string:
		*p = map[string]string{name: "x", "two": ""}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("the " + name)
	case reflect.Int:
		v.SetInt(int64(300 + len(name)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), v.Type().Field(i).Name)
		}
	default:
		t.Fatalf("%s: a list cache has no %s", name, v.Kind())
	}
}

// FuzzListCache decodes any file under a valid code: it always succeeds, and keeps all or nothing.
func FuzzListCache(f *testing.F) {
	c := listCache{key: []byte("k"), about: "a", entries: map[string]*listEntry{"refs/jp/conversations/jp-c1": newListEntry(odb.RefStamp{}, Summary{Ref: "refs/jp/conversations/jp-c1", Labels: map[string]string{"a": "b"}})}}
	whole := c.encode()
	f.Add(whole[:len(whole)-32])
	f.Add([]byte(listMagic))
	f.Fuzz(func(t *testing.T, body []byte) {
		c := listCache{key: []byte("k"), about: "a"}
		c.decode(append(body, c.code(body)...))
		var decoder listDecoder
		for ref, e := range c.entries {
			if l, ok := decoder.summary(e); ok {
				require.Equal(t, ref, l.Ref)
			}
		}
	})
}

// TestListCacheOfOthers: a list is empty if it is of another user's key, another repository or another jp, or
// has a changed byte.
func TestListCacheOfOthers(t *testing.T) {
	t.Parallel()
	mine := listCache{key: []byte("k"), about: "a", entries: map[string]*listEntry{"r/x": newListEntry(odb.RefStamp{}, Summary{Ref: "r/x"})}}
	file := mine.encode()
	changed := slices.Clone(file)
	changed[len(listMagic)+3] ^= 1
	for name, tt := range map[string]struct {
		cache listCache
		file  []byte
	}{
		"another key":        {listCache{key: []byte("l"), about: "a"}, file},
		"another repository": {listCache{key: []byte("k"), about: "b"}, file},
		"a changed byte":     {listCache{key: []byte("k"), about: "a"}, changed},
		"half a file":        {listCache{key: []byte("k"), about: "a"}, file[:len(file)/2]},
		"nothing":            {listCache{key: []byte("k"), about: "a"}, nil},
	} {
		tt.cache.decode(tt.file)
		require.Empty(t, tt.cache.entries, name)
	}
	read := listCache{key: []byte("k"), about: "a"}
	read.decode(file)
	require.Len(t, read.entries, 1)
}
