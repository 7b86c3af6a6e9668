package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"jp/internal/version"

	system "github.com/zalando/go-keyring"

	"jp/agent/repo"
)

const (
	// keyringTime is how long the system's keyring may take. The library waits for ever for a bus that is silent
	// or for a dialog, so it runs in a child of jp.
	keyringTime    = 3 * time.Second
	keyringService = "jp"
	keyringCommand = "keyring-child" // of the child, with a verb and a provider
	notInKeyring   = 3               // exit code of the child
)

var (
	errNotInKeyring = errors.New("the keyring has no such key")
	errNoKeyring    = errors.New("no keyring")
)

// A keyring is the system's, as a child of jp asks it.
type keyring struct {
	host  *repo.Host
	limit time.Duration
}

const busVariable = "DBUS_SESSION_BUS_ADDRESS"

// bus is the address of the session bus on this machine, "" without one. The child gets it, since the library
// starts a bus if it knows no address.
func (k keyring) bus() string {
	address := k.host.Get(busVariable)
	if strings.HasPrefix(address, "unix:") {
		return address
	}
	socket := filepath.Join(k.host.Get("XDG_RUNTIME_DIR"), "bus")
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Type() != fs.ModeSocket || !filepath.IsAbs(socket) || strings.ContainsAny(socket, "%;,=") {
		return ""
	}
	return "unix:path=" + socket
}

// ask runs the child. Each error but errNotInKeyring is errNoKeyring, or the end of ctx.
func (k keyring) ask(ctx context.Context, verb, provider, input string) (string, error) {
	bus := k.bus()
	if bus == "" && runtime.GOOS != "darwin" {
		return "", fmt.Errorf("%w: there is no session bus", errNoKeyring)
	}
	limited, cancel := context.WithTimeout(ctx, k.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, version.OwnProgram(), keyringCommand, verb, provider)
	cmd.Env = append(slices.Clone(k.host.Environ), busVariable+"="+bus)
	cmd.Stdin = strings.NewReader(input)
	out, words := &bounded{full: cancel}, &bounded{full: func() {}}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, words, time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.text.String(), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() == notInKeyring:
		return "", errNotInKeyring
	case limited.Err() != nil:
		return "", fmt.Errorf("%w: it does not answer", errNoKeyring)
	}
	return "", fmt.Errorf("%w: %s", errNoKeyring, strings.TrimSpace(words.text.String()))
}

// KeyringChild is the child that asks the keyring: args are those of the process. asked reports whether it is one. It
// reads a key from in, and writes a key to out.
func KeyringChild(args []string, in io.Reader, out, words io.Writer) (code int, asked bool) {
	if len(args) != 4 || args[1] != keyringCommand {
		return 0, false
	}
	var err error
	switch verb, provider := args[2], args[3]; verb {
	case "get":
		var key string
		if key, err = system.Get(keyringService, provider); err == nil {
			_, err = io.WriteString(out, key)
		}
	case "set":
		var key bytes.Buffer
		if _, err = io.Copy(&key, in); err == nil {
			err = system.Set(keyringService, provider, key.String())
		}
	case "delete":
		err = system.Delete(keyringService, provider)
	default:
		err = errors.ErrUnsupported
	}
	switch {
	case errors.Is(err, system.ErrNotFound):
		return notInKeyring, true
	case err != nil:
		fmt.Fprintln(words, err)
		return 1, true
	}
	return 0, true
}
