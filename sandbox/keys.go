package sandbox

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// AgentVariables name the sockets of agents that sign for the user. Programs do not get them: with the
// network, the kernel's rules do not keep a program from a socket that it can name.
func AgentVariables() []string {
	return []string{"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GNOME_KEYRING_CONTROL", "DBUS_SESSION_BUS_ADDRESS"}
}

// keys are the files of the user's private keys, and the sockets of agents that have some. A key that the
// user lets programs write to is no secret from them. A socket in a folder of temporary files stays
// visible: to hide it would close the folder to new files.
func (p Places) keys(tree fs.FS) []string {
	found := p.sshKeys(tree)
	for _, name := range []string{".gnupg/private-keys-v1.d", ".gnupg/secring.gpg", ".minisign/minisign.key", ".config/sops/age/keys.txt", ".config/age/keys.txt"} {
		found = append(found, given(p.home(name))...)
	}
	found = append(found, p.gnupgHome()...)
	found = append(found, p.sockets()...)
	wanted := make([]string, len(p.Write))
	for i, name := range p.Write {
		wanted[i] = follow(tree, p.absolute(name)).path
	}
	return slices.DeleteFunc(found, func(name string) bool {
		at := follow(tree, name)
		return !at.exists || slices.ContainsFunc(wanted, func(folder string) bool { return within(at.path, folder) })
	})
}

// sshKeys are the files of ssh's folder beside those that are public by their kind.
func (p Places) sshKeys(tree fs.FS) (keys []string) {
	dir := p.home(".ssh")
	if dir == "" {
		return nil
	}
	entries, _ := fs.ReadDir(tree, inTree(follow(tree, dir).path)) // an unlistable one has no readable keys
	for _, e := range entries {
		name := e.Name()
		public := strings.HasSuffix(name, ".pub") || strings.HasPrefix(name, "known_hosts") ||
			slices.Contains([]string{"config", "authorized_keys", "allowed_signers", "environment", "rc"}, name)
		if !public && !e.IsDir() {
			keys = append(keys, path.Join(dir, name))
		}
	}
	return keys
}

// gnupgHome are the keys in the home that GnuPG is configured with.
func (p Places) gnupgHome() []string {
	dir := p.variable("GNUPGHOME")
	if !path.IsAbs(dir) {
		return nil
	}
	return []string{path.Join(dir, "private-keys-v1.d"), path.Join(dir, "secring.gpg")}
}

func (p Places) sockets() (sockets []string) {
	named := given(p.variable("SSH_AUTH_SOCK"))
	for _, dir := range given(p.home(".gnupg"), p.variable("GNUPGHOME")) {
		for _, name := range []string{"S.gpg-agent", "S.gpg-agent.extra", "S.gpg-agent.ssh", "S.gpg-agent.browser"} {
			named = append(named, path.Join(dir, name))
		}
	}
	if run := p.variable("XDG_RUNTIME_DIR"); path.IsAbs(run) {
		named = append(named, path.Join(run, "gnupg"), path.Join(run, "keyring"), path.Join(run, "bus"))
	}
	for _, name := range named {
		if !slices.ContainsFunc(p.Temporary(), func(dir string) bool { return within(name, dir) }) {
			sockets = append(sockets, name)
		}
	}
	return sockets
}
