package fork

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/blame"
	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/leftover"
	"jp/internal/safefile"
	"jp/tool"
	"jp/tool/command"
)

// A Verdict is a check's judgement of files.
type Verdict string

const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	Skip Verdict = "skip" // undecided
)

// A Step is files that a check can judge: as an event left them, or as the conversation found them.
type Step struct {
	Event  *conversation.Event // nil: as the conversation found them
	commit string
}

// A Bisection looks for the first event whose files fail a check. Its state is a file under the user's key, and the
// files to check are in a linked working tree of its own.
type Bisection struct {
	View   *repo.View
	Lost   error // why its events are unreadable, else nil; then it can only end
	repo   *repo.Repo
	saved  savedBisection
	steps  []Step // those that changed files, the oldest first
	folder *safefile.StateFolder
	lock   *os.File
}

// savedBisection is the state of a bisection between commands. Commits name the steps.
type savedBisection struct {
	Conversation string             `json:"conversation"`
	Good         string             `json:"good"`
	Bad          string             `json:"bad"`
	Verdicts     map[string]Verdict `json:"verdicts"`
	Testing      string             `json:"testing"`
	Dir          string             `json:"dir"`
}

const (
	bisectFolder = "bisect"
	bisectFile   = "state"
)

// OpenBisection opens the bisection of a repository. Its View is nil if none is under way. It fails if
// another process has it open.
func OpenBisection(ctx context.Context, h *repo.Host, r *repo.Repo) (*Bisection, error) {
	b := &Bisection{repo: r}
	if err := b.open(ctx, h); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *Bisection) open(ctx context.Context, h *repo.Host) (err error) {
	if b.folder, err = b.repo.StateDir().Open(bisectFolder); err != nil {
		return err
	}
	if b.lock, err = b.folder.OpenShared("lock", 0o600); err != nil {
		return err
	}
	if err := safefile.TryLock(b.lock); errors.Is(err, safefile.ErrLocked) {
		return problem.New(problem.ExitLocked, "locked", "another jp bisect works in this repository.")
	} else if err != nil {
		return err
	}
	data, err := b.repo.StateDir().ReadSealed(bisectFolder, bisectFile)
	var foreign *safefile.SealError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &foreign) { // jp has told of the second
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &b.saved)
	}
	if err != nil {
		return fmt.Errorf("read the state of the bisection: %w", err)
	}
	v, _, _, err := b.repo.Find().EventRange(ctx, h, b.saved.Conversation, "", "")
	if err == nil {
		err = b.load(ctx, v)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil || b.index(b.saved.Good) < 0 || b.index(b.saved.Bad) < 0 {
		b.Lost = problem.New(problem.ExitNotFound, "not_found", "the events of the bisection are gone from %s. jp bisect reset ends it.", b.saved.Conversation)
	}
	return nil
}

// Close lets other processes open the bisection.
func (b *Bisection) Close() {
	if b.lock != nil {
		safefile.Unlock(b.lock)
	}
	if b.folder != nil {
		_ = b.folder.Close()
	}
}

// load finds the steps of a conversation.
func (b *Bisection) load(ctx context.Context, v *repo.View) error {
	before, err := blame.Ground(ctx, v)
	if err != nil {
		return err
	}
	b.View, b.steps = v, nil
	out, err := v.Repo.Git.Run(ctx, "rev-parse", "--verify", "--quiet", v.Events[0].Commit+"^")
	if found := strings.TrimSpace(string(out)); err == nil {
		b.steps = append(b.steps, Step{commit: found})
	}
	for _, e := range v.Events {
		if e.Tree != before || len(b.steps) == 0 {
			b.steps = append(b.steps, Step{Event: e, commit: e.Commit})
		}
		before = e.Tree
	}
	return nil
}

func (b *Bisection) index(commit string) int {
	return slices.IndexFunc(b.steps, func(s Step) bool { return s.commit == commit })
}

