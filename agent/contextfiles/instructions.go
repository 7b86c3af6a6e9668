package contextfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/conversation"
	"jp/instructions"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// Instructions finds the instructions for the conversations that work in one folder.
type Instructions struct {
	repo  *repo.Repo
	files *snapshot.Files
	start string // the folder, from the root of the working tree
	off   bool
	// More, if not nil, gives further texts of a turn, with notices for the user. They come last.
	More func(ctx context.Context) (files []instructions.File, notices []string, err error)
	// Notice, if not nil, tells the user about an unused file in a folder below.
	Notice func(string)
	heads  map[string]*gitTree // by the id of the tree
	told   map[string]bool     // files of which Notice was told
}

// OpenInstructions prepares to find instructions for work in a folder. With off it finds none.
func OpenInstructions(r *repo.Repo, files *snapshot.Files, dir string, off bool) *Instructions {
	s := &Instructions{repo: r, files: files, start: ".", heads: map[string]*gitTree{}, told: map[string]bool{}, off: off || !r.Config.Instructions.Enable}
	if r.At.TopLevel == "" {
		return s
	}
	root, err := filepath.EvalSymlinks(r.At.TopLevel)
	if err != nil {
		return s
	}
	if dir, err = filepath.Abs(dir); err == nil {
		if dir, err = filepath.EvalSymlinks(dir); err == nil {
			if at, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(at) {
				s.start = filepath.ToSlash(at)
			}
		}
	}
	return s
}

// Folder is the folder in which jp runs, from the root of the working tree.
func (s *Instructions) Folder() string { return s.start }

// A Difference is a file that differs from HEAD.
type Difference struct {
	File      instructions.File  // without an id if it is missing
	Committed *instructions.File // nil if HEAD has none in that folder
}

// Ask lets the user decide whether the model gets a file as it is. An answer holds for the content.
type Ask func(ctx context.Context, d Difference) (use, decided bool, err error)

// TurnInstructions are the instructions and notices at the start of a turn.
type TurnInstructions struct {
	Told    *conversation.Instructions // to the model; nil: no news
	Notices []string                   // to the user
}

// Turn finds the instructions for a turn that begins behind the events. Without ask, files of HEAD count
// unless the user has decided otherwise.
func (s *Instructions) Turn(ctx context.Context, events []*conversation.Event, ask Ask) (TurnInstructions, error) {
	var turn TurnInstructions
	told := instructions.Follow(events)
	var found, picked []instructions.File
	var skipped []instructions.Skipped
	if !s.off {
		own, unread := s.own()
		disk, unused := s.find(ctx, instructions.Chain(s.start))
		var err error
		if picked, turn.Notices, err = s.pick(ctx, events, disk, false, ask); err != nil {
			return turn, err
		}
		found, skipped = slices.Concat(own, picked), slices.Concat(unread, unused)
	}
	var about []string
	if s.More != nil && !s.off {
		more, notices, err := s.More(ctx)
		if err != nil {
			return turn, err
		}
		found, about = append(found, more...), notices
	}
	found, left := instructions.Fit(found, s.most())
	turn.Told = told.ForTurn(found)
	if turn.Told == nil && len(events) > 0 {
		return turn, nil // the other notices were given
	}
	turn.Notices = append(turn.Notices, slices.Concat(about, s.imports(picked))...)
	for _, f := range slices.Concat(skipped, left) {
		turn.Notices = append(turn.Notices, unused(f))
	}
	for _, f := range found {
		if f.Cut > 0 {
			turn.Notices = append(turn.Notices, fmt.Sprintf("Instructions: the model gets the first %d of %d bytes of %s (instructions.max_bytes).", f.Cut, f.Bytes, safetext.Show(f.Path)))
		}
	}
	return turn, nil
}

// unused is the notice of a file that is not used.
func unused(f instructions.Skipped) string {
	return fmt.Sprintf("Instructions: jp does not use %s: %s.", safetext.Show(f.Path), f.Why)
}

// imports says of files that they import others, which stay text.
func (s *Instructions) imports(files []instructions.File) (notices []string) {
	for _, f := range files {
		if n := len(instructions.Imports(instructions.Dir{Root: s.files.Root}, f)); n > 0 {
			notices = append(notices, fmt.Sprintf("Instructions: %s imports %s, which jp does not read.", safetext.Show(f.Path), conversation.Count(n, "file")))
		}
	}
	return notices
}

