package gittool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitcmd/convert"
)

// A selection is the content of a commit.
type selection struct {
	known   []string // files that git tracks, as they are now
	fresh   []string // untracked files
	left    []left   // files left out although the call meant them
	filters []string // of the files
}

// A left file stays out of the commit.
type left struct{ path, why string }

func (s selection) files() []string { return slices.Concat(s.known, s.fresh) }

// mostNamed is the most paths in a command of git. For more, the command covers all files.
const mostNamed = 500

// choose finds the files to commit: the named ones, or those that tools of the conversation changed. It never
// takes a file whose filter jp refuses to run. If the call names such a file, choose fails. Otherwise the
// file stays as it is in the index.
func (r *repository) choose(ctx context.Context, paths []string, id conversation.ID) (s selection, err error) {
	head, err := r.head(ctx)
	if err != nil {
		return s, err
	}
	named := len(paths) > 0
	var unrecorded []string
	if !named {
		if paths, unrecorded, err = r.changed(ctx, id); err != nil {
			return s, err
		}
		if len(paths) == 0 {
			return s, errNothing
		}
	}
	s.known, err = r.differing(ctx, paths, head)
	if err != nil {
		return s, err
	}
	if s.fresh, err = r.untracked(ctx, paths); err != nil {
		return s, err
	}
	if named {
		err = r.matches(ctx, paths, s)
	}
	if err == nil {
		err = r.leaveConflicts(ctx, &s, paths, named)
	}
	if err == nil && !named {
		err = r.untouched(ctx, s)
	}
	if err != nil {
		return s, err
	}
	if err := r.leaveGaps(ctx, &s, paths, named, head); err != nil {
		return s, err
	}
	if err := r.leaveReencoded(ctx, &s, paths, named, head); err != nil {
		return s, err
	}
	s.fresh = slices.DeleteFunc(s.fresh, func(name string) bool {
		if !slices.Contains(unrecorded, name) {
			return false
		}
		s.left = append(s.left, left{name, "is new, and in no snapshot: name it in paths if it belongs into a commit"})
		return true
	})
	if len(s.files()) == 0 {
		if len(s.left) > 0 {
			return s, fmt.Errorf("%w\n\n%s", errNothing, leftText("Not committed:", s.left))
		}
		return s, errNothing
	}
	return s, r.keepsFilters(ctx, s, head)
}

// head is the newest commit, "" if there is none.
func (r *repository) head(ctx context.Context) (string, error) {
	out, err := r.git.Run(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// changed are the files that tools of the conversation changed, and the unrecorded ones among them.
func (r *repository) changed(ctx context.Context, id conversation.ID) (all, unrecorded []string, err error) {
	if r.opts.Changed == nil {
		return nil, nil, nil
	}
	recorded, unrecorded, err := r.opts.Changed(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("find what this conversation's tools changed: %w", err)
	}
	all = slices.Concat(recorded, unrecorded)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(p string) bool { return p == "." || !filepath.IsLocal(filepath.FromSlash(p)) }), unrecorded, nil
}

// differing are the tracked files below paths that differ from HEAD.
func (r *repository) differing(ctx context.Context, paths []string, head string) ([]string, error) {
	if head == "" {
		head = r.git.Repository().ObjectFormat.EmptyTree() // before the first commit
	}
	args := []string{"diff", "--name-only", "-z", "--no-renames", head, "--"}
	if len(paths) <= mostNamed {
		args = append(args, paths...)
	}
	out, err := r.git.RunWith(ctx, gitcmd.Command{Args: args, Content: true})
	return below(split(out), paths), err
}

// untracked are the files below paths that are untracked and not ignored.
func (r *repository) untracked(ctx context.Context, paths []string) ([]string, error) {
	args := []string{"ls-files", "-z", "--others", "--exclude-standard", "--"}
	if len(paths) <= mostNamed {
		args = append(args, paths...)
	}
	out, err := r.git.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	fresh := below(split(out), paths)
	for _, name := range fresh {
		if strings.HasSuffix(name, "/") {
			return nil, fmt.Errorf("%s is a repository of its own", name)
		}
	}
	return fresh, nil
}

// below are those of the names that are one of the paths, or in one.
func below(names, paths []string) []string {
	if len(paths) <= mostNamed { // git has looked
		return names
	}
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	return slices.DeleteFunc(names, func(name string) bool {
		for at := strings.TrimSuffix(name, "/"); at != "."; at = filepath.Dir(at) {
			if wanted[at] {
				return false
			}
		}
		return !wanted["."]
	})
}

// matches lets git report a named path that matches no file.
func (r *repository) matches(ctx context.Context, paths []string, s selection) error {
	files := s.files()
	unsure := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		return p == "." || slices.ContainsFunc(files, func(file string) bool { return file == p || strings.HasPrefix(file, p+"/") })
	})
	if len(unsure) == 0 {
		return nil
	}
	_, err := r.git.Run(ctx, append([]string{"ls-files", "--error-unmatch", "--"}, unsure...)...)
	return err
}

