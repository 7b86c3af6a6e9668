package export

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/agent/problem"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// Install writes the session to the agent's own folder. A file that begins with the session stays as it is,
// since the agent may have added to it.
func (n *Native) Install(getenv func(string) string) (path string, err error) {
	folder := n.agent.folder(getenv)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", problem.New(problem.ExitNotFound, "not_found", "cannot find the folder of %s: %s is no folder. -o FILE writes the session elsewhere.", n.agent.name(), safetext.Show(folder))
	}
	var text bytes.Buffer
	if err := n.Write(&text); err != nil {
		return "", err
	}
	path = filepath.Join(folder, n.agent.file(n.session))
	err = safefile.CreateNew(path, text.Bytes(), safefile.Options{Mode: 0o600, FolderMode: 0o700})
	if errors.Is(err, fs.ErrExist) {
		there, failed := os.ReadFile(path)
		if failed == nil && bytes.HasPrefix(there, text.Bytes()) {
			return path, nil
		}
		return "", problem.New(problem.ExitDecision, "exists", "%s exists and has another content. jp leaves it as it is.", safetext.Show(path))
	}
	if err != nil {
		return "", problem.New(problem.ExitFailed, "failed", "cannot write %s: %v.", path, err)
	}
	return path, nil
}

// Resume is the shell command that resumes the session installed at a path.
func (n *Native) Resume(path string) string {
	var commands []string
	for _, words := range n.agent.resume(n.session, path) {
		commands = append(commands, safetext.EscapeAll(words))
	}
	command := strings.Join(commands, " && ")
	if here, err := realFolder("."); err != nil || here != n.session.dir {
		command = "cd " + safetext.Escape(n.session.dir) + " && " + command
	}
	return command
}
