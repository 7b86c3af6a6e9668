package gitcmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// rulesIdle is how long a git waits for the next question.
const rulesIdle = 30 * time.Second

// leftAlone is how long a file must have been left alone before a git that has read it is kept:
// a later write could else leave it the same times.
const leftAlone = 100 * time.Millisecond

// Rules asks git which attributes the paths of one working tree have and which of them it ignores. One git keeps
// running for each kind of question, since every start of git reads the whole index. Such a git keeps the content of
// .gitattributes, .gitignore and its configuration in memory. So it is started anew as soon as one of these files
// changes, and it ends after a while without questions.
//
// A Rules It may be used by several goroutines.
// Its maker closes it.
type Rules struct {
	git *Git

	mu         sync.Mutex
	attributes map[string]*rulesGit // by the requested names
	ignored    rulesGit
	excludes   string // the user's file of ignored names
	config     string // the configuration of which that is known
}

// NewRules returns rules. git starts with the first question.
func NewRules(git *Git) *Rules { return &Rules{git: git, attributes: map[string]*rulesGit{}} }

// Close ends all running gits. A later question starts a new one.
func (c *Rules) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ignored.end() // its answers were read
	for _, r := range c.attributes {
		_ = r.end()
	}
}

// A rulesGit is a git that answers one kind of question.
type rulesGit struct {
	process *Process
	out     *bufio.Reader
	read    map[string]string // the files that it may have read, with their states
	timer   *time.Timer
}

// Attributes are the values of attributes, as printed by git check-attr, by path and name.
func (c *Rules) Attributes(ctx context.Context, paths []string, names ...string) (map[string]map[string]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := strings.Join(names, " ")
	if c.attributes[key] == nil {
		c.attributes[key] = &rulesGit{}
	}
	r := c.attributes[key]
	values := make(map[string]map[string]string, len(paths))
	err := c.ask(ctx, r, paths, rulesQuestion{
		command: Command{Args: append([]string{"check-attr", "-z", "--stdin"}, names...)},
		files:   []string{c.common("info", "attributes")}, name: ".gitattributes",
		fields: 3 * len(names),
		answer: func(path string, fields []string) {
			values[path] = map[string]string{}
			for i := 0; i < len(fields); i += 3 {
				values[path][fields[i+1]] = fields[i+2]
			}
		},
	})
	return values, err
}

// Ignored are those of the paths that git ignores.
func (c *Rules) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if config, _, whole := c.git.ConfigStamp(); !whole || config != c.config {
		excludes, err := c.git.ExcludesFile(ctx)
		if err != nil {
			return nil, err
		}
		c.excludes, c.config = excludes, config
	}
	ignored := map[string]bool{}
	err := c.ask(ctx, &c.ignored, paths, rulesQuestion{
		// This command refuses literal names. Behind "./" all names are literal.
		command: Command{Args: []string{"check-ignore", "-z", "--stdin", "--verbose", "--non-matching"}, Env: []string{"GIT_LITERAL_PATHSPECS=0"}},
		files:   []string{c.common("info", "exclude"), c.excludes}, name: ".gitignore",
		prefix: "./", fields: 4,
		answer: func(path string, fields []string) {
			pattern := fields[2]
			ignored[path] = pattern != "" && !strings.HasPrefix(pattern, "!")
		},
	})
	return ignored, err
}

// A rulesQuestion is the form of a question to git about a kind of rule.
type rulesQuestion struct {
	command Command
	files   []string // beside those in the folders
	name    string   // of those
	prefix  string   // before each path
	fields  int      // of the answer for each path
	answer  func(path string, fields []string)
}

func (c *Rules) common(names ...string) string {
	return filepath.Join(append([]string{c.git.Repository().CommonDir}, names...)...)
}

