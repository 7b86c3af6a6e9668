package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jp/agent"
	"jp/agent/contextfiles"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/internal/action"
	"jp/internal/safetext"
)

// none is the word for no mode, and for no profile.
const none = "none"

// Settings are the person's choices for the next requests.
type settings struct {
	dir string // in which their words name files

	mu       sync.Mutex
	request  agent.Request
	mode     string            // a profile of jp's own
	modes    *agent.ModeChange // of the newest request; nil: none yet
	began    string            // the mode that it has
	attached []string          // files for the next request
	given    []contextfiles.Attachment
}

// open begins with the options of the command line. A mode that it names is one here.
func (s *settings) open(dir string, request agent.Request) {
	s.dir, s.request = dir, request
	if n := len(request.Turn.Profiles) - 1; n >= 0 && isMode(request.Turn.Profiles[n]) {
		s.request.Turn.Profiles, s.mode = request.Turn.Profiles[:n], request.Turn.Profiles[n]
	}
}

func isMode(name string) bool {
	return slices.Contains([]string{config.ProfilePlan, config.ProfileEdits, config.ProfileAuto}, name)
}

// next is the next request, and goOn lifts the mode in which nothing is changed.
func (s *settings) next(goOn bool) agent.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if goOn && s.mode == config.ProfilePlan {
		s.mode = ""
	}
	o := s.request
	if s.mode != "" {
		o.Turn.Profiles = append(slices.Clone(o.Turn.Profiles), s.mode)
	}
	o.Input.Attachments, o.Input.Given = slices.Clone(s.attached), slices.Clone(s.given)
	return o
}

// asked removes the attachments of one request.
func (s *settings) asked() {
	s.mu.Lock()
	s.attached, s.given = nil, nil
	s.mu.Unlock()
}

// give adds attachments to the next request.
func (s *settings) give(a ...contextfiles.Attachment) {
	s.mu.Lock()
	s.given = append(s.given, a...)
	s.mu.Unlock()
}

// hasOutput reports whether output of the person's commands waits for the next request.
func (s *settings) hasOutput() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.given) > 0
}

// begin is for a request that a turn begins with.
func (s *settings) begin(o *agent.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modes, s.began = &agent.ModeChange{}, s.mode
	o.Turn.Modes = s.modes
}

// modeName is the mode in words.
func (s *settings) modeName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.mode, none)
}

// cycle goes from mode to mode. from is when the new mode takes effect if a turn runs.
func (s *settings) cycle() (from string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = map[string]string{"": config.ProfileEdits, config.ProfileEdits: config.ProfilePlan, config.ProfilePlan: config.ProfileAuto}[s.mode]
	switch {
	case s.modes == nil, s.began == config.ProfilePlan:
		return "the next request"
	case s.modes.Choose(s.began, s.mode):
		return "this turn from now on"
	}
	return "this turn from the next question on"
}

func (s *settings) chooseMode(_ *repo.Repo, words []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(words) == 0:
		return "The modes are plan (only read), edits (write files unasked), auto (and run programs of the sandbox) and none.", nil
	case len(words) == 1 && words[0] == none:
		s.mode = ""
	case len(words) == 1 && isMode(words[0]):
		s.mode = words[0]
	default:
		return "", problem.Usage("invalid mode %q (want plan, edits, auto or none).", strings.Join(words, " "))
	}
	if s.modes != nil {
		s.modes.Choose(s.began, s.mode)
	}
	return "", nil
}

func (s *settings) chooseProfile(r *repo.Repo, words []string) (string, error) {
	names := r.Config.ProfileNames()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(words) == 0:
		return "The profiles are " + safetext.Clean(strings.Join(names, ", ")) + ".", nil
	case len(words) > 1:
		return "", problem.Usage("/profile takes one name.")
	case words[0] == none:
		s.request.Turn.Profiles, s.mode = nil, ""
	case isMode(words[0]):
		s.mode = words[0]
	case !slices.Contains(names, words[0]):
		return "", problem.Usage("there is no profile %q (want one of %s).", words[0], strings.Join(append(names, none), ", "))
	default:
		s.request.Turn.Profiles = words
	}
	return "", nil
}

// checkModel refuses a model that a request could not ask.
func checkModel(ctx context.Context, r *repo.Repo, words []string) error {
	if len(words) != 1 {
		return problem.Usage("/model takes one name.").Hint(action.Models, "list the models")
	}
	return agent.CheckModel(ctx, r, words[0])
}

func (s *settings) chooseModel(_ *repo.Repo, words []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.request.Turn.Model = words[0]
	return "", nil
}

// checkTools refuses names of unknown tools.
func checkTools(_ context.Context, r *repo.Repo, words []string) error {
	var names []string
	for _, word := range words {
		names = append(names, strings.TrimPrefix(word, "-"))
	}
	err := agent.CheckTools(r, names...)
	var f *problem.Error
	if errors.As(err, &f) {
		f.Details = append(f.Details, "/tools lists those that there are.")
	}
	return err
}

func (s *settings) switchTools(_ *repo.Repo, words []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &s.request
	for _, word := range words {
		name, off := strings.CutPrefix(word, "-")
		other := func(n string) bool { return n == name }
		o.Tools.Enable = slices.DeleteFunc(slices.Clone(o.Tools.Enable), other)
		o.Tools.Disable = slices.DeleteFunc(slices.Clone(o.Tools.Disable), other)
		if off {
			o.Tools.Disable = append(o.Tools.Disable, name)
		} else {
			o.Tools.Enable = append(o.Tools.Enable, name)
		}
	}
	return "", nil
}

func (s *settings) attach(_ *repo.Repo, words []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(words) == 0 {
		s.attached, s.given = nil, nil
		return "The next request has no attachments.", nil
	}
	for _, word := range words {
		if word == contextfiles.FromStdin {
			return "", problem.Usage("a conversation has no standard input to attach.")
		}
		if strings.ContainsAny(word, "*?[:") { // a pattern, or another conversation: it is looked up when it is sent
			continue
		}
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.dir, path)
		}
		if _, err := os.Stat(path); err != nil {
			var fault *fs.PathError
			if errors.As(err, &fault) {
				err = fault.Err
			}
			return "", problem.Usage("jp could not attach %s: %v.", safetext.Show(word), err)
		}
	}
	s.attached = append(s.attached, words...)
	return fmt.Sprintf("Goes with the next request: %s", safetext.EscapeAll(s.attached)), nil
}
