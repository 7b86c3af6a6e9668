package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/config"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/sandbox"
)

func (c *checkup) lookAtConfig(context.Context) []Finding {
	r := c.repo
	found := Config{Mistake: r.Wrong, HeldBack: r.HeldBack(), Untrusted: r.Report.Untrusted()}
	if c.pathsErr != nil {
		found.Mistake = c.pathsErr
	}
	if found.Mistake == nil {
		wrong, idle := c.Mistakes(r)
		for _, mistake := range wrong {
			found.Unusable = append(found.Unusable, mistake)
		}
		for _, setting := range idle {
			found.Idle = append(found.Idle, setting)
		}
	}
	if found.Untrusted {
		found.HeldBack = found.HeldBack[:len(found.HeldBack)-1] // what to do is advice
	}
	if repo.IsFile(r.Paths.UserFile) {
		found.Files = append(found.Files, r.Paths.UserFile)
	}
	if r.TopLevel != "" && repo.IsFile(filepath.Join(r.TopLevel, filepath.FromSlash(config.WorkspaceFile))) {
		found.Files = append(found.Files, config.WorkspaceFile)
	}
	return found.Findings()
}

// lookAtSecrets looks at the files that are for the user alone.
func (c *checkup) lookAtSecrets(context.Context) []Finding {
	if c.pathsErr != nil {
		return nil
	}
	key := Key{Private: private(c.repo.KeyFile())}
	switch {
	case key.Err == nil:
		_, key.Err = gitstore.LoadKey(key.Path)
	case errors.Is(key.Err, fs.ErrNotExist):
		key.Unmade = cannotMake(key.Path)
	}
	vault := Vault{Private: private(filepath.Join(c.repo.Paths.StateDir, "secrets")), Off: !c.repo.Config.Secrets.Redact}
	return append(key.Findings(), vault.Findings()...)
}

// cannotMake is why a file cannot be made, with the folders above it.
func cannotMake(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		if err == nil {
			err = unix.Access(dir, unix.W_OK|unix.X_OK)
		}
		if err != nil {
			return &fs.PathError{Op: "write to", Path: dir, Err: err}
		}
		return nil
	}
}

// private is what the file system says of a file or folder.
func private(path string) Private {
	info, err := os.Stat(path)
	if err != nil {
		return Private{Path: path, Err: err}
	}
	if info.IsDir() {
		_, err = os.ReadDir(path)
	}
	return Private{Path: path, Mode: info.Mode() & (fs.ModePerm | fs.ModeType), Err: err}
}

// lookAround looks at what is around jp.
func (c *checkup) lookAround(ctx context.Context) []Finding {
	found := append(c.Terminal(c.repo.Config.Style).Findings(), c.sandbox().Findings()...)
	found = append(found, c.editorFound().Findings()...)
	user := gitstore.UserIdentity(c.env.Get, func() gitcmd.User {
		user, _, _ := c.repo.Git.User(ctx) // none, where git cannot tell
		return user
	})
	return append(found, Identity{Name: user.Name != "", Email: user.Email != ""}.Findings()...)
}

func (c *checkup) sandbox() Sandbox {
	support := sandbox.Supported()
	return Sandbox{
		Off: !c.repo.Config.Sandbox.Enable, Holds: support.Enforced(), Reason: support.Reason, Words: toolset.LandlockWords(support),
		Gaps: strings.Join(support.Gaps(c.repo.Config.Sandbox.Network), ", "),
	}
}

// editor looks whether the editor's program is there, where its command is plain
// enough to tell.
func (c *checkup) editorFound() Editor {
	command, from := c.Editor()
	found := Editor{Command: command, From: from}
	if words := strings.Fields(command); len(words) > 0 && !strings.ContainsAny(words[0], `'"\$~=;&|(`) {
		_, found.Err = exec.LookPath(words[0])
	}
	return found
}