// ask asks about each path, with a git whose files are unchanged since it read them.
func (c *Rules) ask(ctx context.Context, r *rulesGit, paths []string, q rulesQuestion) error {
	if len(paths) == 0 {
		return nil
	}
	keep := r.renew(c.states(paths, q))
	if r.process == nil {
		process, err := c.git.Start(context.WithoutCancel(ctx), q.command)
		if err != nil {
			return err
		}
		r.process, r.out = process, bufio.NewReader(process.Stdout)
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	limited, cancel := context.WithTimeoutCause(ctx, DefaultTimeout, ErrTimeLimit)
	defer cancel()
	stop := context.AfterFunc(limited, r.process.Kill)
	err := r.answers(paths, q)
	if stopped := !stop(); stopped || err != nil || !keep {
		if ended := r.end(); err != nil && ended != nil {
			err = ended // it has the reason
		}
		if limited.Err() != nil {
			err = fmt.Errorf("git %s: %w", q.command.Args[0], context.Cause(limited))
		}
		return err
	}
	process := r.process
	r.timer = time.AfterFunc(rulesIdle, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.process == process {
			_ = r.end()
		}
	})
	return nil
}

// answers writes the paths and reads git's answer for each.
func (r *rulesGit) answers(paths []string, q rulesQuestion) error {
	fields := make([]string, q.fields)
	for _, p := range paths { // one by one, so that neither side waits for a full pipe
		if _, err := io.WriteString(r.process.Stdin, q.prefix+p+"\x00"); err != nil {
			return err
		}
		for i := range fields {
			text, err := r.out.ReadString(0)
			if err != nil {
				return err
			}
			fields[i] = strings.TrimSuffix(text, "\x00")
		}
		q.answer(p, fields)
	}
	return nil
}

func (r *rulesGit) end() error {
	if r.process == nil {
		return nil
	}
	process := r.process
	if r.timer != nil {
		r.timer.Stop()
	}
	r.process, r.out, r.read, r.timer = nil, nil, nil, nil
	return process.Close()
}

// renew ends a git that may have read one of the files in another state. keep is false if one of them changed
// so recently that the git must not be reused.
func (r *rulesGit) renew(now map[string]string, newest time.Time) (keep bool) {
	for file, state := range r.read {
		if _, asked := now[file]; !asked {
			now[file], newest = rulesState(file, newest)
		}
		if now[file] != state {
			_ = r.end()
			break
		}
	}
	if r.read == nil {
		r.read = map[string]string{}
	}
	for file, state := range now {
		r.read[file] = state
	}
	return time.Since(newest) > leftAlone
}

// configurationFile is the key for its files among the states.
const configurationFile = ""

// states are those of the files with rules for some paths, and of the index.
func (c *Rules) states(paths []string, q rulesQuestion) (states map[string]string, newest time.Time) {
	states = map[string]string{}
	config, newest, whole := c.git.ConfigStamp()
	if states[configurationFile] = config; !whole {
		newest = time.Now() // other files may say something else each time
	}
	repo := c.git.Repository()
	for _, file := range append(q.files, filepath.Join(repo.GitDir, "index")) {
		states[file], newest = rulesState(file, newest)
	}
	for _, p := range paths {
		for dir := path.Dir(p); ; dir = path.Dir(dir) {
			file := filepath.Join(repo.TopLevel, filepath.FromSlash(dir), q.name)
			if _, done := states[file]; done {
				break
			}
			states[file], newest = rulesState(file, newest)
			if dir == "." {
				break
			}
		}
	}
	return states, newest
}

// rulesState identifies a file in its present state, and gives the later of two times: that
// of its last change, and another.
func rulesState(file string, newest time.Time) (string, time.Time) {
	if file == configurationFile {
		return "", newest
	}
	info, err := os.Stat(file)
	if err != nil {
		return "-", newest
	}
	var st unix.Stat_t
	_ = unix.Stat(file, &st) // it was there a moment ago; zero is another state
	if changed := time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec)); changed.After(newest) {
		newest = changed
	}
	return fmt.Sprintf("%d/%d/%d/%v/%v", st.Dev, st.Ino, info.Size(), st.Mtim, st.Ctim), newest
}