// Start begins a bisection between two events, the first and the newest step by default.
func (b *Bisection) Start(ctx context.Context, h *repo.Host, target, good, bad string) error {
	if b.View != nil {
		return problem.Usage("a bisection of %s is under way. jp bisect good, bad or skip, or --run, goes on, and jp bisect reset ends it.", b.View.ID)
	}
	v, _, last, err := b.repo.Find().EventRange(ctx, h, target, "", strings.TrimPrefix(bad, "@"))
	if err != nil {
		return err
	}
	if err := b.load(ctx, v); err != nil {
		return err
	}
	from, to := 0, b.at(last)
	if good != "" {
		_, _, first, err := b.repo.Find().EventRange(ctx, h, v.Name(), "", strings.TrimPrefix(good, "@"))
		if err != nil {
			return err
		}
		from = b.at(first)
	}
	if from >= to {
		return problem.Usage("no event of %s changed files between the good and the bad end.", v.ID).About(v.ID)
	}
	b.saved = savedBisection{
		Conversation: v.Name(), Good: b.steps[from].commit, Bad: b.steps[to].commit, Verdicts: map[string]Verdict{},
	}
	return b.save()
}

// at is the step that has the files of an event.
func (b *Bisection) at(e *conversation.Event) int {
	for i, s := range slices.Backward(b.steps) {
		if s.Event == nil || s.Event.Seq <= e.Seq {
			return i
		}
	}
	return 0
}

func (b *Bisection) save() error {
	data, err := json.Marshal(b.saved)
	if err == nil {
		err = b.repo.StateDir().ReplaceSealed(bisectFolder, bisectFile, data, safefile.Options{})
	}
	if err != nil {
		return fmt.Errorf("write the state of the bisection: %w", err)
	}
	return nil
}

// ends are the last step that is known to be good, and the first one after it that is known to be bad.
func (b *Bisection) ends() (good, bad int) {
	good, bad = b.index(b.saved.Good), b.index(b.saved.Bad)
	for i := good; i < bad; i++ {
		switch b.saved.Verdicts[b.steps[i].commit] {
		case Good:
			good = i
		case Bad:
			bad = i
		}
	}
	return good, bad
}

// next is the step in the middle that still needs a check, or -1.
func (b *Bisection) next() int {
	good, bad := b.ends()
	best, middle := -1, (good+bad)/2
	for i := good + 1; i < bad; i++ {
		if b.saved.Verdicts[b.steps[i].commit] == "" && (best < 0 || max(i-middle, middle-i) < max(best-middle, middle-best)) {
			best = i
		}
	}
	return best
}

// Suspects are the events of which one is the first bad one: a single one if that is known.
func (b *Bisection) Suspects() (suspects []*conversation.Event) {
	good, bad := b.ends()
	for _, s := range b.steps[good+1 : bad+1] {
		suspects = append(suspects, s.Event)
	}
	return suspects
}

// Undecided says that one of several events is the first bad one.
func (b *Bisection) Undecided() error {
	var names []string
	for _, e := range b.Suspects() {
		names = append(names, fmt.Sprintf("@%d", e.Seq))
	}
	return problem.New(problem.ExitFailed, "bisect", "one of %s is the first bad event: the others were skipped.", strings.Join(names, ", ")).About(b.View.ID)
}

// Left is how many steps are open.
func (b *Bisection) Left() (left int) {
	good, bad := b.ends()
	for i := good + 1; i < bad; i++ {
		if b.saved.Verdicts[b.steps[i].commit] == "" {
			left++
		}
	}
	return left
}

// Testing is the step whose files are in the folder, nil between the steps.
func (b *Bisection) Testing() (step *Step, dir string) {
	if i := b.index(b.saved.Testing); b.saved.Testing != "" && i >= 0 {
		return &b.steps[i], b.saved.Dir
	}
	return nil, b.saved.Dir
}

// Judge records the verdict on the step that is being tested.
func (b *Bisection) Judge(v Verdict) error {
	step, _ := b.Testing()
	if step == nil {
		return problem.Usage("there is nothing to judge. jp bisect begins a bisection.")
	}
	b.saved.Verdicts[step.commit], b.saved.Testing = v, ""
	return b.save()
}

// Advance brings the files of the next step to the folder. more is false at the end.
func (b *Bisection) Advance(ctx context.Context) (more bool, err error) {
	if b.saved.Testing != "" {
		return true, b.checkOut(ctx, b.saved.Testing)
	}
	i := b.next()
	if i < 0 {
		return false, nil
	}
	return true, b.checkOut(ctx, b.steps[i].commit)
}