// Problems are the files for work in the folder that the model gets otherwise or not at all.
func (s *Instructions) Problems(ctx context.Context) (all []string) {
	_, unread := s.own()
	disk, skipped := s.find(ctx, instructions.Chain(s.start))
	for _, f := range slices.Concat(unread, skipped) {
		all = append(all, unused(f))
	}
	return append(all, s.imports(disk)...)
}

// notice gives the user a notice about a file in a folder below, once.
func (s *Instructions) notice(path, text string) {
	if s.Notice != nil && !s.told[path] {
		s.told[path] = true
		s.Notice(text)
	}
}

// Touched finds the instructions of folders whose files a tool read, changed or found, or the user attached,
// for the event with a seq. They are those of HEAD, nil if the model knows them.
func (s *Instructions) Touched(ctx context.Context, events []*conversation.Event, paths []string, seq int) *conversation.Instructions {
	if s.off || len(paths) == 0 {
		return nil
	}
	chain := instructions.Chain(s.start)
	var folders []string
	for _, p := range paths {
		p = path.Clean(filepath.ToSlash(p))
		if !filepath.IsLocal(p) {
			continue
		}
		for _, folder := range instructions.Chain(path.Dir(p)) {
			if !slices.Contains(chain, folder) && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	disk, skipped := s.find(ctx, folders)
	for _, f := range skipped {
		s.notice(f.Path, unused(f))
	}
	picked, _, err := s.pick(ctx, events, disk, true, nil)
	if err != nil {
		return nil // the tool's result matters more
	}
	fitting, _ := instructions.Fit(picked, s.most())
	given := instructions.Follow(events).ForTool(fitting, seq)
	if given != nil {
		for _, text := range s.imports(fitting) {
			s.notice(text, text)
		}
	}
	return given
}

func (s *Instructions) most() int { return int(s.repo.Config.Instructions.MaxBytes) }

// find finds the files of folders in the working tree. It includes files that only HEAD has, with an empty id
// and text.
func (s *Instructions) find(ctx context.Context, folders []string) (files []instructions.File, skipped []instructions.Skipped) {
	if s.files == nil || s.files.Root == nil || s.files.Tree == nil {
		return nil, nil
	}
	head, err := s.head(ctx)
	for _, folder := range folders {
		found, unused := instructions.Find(instructions.Dir{Root: s.files.Root, Format: string(s.repo.At.ObjectFormat)}, []string{folder}, s.repo.Config.Instructions.Fallback)
		skipped = append(skipped, unused...)
		if len(found) == 0 && err == nil { // else pick reports it, if there is a file at all
			if c := s.committedIn(head, folder); c != nil {
				found = []instructions.File{{Path: c.Path, Real: c.Real}}
			}
		}
		files = append(files, found...)
	}
	return files, skipped
}

// committedIn is HEAD's file of a folder, nil if it is missing or blank.
func (s *Instructions) committedIn(head *gitTree, folder string) *instructions.File {
	files, _ := instructions.Find(head, []string{folder}, s.repo.Config.Instructions.Fallback)
	if len(files) == 0 || files[0].Blank() {
		return nil
	}
	return &files[0]
}

// Committed reports whether HEAD has this content at the file's path.
func (s *Instructions) Committed(ctx context.Context, f instructions.File) bool {
	if s.files == nil || s.files.Tree == nil {
		return false
	}
	head, err := s.head(ctx)
	if err != nil {
		return false
	}
	same, err := head.has(f)
	return err == nil && same
}

// own are the user's own words, and the user's own file.
func (s *Instructions) own() (files []instructions.File, unread []instructions.Skipped) {
	add := func(name, text string, data []byte) {
		if f := instructions.UserText(name, text, instructions.BlobID(string(s.repo.At.ObjectFormat), data)); !f.Blank() {
			files = append(files, f)
		}
	}
	words := s.repo.Config.Assistant.Instructions
	add("assistant.instructions", words, []byte(words))
	for _, name := range s.repo.Report.Profiles {
		if p, ok := s.repo.Config.FindProfile(name); ok {
			add("profile "+name, p.Instructions, []byte(p.Instructions))
		}
	}
	file := filepath.Join(filepath.Dir(s.repo.Paths.UserFile), instructions.Names[1])
	name := file
	if below, ok := strings.CutPrefix(file, s.repo.Env.Get("HOME")+"/"); ok {
		name = "~/" + below
	}
	data, err := safefile.ReadRegular(file)
	text := ""
	if err == nil {
		text, err = instructions.Decode(data)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		unread = append(unread, instructions.Skipped{Path: name, Why: err.Error()})
	default:
		add(name, text, data)
	}
	return files, unread
}

// pick decides for each file whether the model gets it as it is, as HEAD has it, or not at all. Within a
// turn, differences from the record may be a tool's work, and files that HEAD lacks stay out.
func (s *Instructions) pick(ctx context.Context, events []*conversation.Event, disk []instructions.File, within bool, ask Ask) (picked []instructions.File, notices []string, err error) {
	if len(disk) == 0 {
		return nil, nil, nil
	}
	head, err := s.head(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range disk {
		d, same, err := s.compare(head, f)
		if err != nil {
			return nil, nil, err
		}
		if same {
			picked = append(picked, f)
			continue
		}
		use, decided := s.decided(f)
		if within && !head.knows(f) { // such a file counts only as part of HEAD
			use, decided = false, true
		}
		if !decided && s.explained(ctx, events, f, within) {
			use, decided = true, true
		}
		if !decided && ask != nil {
			if use, decided, err = ask(ctx, d); err != nil {
				return nil, nil, err
			}
			if decided {
				if err := s.Decide(f, use); err != nil {
					return nil, nil, err
				}
			}
		}
		switch {
		case use:
			picked = append(picked, f)
		case d.Committed != nil:
			picked = append(picked, *d.Committed)
		}
		if !decided {
			notices = append(notices, d.notice())
		}
	}
	return picked, notices, nil
}

// compare finds HEAD's version of a file, and reports whether it is the same.
func (s *Instructions) compare(head *gitTree, f instructions.File) (d Difference, same bool, err error) {
	d.File = f
	if same, err = head.has(f); same || err != nil {
		return d, same, err
	}
	d.Committed = s.committedIn(head, path.Dir(f.Path))
	return d, sameLines(d), nil
}

func (d Difference) notice() string {
	instead := "it is not committed, and the model does not get it"
	switch {
	case d.File.Absent():
		instead = "it is gone or unreadable, and the model gets the committed one"
	case d.Committed != nil:
		instead = "it differs from what is committed, which the model gets in its place"
	}
	return fmt.Sprintf("Instructions: %s: %s. %v shows it, and approves it as it is.", safetext.Show(d.File.Path), instead, action.TrustRules)
}

// sameLines reports whether a file is the committed one with other line ends or in another encoding, as git
// may check it out. If HEAD lacks the file, it reports whether this one is blank.
func sameLines(d Difference) bool {
	c := d.Committed
	if c == nil {
		return d.File.Blank()
	}
	return c.Path == d.File.Path && c.Real == d.File.Real && c.Text == d.File.Text
}

// head is the tree of the commit that HEAD names.
func (s *Instructions) head(ctx context.Context) (*gitTree, error) {
	state, err := s.files.Tree.State(ctx)
	if err != nil {
		return nil, err
	}
	oid := ""
	if state.Head != "" {
		if oid, err = s.files.Tree.CommitTree(ctx, state.Head, s.repo.Store); err != nil {
			return nil, err
		}
	}
	return s.tree(ctx, oid), nil
}

func (s *Instructions) tree(ctx context.Context, oid string) *gitTree {
	t := s.heads[oid]
	if t == nil {
		t = &gitTree{oid: oid, objects: s.repo.Store, git: s.repo.Git, folders: map[string]map[string]treeEntry{}}
		s.heads[oid] = t
	}
	t.ctx = ctx
	return t
}

// explained reports whether the file's content comes from an edit of the user's: the newest event that
// changed it records a change from outside, or, between two turns, the user has changed it since.
func (s *Instructions) explained(ctx context.Context, events []*conversation.Event, f instructions.File, within bool) bool {
	first := len(events) - len(conversation.AfterAdoption(events)) // the events before are of another conversation
	at := func(i int) (oid string, ok bool) {
		if i < first || events[i].Tree == "" {
			return "", false
		}
		e, err := s.tree(ctx, events[i].Tree).entry(f.Real)
		if errors.Is(err, fs.ErrNotExist) {
			return "", true
		}
		return e.oid, err == nil
	}
	newest := len(events) - 1
	recorded, ok := at(newest)
	if !ok || recorded == "" && !f.Absent() { // snapshots lack it, so its author is unknown
		return false
	}
	if recorded != f.OID { // git may keep it with other line ends, and in another encoding
		c, err := s.tree(ctx, events[newest].Tree).Read(f.Real)
		if err != nil {
			return false
		}
		if text, err := instructions.Decode(c.Data); err != nil || text != f.Text {
			return !within
		}
	}
	for i := newest; i > first; i-- {
		before, ok := at(i - 1)
		if !ok {
			return false
		}
		if before != recorded {
			b, outside := events[i].Body.(*conversation.Workspace)
			return outside && !b.Cut
		}
	}
	return false
}