// untouched refuses to commit whole files that the user has staged in part, since the parts are the user's
// decision.
func (r *repository) untouched(ctx context.Context, s selection) error {
	out, err := r.git.RunWith(ctx, gitcmd.Command{Args: []string{"diff", "--name-only", "-z", "--no-renames", "--cached"}, Content: true})
	if err != nil {
		return err
	}
	staged := split(out)
	if len(staged) == 0 {
		return nil
	}
	if out, err = r.git.RunWith(ctx, gitcmd.Command{Args: []string{"diff", "--name-only", "-z", "--no-renames"}, Content: true}); err != nil {
		return err
	}
	unstaged := split(out)
	parted := slices.DeleteFunc(slices.Clone(s.known), func(p string) bool { return !slices.Contains(staged, p) || !slices.Contains(unstaged, p) })
	if len(parted) == 0 {
		return nil
	}
	return fmt.Errorf("the user has staged a part of %s: name the files in paths to commit them whole, or set staged to commit what is staged", few(parted))
}

// leaveConflicts takes out the files with a conflict, since a commit would end the conflict, and git would
// forget both sides. A named file without conflict markers counts as resolved.
func (r *repository) leaveConflicts(ctx context.Context, s *selection, paths []string, named bool) error {
	out, err := r.git.Run(ctx, "ls-files", "--unmerged", "-z")
	if err != nil || len(out) == 0 {
		return err
	}
	conflicts := map[string]bool{}
	for _, entry := range split(out) {
		_, name, _ := strings.Cut(entry, "\t")
		conflicts[name] = true
	}
	var refused []left
	for _, name := range slices.Sorted(maps.Keys(conflicts)) {
		asked := named && slices.Contains(paths, name)
		marked := r.hasConflictMarkers(name)
		switch {
		case !slices.Contains(s.files(), name):
		case asked && marked:
			refused = append(refused, left{name, "has conflict markers"})
		case asked:
			delete(conflicts, name)
		default:
			s.left = append(s.left, left{name, "has a conflict: resolve it, and name it in paths"})
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("%s has a conflict that is not resolved\n\n%s", few(namesOf(refused)), leftText("Nothing was committed:", refused))
	}
	isConflict := func(name string) bool { return conflicts[name] }
	s.known, s.fresh = slices.DeleteFunc(s.known, isConflict), slices.DeleteFunc(s.fresh, isConflict)
	return nil
}

// hasConflictMarkers reports whether a file has both sides of a conflict, as git writes
// them.
func (r *repository) hasConflictMarkers(name string) bool {
	f, err := os.OpenFile(filepath.Join(r.git.Dir(), filepath.FromSlash(name)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 16<<20))
	if err != nil {
		return false
	}
	text = append([]byte("\n"), text...)
	return bytes.Contains(text, []byte("\n<<<<<<<")) && bytes.Contains(text, []byte("\n>>>>>>>"))
}

// leaveGaps takes out the files that need a filter that jp refuses to run.
func (r *repository) leaveGaps(ctx context.Context, s *selection, paths []string, named bool, head string) error {
	asked := map[string]bool{}
	if named {
		for _, p := range paths {
			asked[p] = true
		}
	}
	all, gone := map[string]bool{}, map[string]bool{}
	for _, name := range slices.Concat(s.files(), paths) {
		// A deleted file needs no filter. If only its folder is named, the file may be missing since only its
		// filter writes it.
		gone[name] = r.missing(name)
		all[name] = r.regular(name) || gone[name] && named && !asked[name]
	}
	maps.DeleteFunc(all, func(_ string, ask bool) bool { return !ask })
	gaps, filters, err := r.gaps(ctx, slices.Sorted(maps.Keys(all)), head, true)
	if err != nil || len(filters) == 0 && len(gaps) == 0 {
		return err
	}
	s.filters = filters
	var refused []left
	for _, name := range slices.Sorted(maps.Keys(gaps)) {
		l := left{name, gaps[name].Why()}
		if gone[name] {
			l.why = "is not here, and " + l.why + ": name it to commit that it is deleted"
		}
		if asked[name] {
			refused = append(refused, l)
		} else if slices.Contains(s.files(), name) {
			s.left = append(s.left, l)
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("%s without its filter is not what belongs into a commit\n\n%s", few(namesOf(refused)), leftText("Nothing was committed:", refused))
	}
	out := func(name string) bool { _, gap := gaps[name]; return gap }
	s.known, s.fresh = slices.DeleteFunc(s.known, out), slices.DeleteFunc(s.fresh, out)
	return nil
}

// leaveReencoded takes out the files that git would store in another way than the attributes in the commit
// require, such as text in UTF-16 that lost its working-tree-encoding. With the changed attributes beside
// them they match.
func (r *repository) leaveReencoded(ctx context.Context, s *selection, paths []string, named bool, head string) error {
	if slices.ContainsFunc(s.files(), convert.IsAttributes) {
		return nil
	}
	lost, err := r.checker.Reencoded(ctx, slices.DeleteFunc(s.files(), func(name string) bool { return !r.regular(name) }), head)
	if err != nil || len(lost) == 0 {
		return err
	}
	var refused []left
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		l := left{name, "has " + lost[name] + " in the attributes of HEAD, and not here: commit the changed .gitattributes with it, or put that back"}
		if named && slices.Contains(paths, name) {
			refused = append(refused, l)
		} else {
			s.left = append(s.left, l)
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("%s would not match the attributes of the commit\n\n%s", few(namesOf(refused)), leftText("Nothing was committed:", refused))
	}
	out := func(name string) bool { return lost[name] != "" }
	s.known, s.fresh = slices.DeleteFunc(s.known, out), slices.DeleteFunc(s.fresh, out)
	return nil
}

// gaps are those of the files that need a filter that jp refuses to run. filters are the filters of all
// files. commits means that the files are to be committed as they are now, so that their content counts, too.
func (r *repository) gaps(ctx context.Context, files []string, head string, commits bool) (gaps map[string]convert.Gap, filters []string, err error) {
	if len(files) == 0 {
		return nil, nil, nil
	}
	now, err := convert.Attributes(ctx, r.git, files)
	if err != nil {
		return nil, nil, err
	}
	for _, value := range now {
		if !convert.None(value) && !slices.Contains(filters, value) {
			filters = append(filters, value)
		}
	}
	judge := r.checker.Judge
	if commits {
		judge = r.checker.JudgeContent
	}
	gaps, err = judge(ctx, now, head)
	return gaps, filters, err
}

// regular reports whether there is a file whose content git would convert.
func (r *repository) regular(name string) bool {
	info, err := os.Lstat(filepath.Join(r.git.Dir(), filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

func (r *repository) missing(name string) bool {
	_, err := os.Lstat(filepath.Join(r.git.Dir(), filepath.FromSlash(name)))
	return errors.Is(err, os.ErrNotExist)
}

// keepsFilters refuses a commit that takes filters away, since git would from then on store the files of the
// attribute without the filter. The user has to make such a commit.
func (r *repository) keepsFilters(ctx context.Context, s selection, head string) error {
	rules := slices.DeleteFunc(s.files(), func(name string) bool { return !convert.IsAttributes(name) })
	if len(rules) == 0 || head == "" {
		return nil
	}
	out, err := r.git.Run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	gaps, _, err := r.gaps(ctx, slices.DeleteFunc(split(out), func(name string) bool { return !r.regular(name) }), head, false)
	if err != nil {
		return err
	}
	lost := slices.DeleteFunc(slices.Sorted(maps.Keys(gaps)), func(name string) bool { return !gaps[name].Lost })
	if len(lost) > 0 {
		return fmt.Errorf("%s takes the filter %s from %s: that is for the user to commit", few(rules), gaps[lost[0]].Filter, few(lost))
	}
	for _, name := range rules {
		was, err := r.git.Run(ctx, "cat-file", "blob", head+":"+name)
		if err != nil {
			was = nil // it is new
		}
		is, err := os.ReadFile(filepath.Join(r.git.Dir(), filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if line := convert.Weakened(string(was), string(is)); line != "" {
			return fmt.Errorf("%s takes filters away (%s): that is for the user to commit", name, line)
		}
	}
	return nil
}

func namesOf(list []left) (names []string) {
	for _, l := range list {
		names = append(names, l.path)
	}
	return names
}

// fewest is how many names are listed on one line.
const fewest = 10

func few(names []string) string {
	if len(names) <= fewest {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:fewest], ", "), len(names)-fewest)
}

func leftText(title string, list []left) string {
	if len(list) == 0 {
		return ""
	}
	text := title + "\n"
	const most = 50
	for i, l := range list {
		if i == most {
			text += fmt.Sprintf("  and %d more\n", len(list)-most)
			break
		}
		text += fmt.Sprintf("  %s: %s\n", l.path, l.why)
	}
	return text
}