// checkOut brings the files of a commit to the folder. It makes the folder anew if that fails, as after a crash.
func (b *Bisection) checkOut(ctx context.Context, commit string) error {
	b.saved.Testing = commit
	if b.saved.Dir != "" && b.switchTo(ctx, commit) == nil {
		return b.save()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b.removeTree(ctx)
	dir, err := os.MkdirTemp("", "jp-bisect-")
	if err != nil {
		return fmt.Errorf("make a folder for the files: %w", err)
	}
	b.saved.Dir = dir
	if err := b.save(); err != nil {
		return err
	}
	l := linkedTree{b.repo, dir}
	if err := l.add(ctx, []string{"worktree", "add", "--quiet", "--detach", dir, commit}); err != nil {
		return fmt.Errorf("add a worktree in %s: %w", dir, err)
	}
	return l.keepApart(ctx)
}

func (b *Bisection) switchTo(ctx context.Context, commit string) error {
	l := linkedTree{b.repo, b.saved.Dir}
	at, err := gitcmd.Locate(ctx, l.dir, gitcmd.Options{Environ: b.repo.Env.Environ})
	if err != nil {
		return err
	}
	if !sameFolder(at.TopLevel, l.dir) || at.CommonDir != b.repo.At.CommonDir {
		return fs.ErrNotExist
	}
	_, err = gitcmd.At(at, l.filters()).RunWith(ctx, gitcmd.Command{Args: []string{"checkout", "--quiet", "--force", "--detach", commit}, Env: withPointers})
	return err
}

func (b *Bisection) removeTree(ctx context.Context) {
	if dir := b.saved.Dir; dir != "" {
		_, err := b.repo.Git.Run(ctx, "worktree", "remove", "--force", "--force", dir)
		if err != nil {
			_ = leftover.ForgetHalf(b.repo.At.CommonDir, dir) // jp doctor reports the rest
		}
		_ = os.RemoveAll(dir)
		b.saved.Dir = ""
	}
}

// End forgets the bisection and takes its folder away.
func (b *Bisection) End(ctx context.Context) error {
	b.removeTree(context.WithoutCancel(ctx))
	if err := b.folder.Remove(bisectFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the bisection: %w", err)
	}
	return nil
}

// Run lets a command of the user's judge the steps, both ends first, until all are judged. told gets each
// verdict.
func (b *Bisection) Run(ctx context.Context, command string, output io.Writer, told func(Step, Verdict)) error {
	for _, end := range []struct {
		commit string
		want   Verdict
	}{{b.saved.Bad, Bad}, {b.saved.Good, Good}} {
		got, err := b.try(ctx, end.commit, command, output, told)
		if err != nil {
			return err
		}
		if got != end.want {
			s := b.steps[b.index(end.commit)]
			return errors.Join(b.End(ctx), problem.New(problem.ExitFailed, "bisect", "the command says %s of %s, which should be %s.", got, s.Name(), end.want).About(b.View.ID))
		}
	}
	for i := b.next(); i >= 0; i = b.next() {
		if _, err := b.try(ctx, b.steps[i].commit, command, output, told); err != nil {
			return err
		}
	}
	return nil
}

// Name names the step.
func (s Step) Name() string {
	if s.Event == nil {
		return "the state before @0"
	}
	return fmt.Sprintf("@%d", s.Event.Seq)
}

// try lets the command judge one step without a verdict.
func (b *Bisection) try(ctx context.Context, commit, line string, output io.Writer, told func(Step, Verdict)) (Verdict, error) {
	if v := b.saved.Verdicts[commit]; v != "" {
		return v, nil
	}
	if err := b.checkOut(ctx, commit); err != nil {
		return "", err
	}
	dir := b.saved.Dir
	// A repository is found by the folder alone.
	kept := slices.DeleteFunc(slices.Clone(b.repo.Env.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "PWD"}, name)
	})
	p := command.Program{Argv: []string{"sh", "-c", line}, Dir: dir, Output: output, Env: append(kept, "PWD="+dir)}
	ending, err := p.Run(ctx, tool.Call{})
	if err != nil {
		return "", fmt.Errorf("run the command: %w", err)
	}
	v := Bad
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case ending.Success():
		v = Good
	case !errors.As(ending.Err, &exit) || exit.ExitCode() < 0 || exit.ExitCode() > 127:
		words, _ := ending.Words()
		return "", problem.New(problem.ExitFailed, "bisect", "the command gives no verdict on %s (%s): exit codes from 0 to 127 are verdicts.", b.steps[b.index(commit)].Name(), words).About(b.View.ID)
	case exit.ExitCode() == 125:
		v = Skip
	}
	told(b.steps[b.index(commit)], v)
	return v, b.Judge(v)
}
