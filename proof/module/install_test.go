package module_test

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/proof/prooftool"
)

const (
	path    = "example.com/owner/jp"
	version = "v0.0.1"
)

// copied is a copy of the source without ignored files, as a repository of its own.
func copied(t *testing.T) string {
	t.Helper()
	root, err := prooftool.Root()
	require.NoError(t, err)
	list, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("this source is no git repository")
	}
	dir := t.TempDir()
	for _, name := range strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // removed, or a link
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, info.Mode().Perm()))
	}
	run(t, dir, nil, "git", "init", "-q")
	run(t, dir, nil, "git", "-c", "core.autocrlf=false", "add", "-A")
	return dir
}

func run(t *testing.T, dir string, environ []string, name string, args ...string) string {
	t.Helper()
	out, err := try(dir, environ, name, args...)
	require.NoError(t, err, out)
	return out
}

func try(dir string, environ []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestARenamedModuleInstalls gives the module a path with a host, serves it from a
// folder, and installs it without any network.
func TestARenamedModuleInstalls(t *testing.T) {
	dir := copied(t)
	out, err := try(dir, nil, "tools/module", "jp")
	require.Error(t, err)
	require.Contains(t, out, "usage: tools/module PATH")
	run(t, dir, nil, "tools/module", path)
	require.Contains(t, run(t, dir, nil, "tools/module", path), "already")

	requireRenamed(t, dir)
	offline := []string{"GOPROXY=off", "GOFLAGS=-mod=mod -trimpath", "GOWORK=off", "CGO_ENABLED=0"}
	for _, module := range []string{".", "proof"} {
		out, err := try(dir, offline, "go", "list", "-C", module, "-deps", "-test", "./...")
		if err != nil && strings.Contains(out, "module lookup disabled") {
			t.Skip("the module cache lacks something: ", out)
		}
		require.NoError(t, err, out)
	}
	install(t, dir)
}

// requireRenamed finds imports of the old path, and files that gofmt would change, and fails for each.
func requireRenamed(t *testing.T, dir string) {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".go") {
			files = append(files, file)
		}
		return err
	}))
	require.Greater(t, len(files), 500)
	require.Empty(t, run(t, dir, nil, "gofmt", append([]string{"-l"}, files...)...))
	out, err := try(dir, nil, "git", "grep", "-nE", `^(import )?\s*([._a-zA-Z]+ )?"jp/(cmd|config|conversation|git|internal|proof|provider|tool)`, "--", "*.go")
	require.Error(t, err, out)
	for _, module := range []string{".", "proof", "tools", "tools/gitleaks"} {
		text, err := os.ReadFile(filepath.Join(dir, module, "go.mod"))
		require.NoError(t, err)
		require.Contains(t, string(text), "module "+strings.TrimSuffix(path+"/"+module, "/.")+"\n")
	}
}

// install runs go install path@version, as a user would.
func install(t *testing.T, source string) {
	t.Helper()
	cache := strings.TrimSpace(run(t, source, nil, "go", "env", "GOMODCACHE"))
	forget(t, cache)
	t.Cleanup(func() { forget(t, cache) })
	proxy, bin := t.TempDir(), t.TempDir()
	serve(t, source, filepath.Join(proxy, path, "@v"))
	out, err := try(t.TempDir(), []string{
		// With -trimpath the dependencies are those that the tests have compiled.
		"GODEBUG=goindex=0", // Go indexes a version once and takes it for unchangeable; here it is another source each time
		"GOPROXY=file://" + filepath.ToSlash(proxy), "GOFLAGS=-mod=mod -trimpath -ldflags=-w", "GONOSUMDB=*", "GOSUMDB=off", "GOWORK=off", "GOBIN=" + bin, "CGO_ENABLED=0",
	}, "go", "install", path+"/cmd/jp@"+version)
	if err != nil && strings.Contains(out, "no such file or directory") && strings.Contains(out, proxy) && !strings.Contains(out, path+"@") {
		t.Skip("the module cache lacks something: ", out)
	}
	require.NoError(t, err, out)
	said := run(t, t.TempDir(), nil, filepath.Join(bin, "jp"), "--version")
	require.True(t, strings.HasPrefix(said, "jp "+strings.TrimPrefix(version, "v")) || strings.HasPrefix(said, "jp "+version), said)
	require.Equal(t, said, run(t, t.TempDir(), nil, filepath.Join(bin, "jp"), "version"))
}

// forget takes the module out of the cache of modules.
func forget(t *testing.T, cache string) {
	for _, dir := range []string{filepath.Join(cache, path+"@"+version), filepath.Join(cache, "cache", "download", path)} {
		_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chmod(file, 0o700) //nolint:gosec // Go makes it read-only
			}
			return nil
		})
		require.NoError(t, os.RemoveAll(dir))
	}
	for _, dir := range []string{filepath.Dir(filepath.Join(cache, path)), filepath.Dir(filepath.Join(cache, "cache", "download", path))} {
		_ = os.Remove(dir)               // only if it is empty
		_ = os.Remove(filepath.Dir(dir)) // example.com
	}
}

// serve writes the files of a module proxy: all but those of other modules.
func serve(t *testing.T, source, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	require.NoError(t, err)
	for name, text := range map[string]string{"list": version + "\n", version + ".info": `{"Version":"` + version + `","Time":"2026-01-02T03:04:05Z"}`, version + ".mod": string(mod)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	require.NoError(t, err)
	defer f.Close()
	out := zip.NewWriter(f)
	require.NoError(t, filepath.WalkDir(source, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(source, file)
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(file, "go.mod")); d.Name() == ".git" || err == nil && file != source {
				return fs.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		w, err := out.Create(path + "@" + version + "/" + filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}))
	require.NoError(t, out.Close())
}
