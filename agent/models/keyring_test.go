package models

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if code, asked := KeyringChild(os.Args, os.Stdin, os.Stdout, os.Stderr); asked {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// A secretService is a session bus with a keyring behind it. A locked one waits for a dialog without an
// answer, and a silent one accepts connections without an answer.
type secretService struct {
	address        string
	locked, silent bool

	mu      sync.Mutex
	secrets map[string]string // by provider
}

func newSecretService(t *testing.T) *secretService {
	dir, err := os.MkdirTemp("", "bus") // a socket's path is short
	require.NoError(t, err)
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	require.NoError(t, err)
	s := &secretService{address: "unix:path=" + l.Addr().String(), secrets: map[string]string{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
		os.RemoveAll(dir)
	})
	return s
}

func (s *secretService) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	if s.silent {
		_, _ = io.Copy(io.Discard, in) // until the client gives up
		return
	}
	answers := map[string]string{"AUTH": "REJECTED EXTERNAL", "AUTH EXTERNAL": "DATA", "DATA": "OK 0123456789abcdef0123456789abcdef", "NEGOTIATE_UNIX_FD": "ERROR"}
	for {
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(strings.Trim(line, "\x00")); err != nil || line == "BEGIN" {
			break
		}
		if _, err := io.WriteString(conn, answers[line]+"\r\n"); err != nil {
			return
		}
	}
	for {
		call, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		reply := dbus.Message{Type: dbus.TypeMethodReply, Body: s.answer(call), Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldReplySerial: dbus.MakeVariant(call.Serial()),
		}}
		if len(reply.Body) > 0 {
			reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(reply.Body...))
		}
		var text bytes.Buffer
		if reply.EncodeTo(&text, binary.LittleEndian) != nil {
			return
		}
		if _, err := conn.Write(text.Bytes()); err != nil {
			return
		}
	}
}

func (s *secretService) answer(call *dbus.Message) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	const item, nothing = "/item/", dbus.ObjectPath("/")
	path, _ := call.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	provider := strings.TrimPrefix(string(path), item)
	switch call.Headers[dbus.FieldMember].Value() {
	case "Hello":
		return []any{":1.1"}
	case "Get":
		return []any{dbus.MakeVariant([]dbus.ObjectPath{"/org/freedesktop/secrets/collection/login"})}
	case "Unlock":
		if s.locked {
			return []any{[]dbus.ObjectPath{}, dbus.ObjectPath("/prompt")}
		}
		return []any{call.Body[0], nothing}
	case "OpenSession":
		return []any{dbus.MakeVariant(""), dbus.ObjectPath("/session")}
	case "CreateItem":
		attributes := call.Body[0].(map[string]dbus.Variant)["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)
		s.secrets[attributes["username"]] = string(call.Body[1].([]any)[2].([]byte))
		return []any{dbus.ObjectPath(item + attributes["username"]), nothing}
	case "SearchItems":
		found := []dbus.ObjectPath{}
		if user := call.Body[0].(map[string]string)["username"]; s.secrets[user] != "" {
			found = append(found, dbus.ObjectPath(item+user))
		}
		return []any{found}
	case "GetSecret":
		return []any{struct {
			Session           dbus.ObjectPath
			Parameters, Value []byte
			Type              string
		}{"/session", []byte{}, []byte(s.secrets[provider]), "text/plain"}}
	case "Delete":
		delete(s.secrets, provider)
		return []any{nothing}
	}
	return nil
}

func (s *secretService) kept() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.secrets)
}

// TestTheBusThatIsThere is the only one that jp asks.
func TestTheBusThatIsThere(t *testing.T) {
	t.Parallel()
	s := newSecretService(t)
	folder := filepath.Dir(strings.TrimPrefix(s.address, "unix:path="))
	file := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(file, "bus"), nil, 0o600))
	for want, environs := range map[string][][]string{
		"": {
			nil, {"XDG_RUNTIME_DIR="}, {"XDG_RUNTIME_DIR=."}, {"XDG_RUNTIME_DIR=" + t.TempDir()}, {"XDG_RUNTIME_DIR=" + file},
			{busVariable + "="}, {busVariable + "=autolaunch:"}, {busVariable + "=autolaunch:;unix:path=/x"}, {busVariable + "=nonsense"},
		},
		s.address:        {{"XDG_RUNTIME_DIR=" + folder}, {busVariable + "=autolaunch:", "XDG_RUNTIME_DIR=" + folder}},
		"unix:path=/x":   {{busVariable + "=unix:path=/x", "XDG_RUNTIME_DIR=" + folder}},
		"unix:abstract=": {{busVariable + "=unix:abstract="}},
	} {
		for _, environ := range environs {
			e := keyHost(t)
			e.Environ = append(slices.Clone(e.Environ), environ...)
			require.Equal(t, want, keyring{host: e}.bus(), environ)
		}
	}
}
